"""What was used stays allowed, and nothing else of a principal's own ALLOWs."""

from __future__ import annotations

from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings, Semantics
from aclkit.questions.narrow.narrowing import (
    DENIES,
    GOES,
    NARROWED,
    NO_NARROWER,
    OPENS,
    SHARED,
    STAYS,
    SUPER,
    UNUSED,
    USED,
    Narrowed,
    narrow,
)
from aclkit.questions.usage.use import Use
from aclkit.rules.names.rows import Rules
from tests.factories import acl

ME = "User:me"
ASKED = "in a file"


def use(operation: str, name: str, kind: str = "TOPIC", host: str = "10.0.0.1") -> Use:
    request = Request(
        principal=ME, host=host, operation=operation, resource_type=kind, resource_name=name
    )
    return Use(request=request)


def rules(
    *acls: Acl,
    semantics: Semantics = KAFKA,
    supers: tuple[str, ...] = (),
    allow_everyone: bool = False,
) -> Rules:
    settings = BrokerSettings(super_users=frozenset(supers), allow_everyone=allow_everyone)
    return Rules(acls=acls, settings=settings, semantics=semantics)


def mine(name: str = "orders", operation: str = "READ", **other: str) -> Acl:
    return acl(name, operation=operation, principal=ME, **other)


def fates(found: Narrowed) -> dict[str, tuple[str, str]]:
    return {each.acl.acl_id: (each.fate, each.why) for each in found.judged}


def added(found: Narrowed) -> set[tuple[str, str, str]]:
    return {(a.operation, a.pattern_type, a.resource_name) for a in found.added}


def test_an_allow_without_use_goes() -> None:
    used, idle = mine("orders"), mine("bills")
    found = narrow(rules(used, idle), ME, [use("READ", "orders")])
    assert fates(found) == {used.acl_id: (STAYS, USED), idle.acl_id: (GOES, UNUSED)}
    assert found.own == (used,)


def test_all_becomes_the_operations_that_were_used() -> None:
    wide = mine("o", "ALL", pattern_type="PREFIXED")
    uses = [use("READ", "orders"), use("DESCRIBE", "orders"), use("DESCRIBE_CONFIGS", "orders")]
    found = narrow(rules(wide), ME, uses)
    assert fates(found) == {wide.acl_id: (NARROWED, USED)}
    assert added(found) == {("READ", "PREFIXED", "o"), ("DESCRIBE_CONFIGS", "PREFIXED", "o")}


def test_an_operation_that_only_implied_another_becomes_that() -> None:
    wide = mine("orders", "READ")
    found = narrow(rules(wide), ME, [use("DESCRIBE", "orders")])
    assert added(found) == {("DESCRIBE", "LITERAL", "orders")}


def test_all_of_which_each_operation_was_used_stays() -> None:
    wide = mine("g", "ALL", resource_type="TRANSACTIONAL_ID")
    uses = [use(op, "g", "TRANSACTIONAL_ID") for op in ("WRITE", "DESCRIBE", "TWO_PHASE_COMMIT")]
    assert fates(narrow(rules(wide), ME, uses)) == {wide.acl_id: (STAYS, USED)}


def test_what_the_narrow_set_needs_and_is_there_is_not_added() -> None:
    wide, there = mine("orders", "ALL", host="10.0.0.1"), mine("orders", "READ", host="10.0.0.1")
    found = narrow(rules(wide, there), ME, [use("READ", "orders")])
    assert fates(found) == {wide.acl_id: (GOES, UNUSED), there.acl_id: (STAYS, USED)}
    assert not found.added


def test_acls_for_others_too_stay_and_are_no_reason_for_own_ones_to_go() -> None:
    everyone, own = acl("orders", principal="User:*"), mine("orders")
    found = narrow(rules(everyone, own), ME, [use("READ", "orders")])
    assert fates(found) == {everyone.acl_id: (STAYS, SHARED), own.acl_id: (STAYS, USED)}


def test_a_glob_identity_is_for_others_too_where_globs_are_read() -> None:
    glob = acl("orders", principal="User:m?", operation="ALL")
    found = narrow(rules(glob, semantics=KIP_1042), ME, [])
    assert fates(found) == {glob.acl_id: (STAYS, SHARED)}
    assert not narrow(rules(glob), ME, []).judged


def test_acls_of_other_principals_are_left_out() -> None:
    assert not narrow(rules(acl("orders", principal="User:other")), ME, []).judged


def test_a_deny_stays_used_or_not() -> None:
    deny = mine("orders", "ALL", permission_type="DENY")
    assert fates(narrow(rules(deny), ME, [])) == {deny.acl_id: (STAYS, DENIES)}


def test_what_a_deny_refuses_is_no_use_of_an_allow() -> None:
    deny, allow = mine("orders", permission_type="DENY"), mine("orders")
    found = narrow(rules(deny, allow), ME, [use("READ", "orders")])
    assert fates(found)[allow.acl_id] == (GOES, UNUSED)


def test_the_acls_of_a_super_user_stay() -> None:
    own = mine("orders")
    assert fates(narrow(rules(own, supers=(ME,)), ME, [])) == {own.acl_id: (STAYS, SUPER)}


