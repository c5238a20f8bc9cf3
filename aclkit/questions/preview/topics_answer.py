"""Topics to be created → the answer: who will have what access, and through which ACL. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from aclkit.answer.document import Answer, Heading, Members, Part, Sentence
from aclkit.model.acl import operations_words, power_of
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.questions.preview.topics import TopicAccess, TopicToCome
from aclkit.questions.query.other_reading import others_otherwise_sentence
from aclkit.questions.query.table_words import AccessRow, access_parts, few_hosts, short_reason
from aclkit.rules.decide.rules import ALLOWED, DENIED

_TOPIC: Final = "TOPIC"
COLUMNS: Final = (
    "principal", "host", "operation", "resource_type", "resource_name", "decision", "rule",
    "deciding_acl", "acl_id",
)  # fmt: skip


def topics_answer(
    topics: Sequence[TopicToCome], hosts: Sequence[str], caveats: Sequence[str] = ()
) -> Answer:
    """Return which ACLs apply to topics to be created, and how each access is decided.

    Args:
        topics: the topics.
        hosts: the known hosts.
        caveats: what may be wrong.
    """
    return Answer(
        title="Topics to create",
        columns=COLUMNS,
        rows=(row for topic in topics for row in _rows(topic)),
        parts=lambda: (part for topic in topics for part in _parts(topic, hosts)),
        notes=caveats,
        json=lambda: _members(topics, caveats),
    )


def _parts(topic: TopicToCome, hosts: Sequence[str]) -> Iterator[Part]:
    state = "exists already" if topic.is_known else "does not exist yet"
    acls = number_of(len(topic.governed_by), "ACL applies", "ACLs apply")
    yield Heading(f"{topic.topic} ({state}; {acls})")
    if rows := _access_rows(topic, hosts):
        yield from access_parts("principal", rows, has_decision=False)
    else:
        yield Sentence("No principal will have access.")
    if topic.otherwise is not None:
        yield Sentence(others_otherwise_sentence(topic.otherwise), "note")


def _access_rows(topic: TopicToCome, hosts: Sequence[str]) -> list[AccessRow]:
    """Return what is allowed: a row for each principal and reason, the most powerful first."""
    acls = {acl.acl_id: acl for acl in topic.governed_by}

    def because(access: TopicAccess) -> str:
        decision, rule, acl_id = access.verdict
        acl = None if acl_id is None else acls[acl_id]
        return short_reason(decision, rule, acl, access.principal, _TOPIC, has_any_host=False)

    alike = grouped(
        ((access.principal, few_hosts(access.hosts, hosts), because(access)), access.operation)
        for access in topic.accesses
        if access.verdict.decision == ALLOWED
    )
    ordered = sorted(alike.items(), key=lambda line: (power_of(line[1], _TOPIC), line[0]))
    return [
        AccessRow(who, operations_words(done, _TOPIC), ALLOWED, where, reason)
        for (who, where, reason), done in ordered
    ]


def _rows(topic: TopicToCome) -> Iterator[tuple[str | None, ...]]:
    """Yield every decision."""
    acls = {acl.acl_id: acl for acl in topic.governed_by}
    resource = topic.topic.resource_type, topic.topic.resource_name
    for access in topic.accesses:
        decision, rule, acl_id = access.verdict
        text = str(acls[acl_id]) if acl_id is not None else None
        for host in access.hosts:
            yield access.principal, host, access.operation, *resource, decision, rule, text, acl_id


def _members(topics: Sequence[TopicToCome], notes: Sequence[str]) -> Members:
    """Yield the members of one object: topics with what governs them, every decision, notes."""
    yield "topics", map(_topic, topics)
    yield (
        "decisions",
        (dict(zip(COLUMNS, row, strict=True)) for topic in topics for row in _rows(topic)),
    )
    yield "notes", iter(notes)


def _topic(topic: TopicToCome) -> dict[str, object]:
    return {
        "topic": topic.topic.resource_name,
        "is_there": topic.is_known,
        "governed_by": [{**asdict(acl), "text": str(acl)} for acl in topic.governed_by],
        "allowed": topic.count(ALLOWED),
        "denied": topic.count(DENIED),
        "other_reading": topic.otherwise and others_otherwise_sentence(topic.otherwise),
    }
