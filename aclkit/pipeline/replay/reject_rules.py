"""Rejects of sources, known and now read → those that remain, and the offsets that are fixed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Generic

from aclkit.pipeline.replay.asking import Asking, Frame, columns_of


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


class RejectRules(Asking[Frame]):
    """What is asked of rejects."""

    def are_alike(self, some: Frame, others: Frame) -> bool:
        """Whether two frames of a table have the same rows, each however often."""
        return not self.collect(_DIFFERING, these=some, those=others)

    def offsets(self, rejects: Frame) -> list[int]:
        """Collect the offsets of rejects, each once; some rejects have none."""
        return [offset for (offset,) in self.collect(_OFFSETS, rejects=rejects)]

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
        whole = self.frame("source STRING", [(source,) for source in sorted(reread)])
        within = self.frame("start BIGINT, stop BIGINT", covered)
        judged = self.ask(_JUDGED, known=known, incoming=incoming, reread=whole, covered=within)
        standing = self.ask(_STANDING, table="acl_reject", judged=judged, incoming=incoming)
        changed = self.collect(_CHANGED, judged=judged, incoming=incoming)
        is_gone = any(is_gone for is_gone, _ in changed)
        return Rejects(
            standing=standing,
            has_changed=bool(changed),
            gone=tuple(offset for _, offset in changed if offset is not None),
            left=tuple(self.offsets(standing)) if is_gone else (),
        )


_COLUMNS: Final = columns_of("acl_reject")

_DIFFERING: Final = """\
SELECT 1 FROM (
  (SELECT * FROM $these EXCEPT SELECT * FROM $those)
  UNION ALL (SELECT * FROM $those EXCEPT SELECT * FROM $these)) AS differing LIMIT 1"""

_OFFSETS: Final = "SELECT DISTINCT log_offset FROM $rejects WHERE log_offset IS NOT NULL"

_JUDGED: Final = """\
SELECT /*+ BROADCAST(r), BROADCAST(c) */ k.*,
  r.source IS NOT NULL OR (c.start IS NOT NULL AND i.log_offset IS NULL) AS is_stale
FROM $known AS k LEFT JOIN $reread AS r ON r.source = k.source
LEFT JOIN $covered AS c ON k.log_offset >= c.start AND k.log_offset < c.stop
LEFT JOIN (SELECT DISTINCT log_offset FROM $incoming) AS i ON i.log_offset = k.log_offset"""

_STANDING: Final = f"""\
SELECT DISTINCT * FROM (
  SELECT {_COLUMNS} FROM $judged WHERE NOT is_stale
  UNION ALL SELECT {_COLUMNS} FROM $incoming) AS standing"""

_CHANGED: Final = f"""\
WITH sides AS (
  SELECT {_COLUMNS}, is_stale, false AS is_incoming FROM $judged
  UNION ALL SELECT {_COLUMNS}, false, true FROM $incoming),
together AS (
  SELECT log_offset, bool_and(is_incoming) AS is_new,
    bool_or(is_stale) AND NOT bool_or(is_incoming) AS is_gone
  FROM sides GROUP BY {_COLUMNS})
SELECT DISTINCT is_gone, CASE WHEN is_gone THEN log_offset END FROM together
WHERE is_new OR is_gone"""