def test_what_cannot_be_judged_stays_with_its_reason() -> None:
    new = mine("orders", "ALL")
    found = narrow(rules(new), ME, [use("READ", "orders")], stays={new.binding: "too-new"})
    assert fates(found) == {new.acl_id: (STAYS, "too-new")}


def test_all_that_allowed_what_no_acl_can_name_stays() -> None:
    """DeleteTopics asks for DELETE on the cluster, which ALL covers and nothing else."""
    cluster = mine("kafka-cluster", "ALL", resource_type="CLUSTER")
    found = narrow(rules(cluster), ME, [use("DELETE", "kafka-cluster", "CLUSTER")])
    assert fates(found) == {cluster.acl_id: (STAYS, NO_NARROWER)}


def test_where_no_acl_means_allowed_an_acl_stays_that_alone_applies_to_some_names() -> None:
    alone, doubled = mine("orders"), mine("bills")
    other = acl("b", pattern_type="PREFIXED", principal="User:other")
    found = narrow(rules(alone, doubled, other, allow_everyone=True), ME, [])
    assert fates(found) == {alone.acl_id: (STAYS, OPENS), doubled.acl_id: (GOES, UNUSED)}


def test_literal_names_are_those_that_were_used_with_their_operations() -> None:
    wide = mine("*", "ALL")
    uses = [use("READ", "orders"), use("WRITE", "bills"), use("DESCRIBE", "bills")]
    found = narrow(rules(wide), ME, uses, names="literal")
    assert added(found) == {("READ", "LITERAL", "orders"), ("WRITE", "LITERAL", "bills")}


def test_names_that_share_a_start_become_a_prefix() -> None:
    wide = mine("*", "READ")
    uses = [use("READ", name) for name in ("orders.eu.a", "orders.eu.b", "bills", "orders2")]
    found = narrow(rules(wide), ME, uses, names="prefix")
    assert added(found) == {
        ("READ", "PREFIXED", "orders.eu."),
        ("READ", "LITERAL", "bills"),
        ("READ", "LITERAL", "orders2"),
    }


def test_a_prefix_whose_names_share_no_longer_start_stays() -> None:
    wide = mine("orders.", "READ", pattern_type="PREFIXED")
    uses = [use("READ", "orders.a"), use("READ", "orders.b")]
    assert fates(narrow(rules(wide), ME, uses, names="prefix")) == {wide.acl_id: (STAYS, USED)}


def test_a_name_that_no_literal_acl_can_have_keeps_the_pattern() -> None:
    wide = mine("*", "READ", resource_type="GROUP")
    uses = [use("READ", "*", "GROUP"), use("READ", "g", "GROUP")]
    assert fates(narrow(rules(wide), ME, uses, names="literal")) == {wide.acl_id: (STAYS, USED)}


def test_a_check_of_any_topic_is_no_topic_of_that_name() -> None:
    """Kafka asks about a topic 'hardcode' when an idempotent producer begins."""
    wide = mine("*", "WRITE")
    begin = Use(request=use("WRITE", "hardcode").request, apis=("InitProducerId",))
    found = narrow(rules(wide), ME, [begin, use("WRITE", "orders")], names="literal")
    assert added(found) == {("WRITE", "LITERAL", "orders")}
    assert fates(narrow(rules(wide), ME, [begin], names="literal")) == {wide.acl_id: (STAYS, USED)}


def test_what_is_to_stay_stays_as_far_as_it_is_allowed() -> None:
    wide = mine("o", "ALL", pattern_type="PREFIXED", host="10.0.0.1")
    keep = [mine("orders.yearly", "READ"), mine("zoo", "READ"), acl("orders", principal="User:x")]
    found = narrow(rules(wide), ME, [], keep=dict.fromkeys(keep, ASKED))
    assert fates(found) == {wide.acl_id: (NARROWED, ASKED)}
    assert [(a.operation, a.resource_name, a.host) for a in found.added] == [
        ("READ", "orders.yearly", "10.0.0.1")
    ]


def test_what_is_to_stay_from_another_host_keeps_nothing() -> None:
    own, keep = mine("orders", host="10.0.0.1"), mine("orders", host="10.0.0.2")
    assert fates(narrow(rules(own), ME, [], keep={keep: ASKED})) == {own.acl_id: (GOES, UNUSED)}


def test_an_acl_to_keep_stays_as_it_is() -> None:
    wide = mine("o", "ALL", pattern_type="PREFIXED")
    found = narrow(rules(wide), ME, [use("READ", "orders")], keep={wide: ASKED})
    assert fates(found)[wide.acl_id][0] == STAYS


def test_of_what_is_to_stay_that_stays_which_another_operation_implies() -> None:
    """READ and DELETE both imply DESCRIBE."""
    own = mine("g", "DELETE", resource_type="GROUP")
    keep = mine("g", "READ", resource_type="GROUP")
    assert added(narrow(rules(own), ME, [], keep={keep: ASKED})) == {("DESCRIBE", "LITERAL", "g")}


def test_the_ids_of_new_acls_follow_from_their_content() -> None:
    wide = mine("orders", "ALL")
    first, second = (narrow(rules(wide), ME, [use("READ", "orders")]).added for _ in range(2))
    assert first == second
    assert first[0].acl_id.startswith("narrow-")
