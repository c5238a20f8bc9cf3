"""KIP-290, PREFIXED patterns: what they match, and how filters find them."""

from __future__ import annotations

import pytest

from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.model.filter import AclBindingFilter, ResourcePatternFilter
from aclkit.model.semantics import KAFKA, KIP_1042
from tests.factories import acl
from tests.kafka.authorizer.asking import answer, context, results

STORED = [
    acl("foobar", acl_id="literal"),
    acl("foo", acl_id="prefix", pattern_type="PREFIXED"),
    acl("foo", acl_id="short"),
    acl("*", acl_id="wildcard"),
    acl("bar", acl_id="other", pattern_type="PREFIXED"),
    acl("foobar", acl_id="group", resource_type="GROUP"),
]
BOTH = pytest.mark.parametrize("read", [KAFKA, KIP_1042], ids=["kafka", "kip-1042"])


def selecting(name, pattern_type):
    pattern = ResourcePatternFilter(
        resource_type="TOPIC", resource_name=name, pattern_type=pattern_type
    )
    return AclBindingFilter(pattern=pattern)


@BOTH
def test_a_literal_matches_its_own_name_a_wildcard_any_and_a_prefix_what_starts_with_it(read):
    for stored, reached in (
        (acl("foo"), {"foo"}),
        (acl("*"), {"foo", "foobar", "fo", "bar"}),
        (acl("foo", pattern_type="PREFIXED"), {"foo", "foobar"}),
    ):
        authorizer = Authorizer.over_acls([stored], semantics=read)
        names = ("foo", "foobar", "fo", "bar")
        assert {n for n in names if answer(authorizer, resource_name=n) == "ALLOWED"} == reached


@BOTH
def test_one_allow_and_no_deny_allow_and_the_length_of_a_prefix_plays_no_role(read):
    for allow, deny in (("f", "foo"), ("foo", "f"), ("foo", "foo")):
        rules = [
            acl(allow, pattern_type="PREFIXED"),
            acl(deny, pattern_type="PREFIXED", permission_type="DENY"),
        ]
        assert answer(Authorizer.over_acls(rules, semantics=read), resource_name="foob") == "DENIED"
        assert answer(Authorizer.over_acls(rules[:1], semantics=read), resource_name="foob") == (
            "ALLOWED"
        )


@BOTH
@pytest.mark.parametrize(
    ("name", "pattern_type", "selected"),
    [
        ("foobar", "LITERAL", {"literal"}),
        ("*", "LITERAL", {"wildcard"}),
        ("foo", "PREFIXED", {"prefix"}),
        ("foo", "ANY", {"prefix", "short"}),
        ("foobar", "MATCH", {"literal", "prefix", "wildcard"}),
        ("nothing", "LITERAL", set()),
    ],
)
def test_acls_are_described_by_pattern_type(read, name, pattern_type, selected):
    authorizer = Authorizer.over_acls(STORED, semantics=read)
    assert {each.acl_id for each in authorizer.acls(selecting(name, pattern_type))} == selected


def test_match_deletes_every_acl_that_affects_a_resource():
    with Authorizer.over_acls(STORED) as authorizer:
        (gone,) = results(authorizer.delete_acls(context(), [selecting("foobar", "MATCH")]))
        left = {each.acl_id for each in authorizer.acls()}
    assert {each.acl.acl_id for each in gone.deleted} == {"literal", "prefix", "wildcard"}
    assert left == {"short", "other", "group"}


@pytest.mark.parametrize("pattern_type", ["ANY", "MATCH"])
def test_pattern_types_for_filters_cannot_be_created(pattern_type):
    with Authorizer.over_acls() as authorizer:
        (made,) = results(authorizer.create_acls(context(), [acl(pattern_type=pattern_type)]))
    assert str(made.exception) == f"Invalid patternType {pattern_type}"
