"""KIP-504, the Authorizer interface: its goals, one test for each that is an authorizer's."""

from __future__ import annotations

import threading
from dataclasses import fields

from aclkit.kafka.authorizer import audit
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import Action, Endpoint, RequestContext, ServerInfo
from aclkit.model.filter import AclBindingFilter, ResourcePatternFilter
from tests.factories import acl
from tests.kafka.authorizer.asking import action, answer, context, results

ALL = AclBindingFilter(pattern=ResourcePatternFilter())


def test_the_request_context_has_all_that_context_specific_logic_needs():
    names = {field.name for field in fields(RequestContext)}
    assert names == {
        "principal", "client_address", "listener_name", "security_protocol", "request_type",
        "request_version", "client_id", "correlation_id",
    }  # fmt: skip


def test_an_action_says_what_is_done_how_often_it_is_referred_to_and_what_to_log():
    asked = Action(operation="READ", resource_type="TOPIC", resource_name="t")
    assert (asked.pattern_type, asked.resource_reference_count) == ("LITERAL", 1)
    assert (asked.log_if_allowed, asked.log_if_denied) == (True, True)
    assert asked == action("t")
    assert asked != action("t", log_if_denied=False)


def test_authorize_returns_one_result_for_every_action_in_the_same_order():
    authorizer = Authorizer.over_acls([acl("b"), acl("d")])
    asked = [action(name) for name in "abcdb"]
    assert authorizer.authorize(context(), asked) == [
        "DENIED", "ALLOWED", "DENIED", "ALLOWED", "ALLOWED",
    ]  # fmt: skip


def test_metadata_of_each_listener_is_available_before_it_starts():
    early, late = Endpoint("EARLY"), Endpoint("LATE")
    info = ServerInfo(endpoints=(early, late), early_start_listeners=frozenset({"EARLY"}))
    authorizer = Authorizer()
    started = authorizer.start(info)
    assert set(started) == {early, late}
    assert (started[early].done(), started[late].done()) == (True, False)
    authorizer.complete_initial_load()
    assert started[late].done()


def test_each_entry_of_a_change_has_a_response_of_its_own():
    with Authorizer.over_acls() as authorizer:
        made = results(authorizer.create_acls(context(), [acl("a"), acl("", operation="READ")]))
        gone = results(authorizer.delete_acls(context(), [ALL, ALL]))
    assert [each.exception is None for each in made] == [True, False]
    assert [[one.acl.resource_name for one in each.deleted] for each in gone] == [["a"], ["a"]]
    assert all(one.exception is None for each in gone for one in each.deleted)


def test_several_entries_of_a_resource_are_one_atomic_update():
    class Store:
        def __init__(self):
            self.updates = []

        def commit(self, adds, removes):
            self.updates.append((len(adds), len(removes)))

    store = Store()
    with Authorizer.over_acls(store=store) as authorizer:
        entries = [acl(operation=each) for each in ("READ", "WRITE", "DELETE")]
        results(authorizer.create_acls(context(), entries))
        results(authorizer.delete_acls(context(), [ALL]))
    assert store.updates == [(3, 0), (0, 3)]


def test_acl_updates_do_not_block_the_thread_that_asks_for_them():
    may_go = threading.Event()

    class Slow:
        def commit(self, adds, removes):
            assert may_go.wait(10)

    with Authorizer.over_acls([acl("old")], store=Slow()) as authorizer:
        (future,) = authorizer.create_acls(context(), [acl("new")])
        assert not future.done()
        assert answer(authorizer, resource_name="old") == "ALLOWED"
        assert answer(authorizer, resource_name="new") == "DENIED"
        may_go.set()
        assert future.result(timeout=10).exception is None
        assert answer(authorizer, resource_name="new") == "ALLOWED"


def test_acls_may_be_changed_without_a_request():
    with Authorizer.over_acls() as authorizer:
        (made,) = results(authorizer.create_acls(None, [acl()]))
        assert (made.exception, authorizer.acl_count()) == (None, 1)


def test_filtered_resources_do_not_fill_the_log_with_denials(caplog):
    caplog.set_level("INFO", logger=audit.LOGGER)
    asked = [action(f"t{n}", log_if_denied=False) for n in range(20)]
    Authorizer.over_acls().authorize(context(), [*asked, action("wanted")])
    lines = [r.getMessage() for r in caplog.records if r.name == audit.LOGGER]
    assert ["LITERAL:wanted" in line for line in lines] == [True]


def test_the_log_has_the_resource_reference_count_and_the_request(caplog):
    caplog.set_level("DEBUG", logger=audit.LOGGER)
    who = context(request_type=1)
    Authorizer.over_acls([acl()]).authorize(who, [action(resource_reference_count=12)])
    assert "for request = Fetch with resourceRefCount = 12 based on rule " in caplog.text


def test_the_configuration_may_change_without_a_restart():
    authorizer = Authorizer.over_acls()
    found = []
    for told in ("true", "false", "true"):
        authorizer.configure({"allow.everyone.if.no.acl.found": told})
        found.append(answer(authorizer))
    assert found == ["ALLOWED", "DENIED", "ALLOWED"]


def test_acls_are_described_by_a_filter():
    authorizer = Authorizer.over_acls([acl("a"), acl("b"), acl("b", operation="WRITE")])
    named = AclBindingFilter(pattern=ResourcePatternFilter(resource_name="b"))
    assert [each.operation for each in authorizer.acls(named)] == ["READ", "WRITE"]
    assert len(authorizer.acls(ALL)) == len(authorizer.acls()) == 3
