"""The authorizer log against the ACLs → the answer: lines that agree, and unused grants. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from operator import attrgetter
from typing import Any, Final

from aclkit.answer.document import Answer, Part, Row, Sentence, Table
from aclkit.answer.rows import as_objects
from aclkit.model.acl import acl_words
from aclkit.model.phrases import number_of
from aclkit.questions.usage.command import UsageResult
from aclkit.questions.usage.coverage import Coverage, shown_gaps
from aclkit.questions.usage.use import USAGES
from aclkit.questions.usage.whole_log import Judgeable

COLUMNS: Final = (
    "usage", "principal", "operation", "resource_type", "resource_name", "pattern_type", "host",
    "last_used_at", "last_matched_at", "used_lines", "added_at", "acl_id",
)  # fmt: skip


def usage_answer(cluster_id: str, notes: Sequence[str], result: UsageResult) -> Answer:
    """Return whether the lines agree with the ACLs, and which grants were used."""
    rows = list(map(_row, result.grants))
    return Answer(
        title="Use of the ACLs",
        columns=COLUMNS,
        rows=rows,
        parts=lambda: _parts(result, rows),
        json=lambda: _object(cluster_id, notes, result, rows),
    )


def _parts(result: UsageResult, rows: Sequence[Row]) -> Iterator[Part]:
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in result.counts.items())
    yield Sentence(f"{number_of(result.lines, 'line')}: {verdicts}")
    if not result.grants:
        yield Sentence("No ALLOW is in force.")
        return
    found = [grant.usage for grant in result.grants]
    states = ", ".join(f"{found.count(each):,} {each}" for each in USAGES if each in found)
    yield Sentence(f"{len(found):,} grants: {states}")
    few = [
        (
            grant.usage,
            acl_words(grant.acl),
            None if grant.last_used_at is None else f"{grant.last_used_at:%Y-%m-%d %H:%M}",
            grant.used_lines,
        )
        for grant in result.grants
    ]
    columns = ("usage", "acl", "last used", "lines")
    yield Table(columns, few, Table(COLUMNS, rows), spare=("lines",))


_row: Final = attrgetter(
    "usage", "acl.principal", "acl.operation", "acl.resource_type", "acl.resource_name",
    "acl.pattern_type", "acl.host", "last_used_at", "last_matched_at", "used_lines", "added_at",
    "acl.acl_id",
)  # fmt: skip


def _object(
    cluster_id: str, notes: Sequence[str], result: UsageResult, rows: Sequence[Row]
) -> dict[str, Any]:
    """Return one object: the counts, what is covered, lines to look at, and the grants as rows."""
    return {
        "cluster": cluster_id,
        "lines": result.lines,
        **result.counts,
        "coverage": _covered(result.coverage, result.log),
        "missing": [each._asdict() for each in result.log.missing],
        "partly_missing": [result.log.controllers._asdict()] if result.log.controllers else [],
        **{f"{verdict}_lines": lines for verdict, lines in result.examples.items()},
        "notes": notes,
        "rows": as_objects(COLUMNS, rows),
    }


def _covered(coverage: Coverage, log: Judgeable) -> dict[str, Any]:
    """Return what the log covers, and the window in which grants are judged."""
    return {
        "from": coverage.first,
        "to": coverage.last,
        "lines": coverage.lines,
        "allowed_lines": coverage.allowed_lines,
        "allowed_from": coverage.allowed_from,
        "gaps": shown_gaps(coverage.gaps),
        "files": [
            dict(zip(("source", "lines", "allowed_lines", "from", "to"), file, strict=True))
            for file in map(astuple, coverage.files)
        ],
        "window_from": log.window_from,
        "window_to": log.window_to,
        "covered": log.covered,
    }
