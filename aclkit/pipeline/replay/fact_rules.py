"""Source rows + the facts already known → the facts to add, or a refusal where they disagree."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from aclkit.errors import DataError, GoneError, SurroundingsError, UsageError
from aclkit.model.acl import BINDING
from aclkit.model.facts import (
    BROKER_RECORDS,
    EPOCH,
    FACT,
    FAILURE,
    OVERWRITTEN,
    RANGE,
    RECORD,
    REJECT,
    SNAPSHOT,
    TOLD,
)
from aclkit.model.groups import grouped
from aclkit.pipeline.replay.asking import Asking, Frame, columns_of, listed
from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.conditions import Outside
from aclkit.pipeline.replay.spans import RANGE_COLUMNS, Range
from aclkit.pipeline.replay.transactions import MARKERS, Marker, Span
from aclkit.pipeline.sources.files import parent
from aclkit.pipeline.sources.metadata_log import epochs_of


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


class FactRules(Asking[Frame]):
    """What is asked of source rows and facts."""

    def raise_failures(self, source_rows: Frame) -> None:
        """Raise the error with which a source could not be read, if one could not."""
        known = {c.__name__: c for c in (UsageError, GoneError, SurroundingsError)}
        for error, reason in self.collect(_FAILURES, rows=source_rows):
            raise known.get(error, DataError)(reason)

    def incoming_ranges(self, source_rows: Frame) -> list[Range]:
        """Collect the ranges among source rows, each once.

        Where epochs begin that a file tells counts if the batches read of its folder agree.
        """
        # They are few, and made different here: Spark needs no job for rows that the driver holds.
        found = [(Range(*row), source) for *row, source in self.collect(_RANGES, rows=source_rows)]
        read = [item for item, _ in found if item.fact != TOLD]
        return list(dict.fromkeys([*read, *_told_epochs(found)]))

    def incoming_facts(self, source_rows: Frame) -> Frame:
        """Turn the facts among source rows into ``acl_log`` rows."""
        return self.ask(_FACTS, [self.cluster_id], table="acl_log", rows=source_rows)

    def told_apart(self, facts: Frame, cuts: Mapping[int, int]) -> Frame:
        """Call records overwritten that are not in the log, and all others records."""
        outside = Outside(cuts)
        records = self.ask(_RECORDS, table="acl_log", facts=self.without(facts, outside))
        others = self.ask(_OVERWRITTEN, table="acl_log", facts=self.only(facts, outside))
        return self.keep(self.union(records, others))

    def incoming_rejects(self, source_rows: Frame) -> Frame:
        """Turn the rejects among source rows into ``acl_reject`` rows."""
        return self.ask(_REJECTS, [self.cluster_id], table="acl_reject", rows=source_rows)

    def compare(self, known: Frame, incoming: Frame) -> Frame:
        """Lay known and incoming facts side by side, one row per fact.

        A fact's key is its offset, for an entry of a snapshot or a listing also what it is about.
        Of incoming facts with the same key one is kept, ``came``, whatever files it came from.
        ``contents`` is how many different contents the key has. A known fact is *shifted* if its
        time is whole quarters of an hour, but not nothing, off the incoming one's: an older aclkit
        that forgot facts shifted the others by its machine's zone.
        """
        return self.keep(self.ask(_COMPARED, known=known, incoming=incoming))

    def refuse_conflicts(
        self, compared: Frame, known: Sequence[Range], incoming: Sequence[Range]
    ) -> None:
        """Refuse a source that contradicts what was read before; see ``worst_conflict``.

        One offset of one epoch holds the same record forever, and one snapshot has one set of
        entries. Other content, or a record where there was none, means another log.

        Raises:
            DataError: naming the first offset that differs.
        """
        worst = self.worst_conflict(compared, known, incoming)
        if worst is not None:
            raise DataError(_refusal(worst))

    def worst_conflict(
        self, compared: Frame, known: Sequence[Range], incoming: Sequence[Range]
    ) -> Conflict | None:
        """Return the first disagreement of known and incoming facts.

        They disagree on a fact of different contents, and on one that only one side has where the
        other one has read everything. Facts of brokers may come later: where an older aclkit read
        the log it passed over them.

        Args:
            compared: both sides.
            known: the ranges in which everything known was read, those outside the log aside.
            incoming: likewise what comes.
        """
        read_before, read_now = self._whole(known), self._whole(incoming)
        found = self.collect(
            _CONFLICTS, compared=compared, read_before=read_before, read_now=read_now
        )
        return Conflict(*found[0]) if found else None

    def _whole(self, ranges: Sequence[Range]) -> Frame:
        """Return where everything was read."""
        rows = [(SNAPSHOT, r.to_offset, r.to_offset + 1) for r in ranges if r.fact == SNAPSHOT]
        rows += [
            (RECORD, r.from_offset, r.to_offset)
            for r in ranges
            if r.fact == RECORD and r.epoch is not None
        ]
        return self.frame("fact STRING, start BIGINT, stop BIGINT", rows)

    def count_facts(self, compared: Frame) -> Counted:
        """Count facts that were laid side by side, and collect what is small of them."""
        ((fresh, shifted),) = self.collect(_COUNTS, compared=compared)
        markers = self.collect(_MARKERS, compared=compared)
        brokers = self.broker_facts(self.new_facts(compared))
        return Counted(fresh, shifted, [Marker(*row) for row in markers], brokers)

    def new_facts(self, compared: Frame) -> Frame:
        """Return the incoming facts that are not known yet."""
        return self.ask(_NEW, table="acl_log", compared=compared)

    def once(self, facts: Frame) -> Frame:
        """Keep one of the equal facts of several sources."""
        return self.new_facts(self.compare(self.rows("acl_log", []), facts))

    def with_times(self, known: Frame, compared: Frame) -> Frame:
        """Return known facts, with the times of the source where they were shifted."""
        return self.keep(self.ask(_TIMES, table="acl_log", known=known, compared=compared))

    def broker_facts(self, facts: Frame) -> list[BrokerFact]:
        """Collect the facts of brokers."""
        return [BrokerFact(*row) for row in self.collect(_BROKERS, facts=facts)]

    def with_txn_offset(self, facts: Frame, spans: Sequence[Span]) -> Frame:
        """Set ``txn_offset`` to the Begin of the transaction that each record is part of."""
        return self.ask(_WITH_BEGIN, table="acl_log", facts=facts, spans=self.spans(spans))

    def moved_records(self, facts: Frame, spans: Sequence[Span]) -> Frame:
        """Return the records whose transaction has become known, or another, with its offset."""
        return self.ask(_MOVED, facts=facts, spans=self.spans(spans))


def _told_epochs(found: Sequence[tuple[Range, str]]) -> Iterator[Range]:
    """Yield where epochs begin by files that agree with all batches read of their folders."""
    if not any(item.fact == TOLD for item, _ in found):
        return
    for items in grouped((parent(source), item) for item, source in found).values():
        told = [r for r in items if r.fact == TOLD]
        for start, epoch, follows in epochs_of(told, [r for r in items if r.fact == RECORD]):
            yield Range(start, start + 1, epoch, EPOCH, follows)


def _refusal(worst: Conflict) -> str:
    """Name what disagrees, and both ways on: this is another log, or what is known is wrong."""
    said, source = f"{worst.first}-{worst.last}", worst.source
    others = f", or --forget {shlex.quote(source)} for that whole source" if source else ""
    return (
        f"Offset {worst.first} ({worst.fact}) was read before with other "
        f"content{(f', from {source}' if source else '')}. This source is not the log that the "
        "rows of this cluster came from. Pass another --cluster or --warehouse. If the "
        "earlier rows are wrong, remove them and replay this source again: --forget "
        f"{said}{others}"
    )


_FAILURES: Final = f"SELECT fact, reason FROM $rows WHERE kind = '{FAILURE}' LIMIT 1"
_RANGES: Final = f"SELECT {RANGE_COLUMNS}, source FROM $rows WHERE kind = '{RANGE}'"

_OF_FACT: Final = columns_of("acl_log", cluster_id="?", txn_offset="CAST(NULL AS BIGINT)")
_FACTS: Final = f"SELECT {_OF_FACT} FROM $rows WHERE kind = '{FACT}'"
_RECORDS: Final = f"""\
SELECT {columns_of("acl_log", fact=f"CASE fact WHEN '{OVERWRITTEN}' THEN '{RECORD}' ELSE fact END")}
FROM $facts"""
_OVERWRITTEN: Final = f"""\
SELECT {columns_of("acl_log", fact=f"'{OVERWRITTEN}'", txn_offset="CAST(NULL AS BIGINT)")}
FROM $facts"""
_OF_REJECT: Final = columns_of("acl_reject", cluster_id="?", stage="'source'")
_REJECTS: Final = f"SELECT {_OF_REJECT} FROM $rows WHERE kind = '{REJECT}'"

_ENTITY: Final = f"""\
CASE fact WHEN '{RECORD}' THEN '' WHEN '{OVERWRITTEN}' THEN CAST(epoch AS STRING)
  ELSE coalesce(acl_id, topic_id, concat_ws(
  '/', resource_type, resource_name, principal, mechanism, CAST(broker_id AS STRING))) END"""
"""What an entry is about: a listed resource by its type and name, all else without an id by what is
not null. Of a record the offset alone is the key, of an overwritten one its epoch as well."""

_CONTENT: Final = f"""$digest(
  record_type, acl_id, {", ".join(BINDING)}, topic_id, mechanism,
  broker_id, min_level, max_level)"""

_COMPARED: Final = f"""\
WITH sides AS (
  SELECT fact, log_offset, {_ENTITY} AS entity, {_CONTENT} AS content, true AS is_known,
    source AS known_source, log_time AS known_time, NULL AS row FROM $known
  UNION ALL
  SELECT fact, log_offset, {_ENTITY}, {_CONTENT}, false, NULL, NULL, $fact FROM $incoming),
