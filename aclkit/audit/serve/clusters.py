"""The clusters of a warehouse → a row for each, and the page that compares two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from aclkit.answer.document import Answer
from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.serve.page import Given, Page
from aclkit.audit.serve.snapshot import CachedTables, Reading, Snapshot
from aclkit.errors import UsageError
from aclkit.model.findings import SEVERITIES
from aclkit.questions.clusters.answer import clusters_answer
from aclkit.questions.clusters.compare import compare_clusters
from aclkit.questions.clusters.mapped_acls import maps_of
from aclkit.rules.names.question import Budget
from aclkit.warehouse.duck import fetch
from aclkit.warehouse.published import AsOf, as_of

MOST_RULES: Final = 20
"""So many rules of each kind may be in an address."""

STATES: Final = 1_000_000
"""The search limit of a page: less than that of a command."""

SHOWN: Final = 500
"""So many differences stand on a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRow:
    """A cluster of the warehouse, as the first page shows it.

    Attributes:
        cluster: its id.
        as_of: which state is published; None if nothing was decided yet.
        is_old: it is older than the configured age.
        status: of the run.
        findings: severity → how many, the worst first.
        changes: how many accesses the last run changed.
        denied: how many different accesses brokers refused; None without an authorizer log.
    """

    cluster: str
    as_of: AsOf | None = None
    is_old: bool = False
    status: str = ""
    findings: Sequence[tuple[str, int]] = ()
    changes: int = 0
    denied: int | None = None


Summary = Callable[[Reading], NightlySummary]


def cluster_rows(
    snapshot: Snapshot,
    cursor: duckdb.DuckDBPyConnection,
    summary: Summary,
    is_older: Callable[[AsOf], bool],
) -> Iterator[ClusterRow]:
    """Yield a row for each cluster of the warehouse.

    Args:
        snapshot: the newest published run.
        cursor: over its tables.
        summary: returns what the run of a cluster found.
        is_older: whether a state is too old.
    """
    for cluster_id in snapshot.published.clusters:
        reading = Reading(snapshot, CachedTables(cursor, snapshot.memory), cluster_id)
        try:
            run, found = reading.run, summary(reading)
        except UsageError:
            yield ClusterRow(cluster=cluster_id)
            continue
        state = as_of(reading.published, run)
        counts = Counter(each.severity for each in found.findings)
        yield ClusterRow(
            cluster=cluster_id,
            as_of=state,
            is_old=is_older(state),
            status=run.status,
            findings=[(name, counts[name]) for name in SEVERITIES if counts[name]],
            changes=found.access_changes,
            denied=_denied(reading),
        )


def _denied(reading: Reading) -> int | None:
    ((lines, denied),) = fetch(reading.tables, _DENIED, [reading.cluster_id])
    return int(denied) if lines else None


_DENIED: Final = (
    "SELECT count(*), count(DISTINCT CASE WHEN decision = 'DENIED' THEN "
    "struct_pack(a := principal, b := operation, c := resource_type, d := resource_name) END) "
    "FROM access_day WHERE cluster_id = ? AND principal IS NOT NULL"
)


def side_by_side(reading: Reading, given: Given) -> Page:
    """Return what differs between the cluster of the page and another one of the warehouse.

    Raises:
        UsageError: a rule is none, rules contradict each other, or there is no such cluster.
    """
    others = tuple(each for each in reading.published.clusters if each != reading.cluster_id)
    wanted = given.get("with", "")
    form: dict[str, Any] = {
        "others": others,
        "chosen": wanted,
        "rules": given.get("map", ""),
        "principal_rules": given.get("map-principal", ""),
        "answer": None,
    }
    if not wanted:
        return Page("side_by_side", form)
    if wanted not in others:
        raise UsageError(f"There is no other cluster {wanted!r} in this warehouse.")
    maps = maps_of(_rules(form["rules"]), _rules(form["principal_rules"]))
    other = Reading(reading.snapshot, reading.tables, wanted)
    first, second = reading.state(), other.state()
    states = [AsOf(each.time, each.offset, of=each.label) for each in (first, second)]
    answer: Answer = reading.snapshot.memory.kept(
        ("side by side", reading.cluster_id, wanted, maps),
        lambda: clusters_answer(
            compare_clusters(first, second, maps, Budget(total=STATES)),
            states,
            SHOWN,
        ),
        lambda _: 10 * (len(first.acls) + len(second.acls)),
    )
    return Page("side_by_side", {**form, "answer": answer, "states": states})


def _rules(text: str) -> list[str]:
    rules = [line.strip("\r") for line in text.split("\n") if line.strip()]
    if len(rules) > MOST_RULES:
        raise UsageError(f"Too many rules: {len(rules)}. At most {MOST_RULES} of each kind.")
    return rules
