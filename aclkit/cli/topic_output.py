"""Topics to come → stdout, as table, JSON, JSON lines, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from aclkit.audit.reports.preview_markdown import render_topics
from aclkit.cli.context import Context
from aclkit.cli.effect_output import part_lines
from aclkit.cli.output import Members
from aclkit.cli.table import Part, Table, Words
from aclkit.model.acl_words import acl_words
from aclkit.questions.preview.topics import TopicToCome
from aclkit.questions.preview.words import few_hosts
from aclkit.questions.query.words import others_otherwise_sentence, short_reason
from aclkit.rules.decide.rules import ALLOWED, DENIED

TOPIC: Final = "TOPIC"
COLUMNS: Final = (
    "principal", "host", "operation", "resource_type", "resource_name", "decision", "rule",
    "deciding_acl", "acl_id",
)  # fmt: skip


def print_topics(
    context: Context,
    topics: Sequence[TopicToCome],
    hosts: Sequence[str],
    caveats: Sequence[str] = (),
) -> None:
    """Print which ACLs govern topics to come, and how they are decided; and what may be wrong."""
    context.write(
        COLUMNS,
        (row for topic in topics for row in _rows(topic)),
        map(Words, caveats),
        json=lambda: _json(topics, caveats),
        markdown=lambda: [render_topics(topics, hosts, caveats)],
        table=lambda: [*_table(topics, hosts), *map(Words, caveats)],
    )


def _rows(topic: TopicToCome) -> Iterator[tuple[str | None, ...]]:
    """Yield every decision."""
    acls = {acl.acl_id: acl for acl in topic.governed_by}
    resource = topic.topic.resource_type, topic.topic.resource_name
    for access in topic.accesses:
        decision, rule, acl_id = access.verdict
        text = str(acls[acl_id]) if acl_id is not None else None
        for host in access.hosts:
            yield access.principal, host, access.operation, *resource, decision, rule, text, acl_id


def _table(topics: Sequence[TopicToCome], hosts: Sequence[str]) -> Iterator[Part]:
    """Yield the governing ACLs, then what is allowed, hosts that fare alike together."""
    counts = [
        (t.topic.resource_name, t.is_known, len(t.governed_by), t.count(ALLOWED), t.count(DENIED))
        for t in topics
    ]
    yield Table(("topic", "is_there", "acls", "allowed", "denied"), counts)
    governing = [(t.topic.resource_name, acl_words(acl)) for t in topics for acl in t.governed_by]
    if governing:
        yield from part_lines(("topic", "acl"), governing, len(governing))
    allowed: dict[tuple[str, ...], list[str]] = {}
    for topic in topics:
        acls = {acl.acl_id: acl for acl in topic.governed_by}
        for access in topic.accesses:
            decision, rule, acl_id = access.verdict
            if decision == ALLOWED:
                acl = None if acl_id is None else acls[acl_id]
                because = short_reason(decision, rule, acl, access.principal, TOPIC)
                where = few_hosts(access.hosts, hosts)
                key = topic.topic.resource_name, access.principal, where, because
                allowed.setdefault(key, []).append(access.operation)
    if allowed:
        rows = [(*key[:2], ", ".join(done), *key[2:]) for key, done in allowed.items()]
        columns = ("topic", "principal", "operations", "host", "because")
        yield from part_lines(columns, rows, len(rows))
    for topic in topics:
        if topic.otherwise is not None:
            yield "\n"
            yield Words(f"{topic.topic}: {others_otherwise_sentence(topic.otherwise)}")


def _json(topics: Sequence[TopicToCome], notes: Sequence[str]) -> Members:
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
