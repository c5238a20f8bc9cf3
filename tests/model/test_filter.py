"""Filters: the cases of Kafka's ResourcePatternFilterTest and aclsFilter, and KIP-1042's GLOB."""

from __future__ import annotations

import pytest

from aclkit.model.filter import (
    AccessControlEntryFilter,
    AclBindingFilter,
    ResourcePatternFilter,
    UnsupportedPatternTypeError,
)
from aclkit.model.semantics import KAFKA, KIP_1042
from tests.factories import acl

PATTERN = {"L": "LITERAL", "P": "PREFIXED", "G": "GLOB", "U": "UNKNOWN(9)"}


def selects(wanted, found, semantics=KAFKA):
    """Filter (pattern type, name) against ACL (letter, name), both of type TOPIC."""
    letter, name = found
    pattern_type, filter_name = wanted
    pattern = ResourcePatternFilter(
        resource_type="TOPIC", resource_name=filter_name, pattern_type=pattern_type
    )
    return pattern.matches(acl(name, pattern_type=PATTERN[letter]), semantics)


@pytest.mark.parametrize(
    ("wanted", "found", "is_selected"),
    [
        (("LITERAL", "Name"), ("P", "Name"), False),
        (("LITERAL", "Name"), ("L", "Name"), True),
        (("LITERAL", "NAME"), ("L", "Name"), False),
        (("LITERAL", "*"), ("L", "Name"), False),
        (("LITERAL", "Name"), ("L", "*"), False),
        (("PREFIXED", "Name"), ("P", "Name"), True),
        (("PREFIXED", "Name"), ("P", "Name-something"), False),
        (("PREFIXED", "Name-something"), ("P", "Name"), False),
        (("PREFIXED", None), ("P", "Name"), True),
        (("PREFIXED", None), ("L", "Name"), False),
        (("ANY", "Name"), ("L", "*"), False),
        (("ANY", "Name"), ("P", "Name"), True),
        (("ANY", None), ("P", "Name"), True),
        (("ANY", "Name"), ("U", "Name"), True),
        (("MATCH", "Name"), ("L", "Name"), True),
        (("MATCH", "Name"), ("L", "*"), True),
        (("MATCH", "Name-something"), ("P", "Name"), True),
        (("MATCH", "Name-something"), ("L", "Name"), False),
        (("MATCH", "Name"), ("P", "Name-something"), False),
        (("MATCH", None), ("P", "Name"), True),
        (("MATCH", None), ("U", "Name"), True),
        (("MATCH", "*"), ("L", "*"), True),
        (("MATCH", "*"), ("P", "*"), True),
        (("MATCH", "*"), ("L", "foo"), False),
        (("MATCH", "*g"), ("L", "*"), True),
        (("MATCH", ""), ("L", "*"), True),
        (("MATCH", ""), ("L", "foo"), False),
    ],
)
def test_kafkas_pattern_cases(wanted, found, is_selected):
    assert selects(wanted, found) is is_selected


@pytest.mark.parametrize(
    ("wanted", "glob", "is_selected"),
    [
        (("MATCH", "pay-in"), "pay-*", True),
        (("MATCH", "pay-in"), "pay-??", True),
        (("MATCH", "pay-in"), "pay-?", False),
        (("MATCH", "pay-in"), "", True),
        (("MATCH", "*"), "?", True),
        (("MATCH", None), "pay-*", True),
        (("GLOB", "pay-*"), "pay-*", True),
        (("GLOB", "pay-in"), "pay-*", False),
        (("GLOB", None), "pay-*", True),
        (("ANY", "pay-*"), "pay-*", True),
        (("ANY", "pay-in"), "pay-*", False),
        (("PREFIXED", "pay-*"), "pay-*", False),
    ],
)
def test_match_selects_the_globs_that_match_the_name(wanted, glob, is_selected):
    assert selects(wanted, ("G", glob), KIP_1042) is is_selected


