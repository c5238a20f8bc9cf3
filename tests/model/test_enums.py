"""Codes and names of Kafka's enums."""

from __future__ import annotations

import pytest

from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType

ENUMS = (ResourceType, PatternType, AclOperation, AclPermissionType)


@pytest.mark.parametrize("enum", ENUMS)
def test_every_signed_byte_has_a_name_that_leads_back_to_it(enum):
    assert [enum.code_of(enum.name_of(code)) for code in range(-128, 128)] == [*range(-128, 128)]


@pytest.mark.parametrize("enum", ENUMS)
def test_zero_is_unknown_and_not_known(enum):
    assert enum.name_of(0) == "UNKNOWN"
    assert not enum.is_known("UNKNOWN")


@pytest.mark.parametrize("enum", ENUMS)
def test_an_unknown_code_sorts_as_unknown(enum):
    assert enum.ordinal("UNKNOWN(99)") == enum.ordinal("UNKNOWN") == 0


def test_deny_sorts_before_allow():
    assert AclPermissionType.ordinal("DENY") < AclPermissionType.ordinal("ALLOW")


def test_glob_is_the_next_free_pattern_code():
    assert PatternType.name_of(5) == "GLOB"
    assert PatternType.name_of(6) == "UNKNOWN(6)"


def test_names_are_upper_case_only():
    with pytest.raises(ValueError, match="'literal' is not a PatternType"):
        PatternType.code_of("literal")
