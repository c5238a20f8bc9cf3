"""How tables changed since aclkit 0.3.0: one step per change, and the number of the newest.

A run writes the number into its row of ``job_run``; rows of the oldest ones have none. What a step
gives to tables the next run gives them (``aclkit.warehouse.recovery``); until then, and in old
versions, readers take a column that is not there yet for null. What is older than 0.3.0 is refused
(``published_runs``): aclkit 0.3.0 has the steps before these. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from aclkit.model.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one format has that the one before it had not.

    Attributes:
        says: a note for the run that takes the step.
        columns: table → its new columns; they are null in the rows that are there.
        describes: tables say what a row is, and each column its meaning (``described``).
    """

    says: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    describes: bool = False


OLDEST: Final = 6
"""The format of aclkit 0.3.0, the oldest one that is read. No number is ever used again."""

OLDEST_RELEASE: Final = "0.3.0"
OLDEST_COMMIT: Final = "ffd2be03"
"""The release that takes older warehouses to this format, and its commit."""

STEPS: Final[Sequence[Step]] = (
    # The first step leads from OLDEST to the number after it.
    Step(
        says="The warehouse now records which offsets are committed, and where epochs begin.",
        columns={"log_range": ("follows",)},
    ),
    Step(
        says="The authorizer log now keeps when each file has ALLOWED lines, and whose log it is.",
        columns={
            "log_file": ("broker", "allowed_from", "allowed_to", "beat_from", "beat_to"),
        },
    ),
    # After the columns above, which get their meaning too. What is NOT NULL in new tables stays
    # nullable here: no step has read all files for it.
    Step(says="Tables and columns now have descriptions.", describes=True),
)

FORMAT: Final = OLDEST + len(STEPS)
"""The format that this aclkit writes. No published step ever changes: another one follows it."""

_GROWN_BEFORE: Final = frozenset({"acl_log", "finding", "job_run", "setting"})
"""Tables that got columns before 0.3.0: of warehouses that were there then, files lack them."""
GROWN: Final = _GROWN_BEFORE.union(*(step.columns for step in STEPS))
"""Tables whose files may lack columns, wherever they are old enough."""