keys AS (
  SELECT fact, log_offset, entity, count(DISTINCT content) AS contents,
    bool_or(is_known) AS is_known, bool_or(NOT is_known) AS is_incoming, $least_row AS came,
    min(known_source) AS known_source, max(known_time) AS known_time
  FROM sides GROUP BY fact, log_offset, entity)
SELECT fact, log_offset, entity, contents, is_known, is_incoming, came, known_source, coalesce(
  $micros(known_time) <> $micros(came.log_time)
  AND ($micros(known_time) - $micros(came.log_time)) % 900000000 = 0, false) AS is_shifted
FROM keys"""
"""All zones are whole quarters of an hour away from UTC, 900,000,000 µs."""

_NEW: Final = f"SELECT {columns_of('acl_log', 'came')} FROM $compared WHERE NOT is_known"

_IS_OF_BROKER: Final = f"record_type IN {listed(*BROKER_RECORDS)}"

_CONFLICTS: Final = f"""\
WITH differing AS (
  SELECT fact, log_offset, known_source FROM $compared AS c
  WHERE contents > 1
  OR (NOT is_known AND NOT coalesce(came.{_IS_OF_BROKER}, false) AND EXISTS (
    SELECT 1 FROM $read_before AS r
    WHERE r.fact = c.fact AND c.log_offset >= r.start AND c.log_offset < r.stop))
  OR (NOT is_incoming AND EXISTS (
    SELECT 1 FROM $read_now AS r
    WHERE r.fact = c.fact AND c.log_offset >= r.start AND c.log_offset < r.stop)))
