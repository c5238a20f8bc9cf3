"""authorize: the pure rule, found through the index, one result per action."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import AuthorizationResult
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.decide.index import AclIdError
from tests import strategies as small
from tests.factories import acl, request
from tests.kafka.authorizer.asking import action, answer, asked_by, context

SUPER = frozenset({"User:b"})


@given(small.acl_sets(), st.lists(small.requests(), max_size=6))
def test_there_is_one_result_per_action_in_their_order(acls, asked):
    authorizer = Authorizer.over_acls(acls)
    contexts, actions = zip(*map(asked_by, asked), strict=True) if asked else ((), ())
    for who in contexts:
        found = authorizer.authorize(who, actions)
        assert found == [authorizer.authorize(who, [one])[0] for one in actions]
    authorizer.close()


def test_a_result_is_the_word_for_it():
    authorizer = Authorizer.over_acls([acl()])
    assert answer(authorizer) is AuthorizationResult.ALLOWED
    assert answer(authorizer, operation="WRITE") == "DENIED"
    assert authorizer.authorize(context(), []) == []


@pytest.mark.parametrize("pattern_type", ["PREFIXED", "ANY", "GLOB"])
def test_only_literal_resources_can_be_asked_about(pattern_type):
    with pytest.raises(UsageError, match=f"Only literal resources .* Got: {pattern_type}"):
        Authorizer.over_acls().authorize(context(), [action(pattern_type=pattern_type)])


def test_a_host_is_written_as_java_does_and_a_host_name_is_refused():
    assert context(address="::1").client_address == "0:0:0:0:0:0:0:1"
    with pytest.raises(UsageError, match="Invalid host 'localhost'"):
        context(address="localhost")


def test_super_users_and_the_default_come_from_the_configuration():
    authorizer = Authorizer.over_acls([acl(permission_type="DENY")])
    authorizer.configure({"super.users": "User:a; User:b", "allow.everyone.if.no.acl.found": True})
    assert answer(authorizer) == "ALLOWED"
    assert answer(authorizer, "User:c") == "DENIED"
    assert answer(authorizer, "User:c", "none") == "ALLOWED"
    authorizer.configure({})
    assert [answer(authorizer), answer(authorizer, "User:c", "none")] == ["DENIED", "DENIED"]


@pytest.mark.parametrize(
    ("text", "is_open"), [("true", True), (" TRUE ", True), ("yes", False), ("1", False)]
)
def test_the_default_is_read_as_java_reads_it(text, is_open):
    authorizer = Authorizer.over_acls()
    authorizer.configure({"allow.everyone.if.no.acl.found": text})
    assert (answer(authorizer) == "ALLOWED") is is_open


def test_a_bad_configuration_leaves_the_one_before():
    authorizer = Authorizer.over_acls()
    authorizer.configure({"super.users": "User:a"})
    with pytest.raises(UsageError, match="has no principal type"):
        authorizer.configure({"super.users": "User:b;c"})
    assert answer(authorizer) == "ALLOWED"


def test_a_snapshot_takes_the_place_of_everything_or_of_nothing():
    authorizer = Authorizer.over_acls([acl("old")])
    twice = acl("new", acl_id="x")
    with pytest.raises(AclIdError, match="An ACL with ID x already exists"):
        authorizer.load_snapshot([twice, acl("newer", acl_id="x")])
    assert [answer(authorizer, resource_name=n) for n in ("old", "new")] == ["ALLOWED", "DENIED"]
    authorizer.load_snapshot([twice])
    assert [answer(authorizer, resource_name=n) for n in ("old", "new")] == ["DENIED", "ALLOWED"]
    assert authorizer.acl_count() == 1


def test_two_ids_with_the_same_seven_fields_are_both_kept():
    authorizer = Authorizer.over_acls([acl(acl_id="a"), acl(acl_id="b")])
    authorizer.remove_acl("a")
    assert (authorizer.acl_count(), answer(authorizer)) == (1, "ALLOWED")
    with pytest.raises(AclIdError, match="ID a not found"):
        authorizer.remove_acl("a")


def test_a_decision_is_there_with_its_rule_and_acl_and_leaves_no_line(caplog):
    one = acl()
    ruling = Authorizer.over_acls([one]).decide(request())
    assert (ruling.decision, ruling.rule, ruling.acl) == ("ALLOWED", "MatchingAcl", one)
    assert not [r for r in caplog.records if r.name == "kafka.authorizer.logger"]


def test_preset_kafka_has_the_wildcards_defect_and_kip_1042_has_not():
    deny = acl("*", resource_type="GROUP", operation="ALL", permission_type="DENY")
    found = []
    for read in (KAFKA, KIP_1042):
        authorizer = Authorizer.over_acls([deny], semantics=read)
        authorizer.configure({"allow.everyone.if.no.acl.found": "true"})
        found.append(answer(authorizer, resource_name="*g", resource_type="GROUP"))
    assert found == ["ALLOWED", "DENIED"]
