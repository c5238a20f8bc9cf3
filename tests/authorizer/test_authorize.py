"""authorize: the pure rule, found through the index, one result per action."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.authorizer import AuthorizationResult, Authorizer
from aclkit.authorizer import cache as cached
from aclkit.authorizer.cache import AclCache
from aclkit.authorizer.errors import AclIdError
from aclkit.decide.rules import decide
from aclkit.decide.second_search import SecondSearch
from aclkit.errors import UsageError
from aclkit.model.acl import Request
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from tests import strategies as small
from tests.authorizer.asking import action, answer, asked_by, context
from tests.factories import acl, request

SUPER = frozenset({"User:b"})


def specified(acls, asked, settings, read):
    search = SecondSearch.of((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    is_last = search.wildcard_is_last(asked.resource_type, asked.resource_name)
    return decide(acls, asked, settings, read, wildcard_is_last=is_last)


@given(small.acl_sets(), st.lists(small.requests(), max_size=8), small.semantics, st.booleans())
def test_every_answer_rule_and_deciding_acl_is_that_of_the_pure_rule(acls, asked, read, everyone):
    settings = BrokerSettings(super_users=SUPER, allow_everyone=everyone)
    cache = AclCache.of(acls, read)
    for one in asked:
        assert cache.decide(one, settings) == specified(acls, one, settings, read)


@given(small.acl_sets(), st.lists(small.requests(), max_size=4), small.semantics, st.data())
def test_acls_added_and_removed_one_by_one_are_the_same_as_acls_loaded_at_once(
    acls, asked, read, data
):
    gone = [each for each in acls if data.draw(st.booleans())]
    cache = AclCache.of((), read)
    for each in acls:
        cache = cache.changed(add=[each])
    for each in gone:
        cache = cache.changed(remove=[each.acl_id])
    kept = [each for each in acls if each not in gone]
    assert cache.by_id == AclCache.of(kept, read).by_id
    assert sorted(a.acl_id for a in cache.of_type("TOPIC")) == sorted(
        a.acl_id for a in kept if a.resource_type == "TOPIC"
    )
    settings = BrokerSettings(allow_everyone=True)
    for one in asked:
        assert cache.decide(one, settings) == specified(kept, one, settings, read)


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


def test_acls_that_cannot_answer_are_not_looked_at(monkeypatch):
    acls = [acl("*", principal=f"User:u{n}", host=f"10.0.{n % 9}.{n % 250}") for n in range(900)]
    seen = []

    def counted(rows, *arguments, **more):
        seen.extend(rows)
        return decide(rows, *arguments, **more)

    monkeypatch.setattr(cached, "decide", counted)
    cache = AclCache.of([*acls, *(acl(f"t{n}") for n in range(500))], KIP_1042)
    ruling = cache.decide(
        Request(principal="User:u7", host="10.0.7.7", operation="READ",
                resource_type="TOPIC", resource_name="t"),
        BrokerSettings(),
    )  # fmt: skip
    assert (ruling.acl, seen) == (acls[7], [acls[7]])


@pytest.mark.parametrize("pattern_type", ["PREFIXED", "ANY", "GLOB"])
def test_only_literal_resources_can_be_asked_about(pattern_type):
    with pytest.raises(UsageError, match=f"Only literal resources .* Got: {pattern_type}"):
        Authorizer.over_acls().authorize(context(), [action(pattern_type=pattern_type)])


def test_a_host_is_written_as_java_does_and_a_host_name_is_refused():
    assert context(address="::1").client_address == "0:0:0:0:0:0:0:1"
    with pytest.raises(UsageError, match="bad host 'localhost'"):
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
    with pytest.raises(UsageError, match="no colon"):
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
