"""Topics to come → stdout, as table, JSON, JSON lines, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from aclkit.audit.reports.preview_markdown import render_topics
from aclkit.cli.context import Context
from aclkit.cli.effect_output import json_list, part_lines
from aclkit.cli.output import render_rows
from aclkit.questions.preview.topics import TopicToCome
from aclkit.questions.preview.words import few_hosts
from aclkit.questions.query.outside import Verdict
from aclkit.questions.query.words import acl_words
from aclkit.rules.decide.rules import ALLOWED, DENIED

COLUMNS: Final = (
    "principal", "host", "operation", "resource_type", "resource_name", "decision", "rule",
    "deciding_acl", "acl_id",
)  # fmt: skip


def print_topics(context: Context, topics: Sequence[TopicToCome], hosts: Sequence[str]) -> None:
    """Print which ACLs govern topics to come, and how they are decided."""
    context.write(
        COLUMNS,
        (row for topic in topics for row in _rows(topic)),
        json=lambda: _json(topics),
        markdown=lambda: [render_topics(topics, hosts)],
        table=lambda: _table(topics, hosts),
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


def _table(topics: Sequence[TopicToCome], hosts: Sequence[str]) -> Iterator[str]:
    """Yield the governing ACLs, then what is allowed, hosts that fare alike together."""
    counts = [
        (t.topic.resource_name, t.is_known, len(t.governed_by), t.count(ALLOWED), t.count(DENIED))
        for t in topics
    ]
    yield from render_rows(("topic", "is_there", "acls", "allowed", "denied"), counts)
    governing = [(t.topic.resource_name, acl_words(a)) for t in topics for a in t.governed_by]
    if governing:
        yield from part_lines(("topic", "governed_by"), governing, len(governing))
    allowed = [
        (
            topic.topic.resource_name,
            access.principal,
            few_hosts(access.hosts, hosts),
            access.operation,
            _decider(topic, access.verdict),
        )
        for topic in topics
        for access in topic.accesses
        if access.verdict.decision == ALLOWED
    ]
    if allowed:
        columns = ("topic", "principal", "host", "operation", "allowed_by")
        yield from part_lines(columns, allowed, len(allowed))


def _decider(topic: TopicToCome, verdict: Verdict) -> str:
    acls = (acl_words(acl) for acl in topic.governed_by if acl.acl_id == verdict.acl_id)
    return next(acls, verdict.rule)


def _json(topics: Sequence[TopicToCome]) -> Iterator[str]:
    """Yield one object: the topics with what governs them, and every decision."""
    yield "{"
    yield from json_list("topics", map(_topic, topics), is_first=True)
    rows = (dict(zip(COLUMNS, row, strict=True)) for topic in topics for row in _rows(topic))
    yield from json_list("decisions", rows)
    yield "\n}\n"


def _topic(topic: TopicToCome) -> dict[str, object]:
    return {
        "topic": topic.topic.resource_name,
        "is_there": topic.is_known,
        "governed_by": [{**asdict(acl), "text": str(acl)} for acl in topic.governed_by],
        "allowed": topic.count(ALLOWED),
        "denied": topic.count(DENIED),
    }
