"""A preview → a comment for a merge request, in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.audit.reports.markdown_parts import bounded_table, document, escape_markdown
from aclkit.model.acl_words import acl_words
from aclkit.questions.preview.access_change import KINDS
from aclkit.questions.preview.effect import Count
from aclkit.questions.preview.preview import Preview
from aclkit.questions.preview.topics import TopicToCome
from aclkit.questions.preview.words import (
    few_hosts,
    line_rows,
    statements,
    verdict_sentence,
)
from aclkit.questions.query.words import others_otherwise_sentence
from aclkit.rules.decide.rules import ALLOWED, DENIED

_COLUMNS: Final = (
    "principal", "host", "operation", "resource", "decided before by", "and after by",
)  # fmt: skip


def render_preview(preview: Preview, title: str) -> str:
    """Return the verdict, what it holds for, an example, what differs, and the counts."""
    blocks = [
        [f"## {escape_markdown(title)}"],
        [f"**{escape_markdown(verdict_sentence(preview))}**"],
        [f"- {line}" for line in map(escape_markdown, _statements(preview))],
        *_differences(preview),
        *_counts("principal", preview.effect.by_principal),
        *_counts("resource", preview.effect.by_resource),
    ]
    return document(blocks)


def render_topics(
    topics: Sequence[TopicToCome], hosts: Sequence[str], caveats: Sequence[str] = ()
) -> str:
    """Return which ACLs govern topics to come, and who is allowed what."""
    blocks = [["## Topics to come"]]
    if caveats:
        blocks.append([f"- {line}" for line in map(escape_markdown, caveats)])
    for topic in topics:
        known = ", which is there already" if topic.is_known else ""
        counts = f"{topic.count(ALLOWED):,} allowed, {topic.count(DENIED):,} denied{known}"
        blocks.append([f"### {escape_markdown(str(topic.topic))}: {counts}"])
        acls = [[acl_words(acl)] for acl in topic.governed_by]
        blocks += (
            bounded_table(["governed by"], acls, len(acls)) if acls else [["No ACL reaches it."]]
        )
        allowed = [
            (a.principal, few_hosts(a.hosts, hosts), a.operation, a.verdict.rule)
            for a in topic.accesses
            if a.verdict.decision == ALLOWED
        ]
        if allowed:
            blocks += bounded_table(["principal", "host", "may", "by rule"], allowed, len(allowed))
        if topic.otherwise is not None:
            blocks.append([escape_markdown(others_otherwise_sentence(topic.otherwise))])
    return document(blocks)


def _statements(preview: Preview) -> Iterator[str]:
    for word, sentence in statements(preview):
        if word != "verdict":
            yield f"{word}: {sentence}"


def _differences(preview: Preview) -> Iterator[list[str]]:
    for kind in KINDS:
        if number := preview.effect.count(kind):
            yield [f"### {kind} ({number:,})"]
            yield from bounded_table(
                _COLUMNS, line_rows(preview, kind), preview.effect.count_lines(kind)
            )


def _counts(name: str, counts: Sequence[Count]) -> Iterator[list[str]]:
    if counts:
        yield [f"### By {name}"]
        yield from bounded_table([name, *KINDS], counts, len(counts))
