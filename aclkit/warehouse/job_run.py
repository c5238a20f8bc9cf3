"""A row of ``job_run`` ↔ a published run and its settings; which rows hold the current state.

These few are all that a question or a run has to know of the past, so that neither costs more after
thousands of runs than after ten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, replace
from datetime import UTC, datetime
from typing import Any, Final

from aclkit.errors import SurroundingsError
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, BrokerConfig
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.warehouse.formats import FORMAT, OLDEST, OLDEST_COMMIT, OLDEST_RELEASE
from aclkit.warehouse.schemas import TABLES

JOB_RUN: Final = "job_run"

MATERIALIZING: Final = ("materialize", "run")
"""Jobs that decide accesses; the settings of their rows are those of the decisions."""

REPLAYING: Final = ("replay", "run")
"""Jobs that read sources."""

MAINTAIN: Final = "maintain"

KEEP_DAYS: Final = 30.0
"""For how many days maintenance keeps what readers saw, unless configured otherwise."""

DECIDED_IN: Final = "decided_in_run"
"""The count of a run that names the run whose decisions are in force."""

HISTORY_WRITTEN: Final = "history_written"
"""The count of a replay that wrote history, or left the one that was written since the cluster was
decided last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a live cluster's brokers reported about themselves.

    Attributes:
        brokers: their configurations.
        metadata_version: the one in force.
        unread: part that was not read whole → the cause; see ``model.unread``.
    """

    brokers: tuple[BrokerConfig, ...] = ()
    metadata_version: int | None = None
    unread: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of a run; None means that the run did not need one.

    Attributes:
        told: of a replay of a live cluster.
        authorizer: of a replay of a listing whose tool is that of another authorizer.
        semantics: how ACLs were read, of a run that decided; so are those down to the digests.
        semantics_asked: ``auto`` or the preset that was asked for; older runs lack it.
        semantics_preset: the preset that was taken.
        super_users: super.users.
        allow_everyone: allow.everyone.if.no.acl.found.
        unknown: which of those two keys were unknown; None if an older aclkit did not record it.
        dense: always, never or auto.
        inventory_digest: digest of what was asked about.
        inventory_rows: digest of the rows that list these names.
        rules_digest: digest of the rules, the kinds of findings and the format.
        sources: imprint of what a replay read, see ``pipeline.replay.intake``; None where it
            cannot be known whether the next one would read the same.
        broad_share: of a run that looked for findings, see ``audit.findings.facts``.
        has_builder: of such a run, whether a principal builder was configured.
        rewritten: of maintenance: table → the version that it found, and the one it made.
        keep_days: of maintenance.
        keep_runs: of maintenance.
    """

    told: Told | None = None
    authorizer: str | None = None
    semantics: Semantics | None = None
    semantics_asked: str | None = None
    semantics_preset: str | None = None
    super_users: frozenset[str] | None = None
    allow_everyone: bool | None = None
    unknown: tuple[str, ...] | None = None
    dense: str | None = None
    inventory_digest: str | None = None
    inventory_rows: str | None = None
    rules_digest: str | None = None
    sources: str | None = None
    broad_share: float | None = None
    has_builder: bool | None = None
    rewritten: Mapping[str, tuple[int, int]] | None = None
    keep_days: float | None = None
    keep_runs: int | None = None

    @property
    def broker(self) -> BrokerSettings:
        """What the brokers' configuration added to the ACLs; Kafka's defaults where not recorded.

        A run that did not record ``unknown`` may hold defaults that no user configured.
        """
        users, everyone = self.super_users or frozenset(), bool(self.allow_everyone)
        defaults = {SUPER_USERS: not users, ALLOW_EVERYONE: not everyone}
        unknown = [key for key, is_default in defaults.items() if is_default]
        return BrokerSettings(
            super_users=users,
            allow_everyone=everyone,
            unknown=frozenset(unknown if self.unknown is None else self.unknown),
        )

    def updated(self, other: RunSettings) -> RunSettings:
        """Return these settings, replaced by the other's wherever it sets a value."""
        return replace(self, **other._said())

    def write(self) -> str | None:
        """Write them as the JSON of the column; None where no setting is set."""
        said = self._said()
        if told := said.pop("told", None):
            said["brokers"] = {str(each.node_id): dict(each.values) for each in told.brokers}
            said["metadata_version"] = told.metadata_version
            if told.unread:
                said["unread"] = dict(told.unread)
        if self.semantics is not None:
            said["semantics"] = self.semantics.said()
        if self.super_users is not None:
            said["super_users"] = sorted(self.super_users)
        return json.dumps(said, sort_keys=True) if said else None

    def _said(self) -> dict[str, Any]:
        return {f.name: v for f in fields(self) if (v := getattr(self, f.name)) is not None}


