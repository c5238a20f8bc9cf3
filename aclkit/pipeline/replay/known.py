"""The known state of a cluster, the options of a replay, and its result: values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from aclkit.model.brokers import Brokers
from aclkit.model.findings import Finding
from aclkit.pipeline.plan import DecideWith
from aclkit.pipeline.replay.asking import Frame
from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.conditions import Condition
from aclkit.pipeline.replay.history_plan import HistoryPlan, plan_history
from aclkit.pipeline.replay.lineage import Lineage
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import Marker


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The options of a replay.

    Attributes:
        high_watermark: rows at or above this offset have no effect yet.
        accept_holes: go on after offsets that could not be read.
        strict: any rejected row makes the replay end with exit code 3.
        decide_with: where it is done; see ``plan.replays_here``.
    """

    high_watermark: int | None = None
    accept_holes: bool = False
    strict: bool = False
    decide_with: DecideWith = "auto"

    def plan(self, ranges: Sequence[Range], markers: Iterable[Marker]) -> HistoryPlan:
        """Plan the history of what was read; see ``plan_history``."""
        return plan_history(
            ranges,
            markers,
            high_watermark=self.high_watermark,
            accept_holes=self.accept_holes,
        )


class EpochMarker(NamedTuple):
    """A transaction record that was read, in the log or not, and the epoch of its leader."""

    marker: Marker
    epoch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is small of what the tables hold of a cluster before a replay.

    Attributes:
        cluster_id: the cluster.
        ranges: what has been read.
        markers: the transaction records among the facts, overwritten ones too.
        head: as of which offset its history was computed; None where it never was of these facts.
        broker_facts: the records of brokers among the facts, overwritten ones too.
        brokers: ``broker``.
        has_brokers: all that was read was read by an aclkit that keeps these records.
    """

    cluster_id: str
    ranges: Sequence[Range]
    markers: Sequence[EpochMarker]
    head: int | None
    broker_facts: Sequence[BrokerFact] = ()
    brokers: Brokers = field(default_factory=Brokers)
    has_brokers: bool = True

    def markers_in(self, lineage: Lineage) -> list[Marker]:
        """Return the transaction records that are in the log."""
        return [m for m, epoch in self.markers if lineage.has(m.log_offset, epoch)]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLog(Known, Generic[Frame]):
    """All that they hold.

    Attributes:
        facts: ``acl_log``.
        history: ``acl_history``.
        rejects: ``acl_reject``, rows of the replay aside.
    """

    facts: Frame
    history: Frame
    rejects: Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed(Generic[Frame]):
    """What a replay comes to; what is None, or empty, stays as it is.

    Attributes:
        plan: the way that history takes.
        fact_count: facts that are new.
        corrected: all facts that were known, where the times of some were wrong, or some came into
            the log or went out of it.
        removed: which facts go: those that one of these holds for.
        moved: records whose ``txn_offset`` is another now.
        added: facts that come.
        tables: table → its rows.
        ranges: what has been read now.
        brokers: rows of ``broker``.
        has_brokers: see ``Known``.
        findings: what is wrong with the log.
        notes: what a reader of the result must know, the plan's aside.
    """

    plan: HistoryPlan
    fact_count: int
    corrected: Frame | None = None
    removed: tuple[Condition, ...] = ()
    moved: Frame | None = None
    added: Frame | None = None
    tables: Mapping[str, Frame] = field(default_factory=dict)
    ranges: Sequence[Range] | None = None
    brokers: Brokers | None = None
    has_brokers: bool = True
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
