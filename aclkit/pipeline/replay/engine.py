"""What a replay asks of an engine: rows of its tables, and transforms of them. The rules ask.

There are two engines: ``on_duckdb`` for what fits into this process, ``on_spark`` for all else.
Both do the same to the same rows. The form of an engine's rows, a frame, is its own affair;
everything small is a plain value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.transactions import Marker, Span
from aclkit.pipeline.sources.items import WorkItem

ID_EXISTS: Final = "expected a new ACL id, but an ACL with this id exists"
ID_IS_UNKNOWN: Final = "expected the id of an existing ACL, but none has it"
"""Why a record that adds an ACL, or removes one, is rejected: it would change nothing."""

Frame = TypeVar("Frame")
"""Rows as an engine has them: a DataFrame of Spark, a table of Arrow."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Records that were never committed: a higher epoch wrote their offset or one before it.

    Attributes:
        cuts: see ``MergedRanges``.
    """

    cuts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class OfSnapshots:
    """The entries of the snapshots with these end offsets."""

    end_offsets: Collection[int]


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets ``start`` ≤ o < ``stop``, whatever they were read from."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Origin:
    """A source as ``acl_log.source`` names it, or the folder that it lies in."""

    source: str


@dataclass(frozen=True, slots=True)
class OfASource:
    """Rejects that a source has, in contrast to those of the replay; those of an item, if any."""

    item: Offsets | Origin | None = None


Condition = Withdrawn | OfSnapshots | Offsets | Origin | OfASource
"""Which facts or rejects; a row of which it is unknown whether it is one is none."""


class Failure(NamedTuple):
    """Why a source could not be read: the name of an error of aclkit, and its message."""

    error: str
    reason: str


class Conflict(NamedTuple):
    """Facts of a kind on which two readings of a log disagree: where, and who had them first."""

    fact: str
    first: int
    last: int
    source: str | None


class Counted(NamedTuple):
    """How many facts are new, and how many are known with a shifted time.

    ``markers`` and ``brokers`` are the transaction records and those of brokers among the new ones.
    """

    fresh: int
    shifted: int
    markers: list[Marker]
    brokers: list[BrokerFact]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejects(Generic[Frame]):
    """What could not be used of the sources of a cluster.

    Attributes:
        standing: rows of ``acl_reject``, those of the replay aside.
        has_changed: they are not those that were known.
        gone: offsets of rejects that stand no longer.
        left: where there are such, offsets of those that stand.
    """

    standing: Frame
    has_changed: bool
    gone: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


class Engine(Protocol[Frame]):
    """Transforms of the rows of one cluster."""

    def read(self, items: Sequence[WorkItem], board: str | None) -> Frame:
        """Read work items into source rows, once for all that is asked of them.

        Args:
            items: the files.
            board: where to tell how far that is, see ``runtime.reading``.

        Raises:
            TooManyRowsError: they hold more than this engine takes.
        """

    def rows(self, table: str, rows: Sequence[Sequence[object]]) -> Frame:
        """Make rows of a table of values."""

    def source_rows(self, rows: Sequence[Sequence[object]]) -> Frame:
        """Make source rows of values."""

    def union(self, *frames: Frame) -> Frame:
        """Return the rows of frames of the same table."""

    def only(self, rows: Frame, *any_of: Condition) -> Frame:
        """Return the facts or rejects that some condition holds for."""

    def without(self, rows: Frame, *any_of: Condition) -> Frame:
        """Return the facts or rejects that no condition holds for."""

    def are_alike(self, some: Frame, others: Frame) -> bool:
        """Whether two frames of a table have the same rows, each however often."""

    def offsets(self, rejects: Frame) -> list[int]:
        """Collect the offsets of rejects, each once; some rejects have none."""

    def failure(self, source_rows: Frame) -> Failure | None:
        """Return why a source could not be read, if one could not."""

    def incoming_ranges(self, source_rows: Frame) -> list[Range]:
        """Collect the ranges among source rows, each once."""

    def incoming_facts(self, source_rows: Frame) -> Frame:
        """Turn the facts among source rows into ``acl_log`` rows."""

    def incoming_rejects(self, source_rows: Frame) -> Frame:
        """Turn the rejects among source rows into ``acl_reject`` rows."""

    def stand_now(
        self,
        known: Frame,
        incoming: Frame,
        reread: Collection[str],
        covered: Sequence[tuple[int, int]] = (),
    ) -> Rejects[Frame]:
        """Put the rejects of what was read now in the place of those known of it.

        A file that was damaged, or was being written, has others when it is read again. So has
        another file that holds the same offsets: those that it does not reject were read well.

        Args:
            known: rows of ``acl_reject``, those of the replay aside.
            incoming: those of the sources read now.
            reread: which sources were read whole.
            covered: the offsets, as (from, to), whose records were read now, see
                ``ranges.read_well``.
        """

    def compare(self, known: Frame, incoming: Frame) -> Frame:
        """Lay known and incoming facts side by side, one row per fact; only this engine reads it.

        A fact's key is its offset, for an entry of a snapshot or a listing also what it is about.
        Of incoming facts with the same key one is kept, whatever files it came from. A known fact
        is *shifted* if its time is whole quarters of an hour, but not nothing, off the incoming
        one's: an older aclkit that forgot facts shifted the others by its machine's zone.
        """

    def worst_conflict(
        self, compared: Frame, known: Sequence[Range], incoming: Sequence[Range]
    ) -> Conflict | None:
        """Return the first disagreement of known and incoming facts.

        They disagree on a fact of different contents, and on one that only one side has where the
        other one has read everything. Facts of brokers may come later: where an older aclkit read
        the log it passed over them.

        Args:
            compared: both sides.
            known: the ranges in which everything known was read.
            incoming: likewise what comes.
        """

    def count_facts(self, compared: Frame) -> Counted:
        """Count facts that were laid side by side, and collect what is small of them."""

    def new_facts(self, compared: Frame) -> Frame:
        """Return the incoming facts that are not known yet."""

    def with_times(self, known: Frame, compared: Frame) -> Frame:
        """Return known facts, with the times of the source where they were shifted."""

    def broker_facts(self, facts: Frame) -> list[BrokerFact]:
        """Collect the facts of brokers."""

    def with_txn_offset(self, facts: Frame, spans: Sequence[Span]) -> Frame:
        """Set ``txn_offset`` to the Begin of the transaction that each record is part of."""

    def moved_records(self, facts: Frame, spans: Sequence[Span]) -> Frame:
        """Return the records whose transaction has become known, or another, with its offset."""

    def history(self, facts: Frame, rejected: Frame, plan: HistoryPlan) -> Mapping[str, Frame]:
        """Return what the tables of a cluster's history hold, by their names.

        Args:
            facts: rows of ``acl_log``.
            rejected: rows of ``acl_reject`` that its sources have.
            plan: the way through the log.
        """

    def contradictions(
        self, facts: Frame, history: Frame, end_offsets: Sequence[int]
    ) -> dict[int, list[str]]:
        """Return, for each snapshot that differs from history, the ACLs on which they differ.

        Args:
            facts: rows of ``acl_log``, entries of these snapshots among them.
            history: the cluster's ``acl_history``.
            end_offsets: of the snapshots; an empty one has no entry.
        """


class TooManyRowsError(Exception):
    """Sources hold more rows than an engine takes; a larger one has to read them."""