@pytest.mark.parametrize("semantics", [KAFKA, KIP_1042])
def test_match_with_a_name_refuses_an_unknown_pattern_type(semantics):
    with pytest.raises(UnsupportedPatternTypeError, match=r"^Unsupported PatternType: UNKNOWN "):
        selects(("MATCH", "Name"), ("U", "Name"), semantics)


def test_to_a_broker_of_today_a_glob_is_an_unknown_pattern_type():
    with pytest.raises(UnsupportedPatternTypeError, match=r"^Unsupported PatternType: UNKNOWN "):
        selects(("MATCH", "Name"), ("G", "N*"), KAFKA)


def test_unknown_selects_every_unknown_code_and_a_code_only_its_own():
    found = acl("x", pattern_type="UNKNOWN(9)")
    for wanted, is_selected in (("UNKNOWN", True), ("UNKNOWN(9)", True), ("UNKNOWN(8)", False)):
        assert ResourcePatternFilter(pattern_type=wanted).matches(found, KAFKA) is is_selected


def test_the_resource_type_is_equal_or_any():
    found = acl("Name", pattern_type="PREFIXED")
    for wanted, is_selected in (("ANY", True), ("TOPIC", True), ("GROUP", False)):
        pattern = ResourcePatternFilter(
            resource_type=wanted, resource_name="Name", pattern_type="PREFIXED"
        )
        assert pattern.matches(found, KAFKA) is is_selected


@pytest.mark.parametrize(
    "entry",
    [
        AccessControlEntryFilter(principal="User:*"),
        AccessControlEntryFilter(host="10.0.0.1"),
        AccessControlEntryFilter(operation="ALL"),
        AccessControlEntryFilter(operation="DESCRIBE"),
        AccessControlEntryFilter(permission_type="DENY"),
    ],
)
def test_an_entry_filter_compares_and_never_interprets(entry):
    assert not entry.matches(acl(principal="User:a", host="*", operation="READ"))


def test_filters_without_fields_select_every_acl():
    assert AclBindingFilter().matches(acl(pattern_type="UNKNOWN(9)", principal="x"), KAFKA)


def test_kafkas_acls_filter_case():
    acls = [
        acl("foo-u", principal="User:1"),
        acl("foo-u", principal="User:2"),
        acl("bar-u"),
        acl("bar-", pattern_type="PREFIXED"),
    ]
    exact = AclBindingFilter(
        pattern=ResourcePatternFilter(
            resource_type="TOPIC", resource_name="foo-u", pattern_type="LITERAL"
        ),
        entry=AccessControlEntryFilter(
            principal="User:1", host="*", operation="READ", permission_type="ALLOW"
        ),
    )
    patterns = [("ANY", "bar-u", "MATCH"), ("ANY", "bar-u", "LITERAL"), ("TOPIC", "baz", "ANY")]
    matched, literal, none = (
        AclBindingFilter(
            pattern=ResourcePatternFilter(resource_type=t, resource_name=n, pattern_type=p)
        )
        for t, n, p in patterns
    )
    wanted = (matched, exact, literal, none)
    selected = [[at for at, a in enumerate(acls) if f.matches(a, KAFKA)] for f in wanted]
    assert selected == [[2, 3], [0], [2], []]


@pytest.mark.parametrize(
    ("of_pattern", "of_entry", "is_unknown"),
    [
        ({}, {}, False),
        ({"pattern_type": "GLOB"}, {"operation": "READ", "permission_type": "ALLOW"}, False),
        ({"resource_type": "UNKNOWN"}, {}, True),
        ({"pattern_type": "UNKNOWN(9)"}, {}, True),
        ({}, {"operation": "UNKNOWN"}, True),
        ({}, {"permission_type": "UNKNOWN"}, True),
    ],
)
def test_a_filter_is_unknown_where_one_of_its_fields_is(of_pattern, of_entry, is_unknown):
    binding = AclBindingFilter(
        pattern=ResourcePatternFilter(**of_pattern), entry=AccessControlEntryFilter(**of_entry)
    )
    assert binding.is_unknown is is_unknown