def read_settings(text: str | None) -> RunSettings:
    """Read the JSON of the column; a setting that is missing there is None.

    Raises:
        ValueError, TypeError, AttributeError: it is not what ``write`` writes.
    """
    written = {name: value for name, value in json.loads(text or "{}").items() if value is not None}
    values = {each.name: written[each.name] for each in fields(RunSettings) if each.name in written}
    values |= {name: read(values[name]) for name, read in _READ.items() if name in values}
    if "brokers" in written:
        told = sorted((int(node), config) for node, config in written["brokers"].items())
        brokers = tuple(BrokerConfig(node, config) for node, config in told)
        values["told"] = Told(
            brokers=brokers,
            metadata_version=written.get("metadata_version"),
            unread=written.get("unread", {}),
        )
    return RunSettings(**values)


_READ: Final[Mapping[str, Callable[[Any], object]]] = {
    "semantics": lambda said: Semantics(**said),
    "super_users": frozenset,
    "unknown": tuple,
    "rewritten": lambda said: {t: (int(found), int(made)) for t, (found, made) in said.items()},
}
"""Settings whose values are others than JSON's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRun:
    """One row of ``job_run``: see the table's columns; times are UTC without a zone.

    Attributes:
        settings_text: the column ``settings`` as it stands there; ``settings`` reads it.
        format_number: see ``aclkit.warehouse.formats``; 0 where the row has none.
    """

    run_number: int
    run_id: str
    cluster_id: str
    job: str
    status: str = "complete"
    started_at: datetime | None = None
    finished_at: datetime | None = None
    seconds: float | None = None
    head_offset: int | None = None
    high_watermark: int | None = None
    settings_text: str | None = None
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()
    table_versions: Mapping[str, int]
    aclkit_version: str | None = None
    format_number: int = 0

    @property
    def settings(self) -> RunSettings:
        """The settings of the run.

        Raises:
            SurroundingsError: they are not those of this version of aclkit.
        """
        try:
            return read_settings(self.settings_text)
        except (ValueError, TypeError, AttributeError) as error:
            raise SurroundingsError(
                f"Cannot read the settings of run {self.run_number}. A newer aclkit may have "
                f"written them: {error}"
            ) from error

    @property
    def began(self) -> datetime:
        """When it began; a damaged row without that time began long ago."""
        return self.started_at.replace(tzinfo=UTC) if self.started_at else _LONG_AGO

    @property
    def ended(self) -> datetime:
        """When it ended, in the same way."""
        return self.finished_at.replace(tzinfo=UTC) if self.finished_at else _LONG_AGO

    @property
    def decided_in(self) -> int | None:
        """The run that made the decisions which hold as of this one."""
        return self.counts.get(DECIDED_IN)

    def row(self) -> tuple[object, ...]:
        """Write it as a row of the table."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        said["settings"] = said.pop("settings_text")
        for name in ("started_at", "finished_at"):
            said[name] = said[name] and said[name].replace(tzinfo=UTC)
        said["format_number"] = self.format_number or None
        return tuple(map(said.get, TABLES[JOB_RUN].column_names))


