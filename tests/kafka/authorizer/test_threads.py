"""Many threads: a reader has one state, and no writer's change is lost."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.model.filter import AclBindingFilter, ResourcePatternFilter
from tests.factories import acl
from tests.kafka.authorizer.asking import action, context, results

ASKED = [action("left"), action("right")]


@pytest.fixture
def restless():
    """Threads that take turns a thousand times as often: between any two steps of a change."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(before / 1_000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
def test_a_reader_never_sees_half_a_change():
    """Both are allowed or neither is: they are created and deleted by one request each."""
    pair = [acl("left"), acl("right")]
    done = threading.Event()
    everything = AclBindingFilter(pattern=ResourcePatternFilter())

    def read(authorizer):
        seen = set()
        while not done.is_set():
            seen.add(tuple(authorizer.authorize(context(), ASKED)))
        return seen

    with Authorizer.over_acls() as authorizer, ThreadPoolExecutor(3) as readers:
        reading = [readers.submit(read, authorizer) for _ in range(3)]
        for _ in range(400):
            results(authorizer.create_acls(context(), pair))
            results(authorizer.delete_acls(context(), [everything]))
        done.set()
        seen = set().union(*(each.result(timeout=10) for each in reading))
    assert seen <= {("ALLOWED", "ALLOWED"), ("DENIED", "DENIED")}


def test_no_change_of_many_writers_is_lost():
    with Authorizer.over_acls() as authorizer, ThreadPoolExecutor(8) as writers:

        def write(number):
            authorizer.add_acl(acl(f"log-{number}"))
            results(authorizer.create_acls(context(), [acl(f"asked-{number}")]))

        for each in [writers.submit(write, number) for number in range(40)]:
            each.result(timeout=30)
        names = {each.resource_name for each in authorizer.acls()}
    assert names == {f"{kind}-{n}" for kind in ("log", "asked") for n in range(40)}


def test_changes_of_one_thread_take_effect_in_their_order():
    everything = AclBindingFilter(pattern=ResourcePatternFilter())
    with Authorizer.over_acls() as authorizer:
        futures = []
        for _ in range(50):
            futures += authorizer.create_acls(context(), [acl()])
            futures += authorizer.delete_acls(context(), [everything])
        found = results(futures)
    assert [len(each.deleted) for each in found[1::2]] == [1] * 50
