"""start: who may ask before the ACLs are replayed to the high watermark, and who has to wait."""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import replace

import pytest

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import AuthorizerClosedError, AuthorizerNotReadyError
from aclkit.kafka.authorizer.state import Loaded
from aclkit.model.semantics import KAFKA, BrokerSettings
from tests.factories import acl
from tests.kafka.authorizer.asking import CLIENTS, CONTROLLER, SERVER, action, answer, context

EARLY = replace(SERVER, early_start_listeners=frozenset({"CONTROLLER"}))


class Growing:
    """A source that gets further each time it is asked."""

    def __init__(self, *states):
        self.states = list(states)

    def load(self):
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, Exception):
            raise state
        return state


def test_a_listener_opens_when_the_acls_are_loaded():
    authorizer = Authorizer()
    started = authorizer.start(SERVER)
    assert [started[each].done() for each in (CONTROLLER, CLIENTS)] == [False, False]
    authorizer.load_snapshot([acl()])
    assert not started[CLIENTS].done()
    authorizer.complete_initial_load()
    assert started[CLIENTS].result(timeout=0) is None
    assert answer(authorizer) == "ALLOWED"


@pytest.mark.parametrize("told_by", ["server", "configuration"])
def test_an_early_start_listener_opens_at_once(told_by):
    authorizer = Authorizer()
    if told_by == "configuration":
        authorizer.configure({"early.start.listeners": " CONTROLLER ,OTHER"})
    started = authorizer.start(EARLY if told_by == "server" else SERVER)
    assert [started[each].done() for each in (CONTROLLER, CLIENTS)] == [True, False]


def test_before_that_super_users_are_answered_and_others_are_told_to_wait():
    authorizer = Authorizer()
    authorizer.configure({"super.users": "User:broker", "allow.everyone.if.no.acl.found": "true"})
    authorizer.start(EARLY)
    assert answer(authorizer, "User:broker") == "ALLOWED"
    assert authorizer.authorize_by_resource_type(context("User:broker"), "READ", "TOPIC")
    for ask in (
        lambda: authorizer.authorize(context(), [action(), action("b")]),
        lambda: authorizer.authorize_by_resource_type(context(), "READ", "TOPIC"),
    ):
        with pytest.raises(AuthorizerNotReadyError, match="AUTHORIZER_NOT_READY"):
            ask()
    assert AuthorizerNotReadyError.kafka_error == "AUTHORIZER_NOT_READY"


def test_a_source_is_asked_until_it_has_replayed_to_the_high_watermark():
    behind = Loaded(acls=(acl("old"),), offset=10, high_watermark=12)
    there = Loaded(acls=(acl("new"),), offset=12, high_watermark=12)
    with Authorizer(Growing(behind, behind, there), poll_seconds=0.01) as authorizer:
        authorizer.start(SERVER)[CLIENTS].result(timeout=10)
        assert [answer(authorizer, resource_name=n) for n in ("old", "new")] == [
            "DENIED",
            "ALLOWED",
        ]


def test_a_state_behind_the_high_watermark_is_not_ready():
    behind = Loaded(acls=(acl(),), offset=10, high_watermark=12)
    with Authorizer(Growing(behind), poll_seconds=60) as authorizer:
        started = authorizer.start(SERVER)
        with pytest.raises(TimeoutError):
            started[CLIENTS].result(timeout=0.2)
        with pytest.raises(AuthorizerNotReadyError):
            answer(authorizer)
    with pytest.raises(AuthorizerClosedError, match="closed before the initial load could compl"):
        started[CLIENTS].result(timeout=0)


def test_a_source_that_fails_is_what_the_listeners_are_told():
    with Authorizer(Growing(SurroundingsError("no disk"))) as authorizer:
        with pytest.raises(SurroundingsError, match="no disk"):
            authorizer.start(SERVER)[CLIENTS].result(timeout=10)
        with pytest.raises(AuthorizerNotReadyError):
            answer(authorizer)


def test_settings_and_semantics_are_the_sources_until_somebody_says_otherwise():
    settings = BrokerSettings(super_users=frozenset({"User:s"}), allow_everyone=True)
    source = Growing(Loaded(acls=(acl("g*", pattern_type="GLOB"),), settings=settings))
    with Authorizer(source) as authorizer:
        authorizer.start(SERVER)[CLIENTS].result(timeout=10)
        assert [answer(authorizer, "User:s", "g"), answer(authorizer, "User:x", "z")] == [
            "ALLOWED",
            "ALLOWED",
        ]
        assert answer(authorizer, resource_name="go") == "ALLOWED"
        authorizer.configure({"allow.everyone.if.no.acl.found": "false"})
        assert answer(authorizer, "User:s", "g") == "ALLOWED"
        assert answer(authorizer, "User:x", "z") == "DENIED"
    with Authorizer(source, semantics=KAFKA) as authorizer:
        authorizer.start(SERVER)[CLIENTS].result(timeout=10)
        assert answer(authorizer, resource_name="go") == "ALLOWED"
        authorizer.configure({})
        assert answer(authorizer, resource_name="g*") == "ALLOWED"
        authorizer.configure({"allow.everyone.if.no.acl.found": "false"})
        assert answer(authorizer, resource_name="go") == "DENIED"


def test_refreshing_takes_what_is_new():
    source = Growing(Loaded(acls=(), offset=5), Loaded(acls=(acl(),), offset=9))
    with Authorizer(source) as authorizer:
        authorizer.start(SERVER)[CLIENTS].result(timeout=10)
        assert answer(authorizer) == "DENIED"
        assert authorizer.refresh() == 9
        assert answer(authorizer) == "ALLOWED"
    with pytest.raises(UsageError, match="this one has none"):
        Authorizer.over_acls().refresh()


def test_one_listener_that_gives_up_waiting_does_not_stop_the_others():
    authorizer = Authorizer()
    started = authorizer.start(SERVER)
    assert not started[CONTROLLER].cancel()
    authorizer.complete_initial_load()
    try:
        assert started[CLIENTS].result(timeout=0) is None
    except CancelledError:
        pytest.fail("the future that all listeners share was cancelled")


def test_loading_is_completed_once():
    authorizer = Authorizer()
    started = authorizer.start(SERVER)
    authorizer.complete_initial_load()
    authorizer.complete_initial_load(OSError("late"))
    authorizer.close()
    assert started[CLIENTS].exception(timeout=0) is None
