"""What a client does → the accesses that it needs."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.model.resource import Resource, parse_resource
from aclkit.questions.query.tasks import TASKS, TaskOptions, covers_of, needs_of

TOPIC = Resource("TOPIC", "t")


def words(task, resource, **options):
    return [str(need) for need in needs_of(task, parse_resource(resource), TaskOptions(**options))]


def test_a_consumer_describes_and_reads_topic_and_group():
    assert words("consume", "topic:t", group="g") == [
        "DESCRIBE on topic:t", "READ on topic:t", "DESCRIBE on group:g", "READ on group:g",
    ]  # fmt: skip


def test_a_producer_describes_and_writes_the_topic():
    assert words("produce", "topic:t") == ["DESCRIBE on topic:t", "WRITE on topic:t"]


def test_an_idempotent_producer_needs_its_id_by_a_request_that_has_two_ways():
    *_, last = needs_of("produce", TOPIC, TaskOptions(idempotent=True))
    assert str(last) == "IDEMPOTENT_WRITE on cluster"
    assert last.sent is not None
    assert last.sent.request.title == "InitProducerId without a transactional id"


@pytest.mark.parametrize("task", ["produce", "transact"])
def test_a_transactional_producer_writes_its_id(task):
    assert words(task, "topic:t", transactional_id="i") == [
        "DESCRIBE on topic:t", "WRITE on topic:t",
        "DESCRIBE on transactional-id:i", "WRITE on transactional-id:i",
    ]  # fmt: skip


def test_offsets_in_a_transaction_need_the_group_alone():
    assert words("transact", "transactional-id:i", group="g") == [
        "DESCRIBE on transactional-id:i", "WRITE on transactional-id:i", "READ on group:g",
    ]  # fmt: skip


def test_an_application_of_streams_owns_what_begins_with_its_id():
    found = needs_of("streams", Resource("GROUP", "app"), TaskOptions(exactly_once=True))
    prefixed = [(n.operation, n.resource) for n in found if n.is_prefix]
    topics, ids = Resource("TOPIC", "app-"), Resource("TRANSACTIONAL_ID", "app-")
    assert [one for one, resource in prefixed if resource == topics] == [
        "CREATE", "DELETE", "DESCRIBE", "READ", "WRITE",
    ]  # fmt: skip
    assert [one for one, resource in prefixed if resource == ids] == ["DESCRIBE", "WRITE"]
    assert [str(need) for need in found if not need.is_prefix] == [
        "DESCRIBE on group:app", "READ on group:app",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("task", "resource", "options", "wrong"),
    [
        ("consume", "group:g", {}, "consume takes topic:NAME, not 'group:g'"),
        ("streams", "topic:t", {}, "streams takes group:NAME"),
        ("consume", "topic:t", {"transactional_id": "i"}, "--transactional-id does not go with"),
        ("produce", "topic:t", {"group": "g"}, "--group does not go with produce"),
        ("transact", "topic:t", {}, "transact on a topic needs --transactional-id ID"),
    ],
)
def test_what_does_not_fit_is_refused(task, resource, options, wrong):
    with pytest.raises(UsageError, match=wrong):
        words(task, resource, **options)


def test_an_option_of_a_task_needs_one():
    with pytest.raises(UsageError, match="--exactly-once needs a task: consume, produce, transact"):
        TaskOptions(exactly_once=True).refuse_but(None)


def test_what_a_task_leaves_out_is_said():
    assert [task for task in TASKS if [*covers_of(task, TaskOptions())]] == [
        "consume", "produce", "streams",
    ]  # fmt: skip
    assert [*covers_of("consume", TaskOptions(group="g"))] == []
