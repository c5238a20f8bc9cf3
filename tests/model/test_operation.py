"""Operations: which types know them and which requests they cover."""

from __future__ import annotations

import pytest

from aclkit.model.enums import AclOperation, ResourceType
from aclkit.model.operation import BY_ALL, EQUAL, IMPLIED, OPERATIONS_OF_TYPE, coverage

NAMES = [*AclOperation.__members__, "UNKNOWN(99)"]
IMPLICATIONS = {
    ("READ", "DESCRIBE"),
    ("WRITE", "DESCRIBE"),
    ("DELETE", "DESCRIBE"),
    ("ALTER", "DESCRIBE"),
    ("ALTER_CONFIGS", "DESCRIBE_CONFIGS"),
}


@pytest.mark.parametrize("permission_type", ["ALLOW", "DENY", "UNKNOWN(9)"])
def test_an_operation_covers_itself_and_all_covers_everything(permission_type):
    assert all(coverage(name, permission_type, name) == EQUAL for name in NAMES)
    assert {coverage("ALL", permission_type, name) for name in NAMES} == {EQUAL, BY_ALL}


def test_an_allow_implies_exactly_kafkas_five_implications():
    pairs = {(a, b) for a in NAMES for b in NAMES if coverage(a, "ALLOW", b) == IMPLIED}
    assert pairs == IMPLICATIONS


def test_a_deny_implies_nothing():
    assert all(coverage(a, "DENY", b) is None for a, b in IMPLICATIONS)


def test_a_request_for_all_is_covered_by_all_only():
    assert [name for name in NAMES if coverage(name, "ALLOW", "ALL") is not None] == ["ALL"]


def test_every_concrete_type_has_its_operations_in_code_order_and_never_all():
    concrete = [name for name in ResourceType.__members__ if name not in ("UNKNOWN", "ANY")]
    assert sorted(OPERATIONS_OF_TYPE) == sorted(concrete)
    for operations in OPERATIONS_OF_TYPE.values():
        assert "ALL" not in operations
        assert list(operations) == sorted(operations, key=AclOperation.code_of)
