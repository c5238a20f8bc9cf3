"""The run before × this one → ``reading-changed``, where they read ACLs in different ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from aclkit.model.findings import Finding, Kind
from aclkit.model.reading import changed_settings, preset_words
from aclkit.model.semantics import AUTO, Semantics
from aclkit.warehouse.codecs import acl_of, acl_sql
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.published import run_settings
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.standing import MATERIALIZING

READING_CHANGED: Final = Kind(
    id="reading-changed",
    severity="high",
    meaning=(
        "The run reads ACLs in another way than the run before, so that everything was decided "
        "anew. The reasons are another --semantics, or a setting of it; the first GLOB ACL of a "
        "cluster under --semantics auto; brokers of another version, which read ranges (CIDR) "
        "otherwise; or an older aclkit, whose default was kip-1042. It is told once."
    ),
    fix=(
        "Check the accesses that changed (aclkit changes). To keep one reading whatever ACLs come, "
        "pass --semantics kafka or --semantics kip-1042."
    ),
)
SUBJECT: Final = "cluster"
_NOT_COMPARED: Final = "The accesses of that run are not known, so they were not compared."


def find_reading_changed(run: Run) -> Iterator[Finding]:
    """Yield one finding where a run that has decided reads ACLs otherwise than the one before."""
    before, now = run.previous(MATERIALIZING), run.settings
    if before is None or now.semantics is None:
        return
    then = run_settings(before)[1]
    if _deciding(then) == _deciding(now.semantics):
        return
    changes = run.counts.get("access_changes")
    moved = f"{changes:,} accesses changed." if changes is not None else _NOT_COMPARED
    yield READING_CHANGED.about(
        SUBJECT,
        f"Run {before.run_number} read ACLs in another way. Before: {preset_words(then)}. "
        f"Now: {preset_words(now.semantics)}. {moved}",
        evidence=(
            *_reasons(before, now),
            *(f"setting {change}" for change in changed_settings(then, now.semantics)),
            *(_first_glob(run) if now.semantics.glob_patterns else ()),
        ),
    )


def _deciding(semantics: Semantics) -> Semantics:
    """Leave out which ACL is named: no decision depends on it."""
    return replace(semantics, deciding_acl="")


def _reasons(before: PublishedRun, now: RunSettings) -> Iterator[str]:
    """Yield who asked for another reading."""
    then = before.settings
    if then.semantics_asked is None:
        yield (
            f"aclkit {before.aclkit_version} decided run {before.run_number}; "
            "the default was kip-1042 then"
        )
    elif then.semantics_asked != now.semantics_asked:
        yield f"--semantics was {then.semantics_asked}, and is {now.semantics_asked}"
    elif now.semantics_asked == AUTO and then.semantics_preset != now.semantics_preset:
        yield f"--semantics auto takes {now.semantics_preset} since the cluster has had a GLOB ACL"


def _first_glob(run: Run) -> Iterator[str]:
    with read_written(run.store, run.cluster_id, "acl_history") as read:
        rows = read.rows(acl_sql(_FIRST_GLOB, "effective_offset"))
    yield from (f"first GLOB ACL, at offset {row[-1]}: {acl_of(row)}" for row in rows)


_FIRST_GLOB: Final = (
    "FROM acl_history WHERE pattern_type = 'GLOB' ORDER BY effective_offset, acl_id LIMIT 1"
)