_LONG_AGO: Final = datetime(1, 1, 1, tzinfo=UTC)


def published_runs(warehouse: str, rows: Iterable[Mapping[str, Any]]) -> tuple[PublishedRun, ...]:
    """Make runs of rows of ``job_run`` whose times are UTC without a zone, in their order.

    Raises:
        SurroundingsError: the tables are of a format that this aclkit does not know.
    """
    runs = tuple(map(_run_of, rows))
    newest = max(runs, key=lambda run: run.format_number, default=None)
    if newest is not None and newest.format_number > FORMAT:
        raise _unknown_format(warehouse, newest, "Install a newer aclkit")
    # The rows of runs before a step keep their own number: the last one tells what tables are.
    if runs and runs[-1].format_number < OLDEST:
        raise _unknown_format(warehouse, runs[-1], _WAY_TO_OLDEST)
    return runs


_WAY_TO_OLDEST: Final = (
    f"Run aclkit {OLDEST_RELEASE} (commit {OLDEST_COMMIT}) on it once: all is kept. Or start a new "
    "warehouse from the sources: it lacks the history that they no longer hold, earlier runs with "
    "their changes, since when findings exist, and what usage has read"
)


def _unknown_format(warehouse: str, run: PublishedRun, way_out: str) -> SurroundingsError:
    return SurroundingsError(
        f"The tables in {warehouse} have format {run.format_number}, written by aclkit "
        f"{run.aclkit_version}. This aclkit reads formats {OLDEST} to {FORMAT}. {way_out}. "
        "Nothing was changed."
    )


def _run_of(row: Mapping[str, Any]) -> PublishedRun:
    said = {f.name: row[f.name] for f in fields(PublishedRun) if f.name in row}
    said |= {name: row[name] or {} for name in ("counts", "table_versions")}
    said |= {"settings_text": row["settings"], "notes": tuple(row["notes"] or ())}
    return PublishedRun(**said | {"format_number": row.get("format_number") or 0})


ALL_RUNS: Final = "SELECT * FROM job_run ORDER BY run_number"


def decided_and_before(
    runs: Iterable[tuple[int, str, Mapping[str, int]]],
) -> tuple[int, int | None] | None:
    """Return which run made a cluster's decisions, and which decided, or kept, those before.

    Args:
        runs: number, job and counts of the cluster's runs, the oldest first.

    Returns:
        None where nothing was decided; the second number is None where it was the first time.
    """
    decided = [(number, counts) for number, job, counts in runs if job in MATERIALIZING]
    numbers = [counts.get(DECIDED_IN) for _, counts in decided]
    newest = max((number for number in numbers if number is not None), default=None)
    if newest is None:
        return None
    return newest, max((number for number, _ in decided if number < newest), default=None)


CURRENT_RUNS: Final = """\
WITH short AS (
SELECT run_number, cluster_id, job, counts['decided_in_run'] AS decided_in FROM job_run
),
decided AS (SELECT cluster_id, max(decided_in) AS run_number FROM short GROUP BY cluster_id),
standing AS (
SELECT max(run_number) AS run_number FROM short GROUP BY cluster_id, job
UNION
SELECT run_number FROM decided
UNION
SELECT max(s.run_number) FROM short s JOIN decided d ON d.cluster_id = s.cluster_id
WHERE s.job IN ('materialize', 'run') AND s.run_number < d.run_number GROUP BY s.cluster_id
UNION
SELECT run_number FROM short WHERE job = 'maintain'
)
SELECT * FROM job_run WHERE run_number IN (SELECT run_number FROM standing)
ORDER BY run_number"""
"""The SELECT of the rows that stand, in SQL that both engines speak.

These are, of each cluster, the newest run of each job, the run that decided and the one before it;
and all runs of maintenance, whose settings map each replaced version to the new one.
"""