SELECT fact, min(log_offset) AS first, max(log_offset), $first_by(known_source, log_offset)
FROM differing GROUP BY fact ORDER BY first, fact LIMIT 1"""

_COUNTS: Final = """\
SELECT count(*) FILTER (WHERE NOT is_known), count(*) FILTER (WHERE is_known AND is_shifted)
FROM $compared"""

_MARKERS: Final = f"""\
SELECT log_offset, came.record_type FROM $compared
WHERE NOT is_known AND fact = '{RECORD}' AND came.record_type IN {listed(*MARKERS)}"""

_BROKERS: Final = f"""\
SELECT fact, log_offset, record_type, broker_id, min_level, max_level, epoch, $millis
FROM $facts WHERE {_IS_OF_BROKER}"""

_TIMES: Final = f"""\
WITH named AS (SELECT *, {_ENTITY} AS entity FROM $known),
shifted AS (SELECT fact, log_offset, entity, came.log_time FROM $compared
  WHERE is_known AND is_shifted)
SELECT /*+ BROADCAST(s) */
  {columns_of("acl_log", "named", log_time="coalesce(s.log_time, named.log_time)")}
FROM named LEFT JOIN shifted AS s
  ON named.fact = s.fact AND named.log_offset = s.log_offset AND named.entity = s.entity"""

_WITHIN: Final = f"""\
FROM $facts AS f LEFT JOIN $spans AS s
ON CASE WHEN f.fact = '{RECORD}' THEN f.log_offset END > s.begin_offset
  AND CASE WHEN f.fact = '{RECORD}' THEN f.log_offset END < s.end_offset"""

_WITH_BEGIN: Final = f"""\
SELECT /*+ BROADCAST(s) */ {columns_of("acl_log", "f", txn_offset="s.begin_offset")} {_WITHIN}"""

_MOVED: Final = f"""\
SELECT /*+ BROADCAST(s) */ f.cluster_id, f.log_offset, s.begin_offset AS txn_offset {_WITHIN}
WHERE f.fact = '{RECORD}' AND f.txn_offset IS DISTINCT FROM s.begin_offset"""
