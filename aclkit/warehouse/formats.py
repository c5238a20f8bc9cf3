"""How tables changed since the first warehouses: one step per change, and the number of the newest.

A run writes the number into its row of ``job_run``; rows of older ones have none. What a step gives
to tables the next run gives them (``aclkit.warehouse.recovery``); until then, and in old versions,
readers take a column that is not there yet for null. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one format has that the one before it had not.

    Attributes:
        says: a note for the run that takes the step.
        columns: table → its new columns; they are null in the rows that are there.
        is_keeping: no table forgets a version by itself any more (``table_files.KEEPING``).
        puts_times_right: times that were shifted are computed anew (``shifted_times``).
        describes: tables say what a row is, and each column its meaning (``described``).
    """

    says: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_keeping: bool = False
    puts_times_right: bool = False
    describes: bool = False


STEPS: Final[Sequence[Step]] = (
    # First, for with every other step a table forgets none of the versions that readers open.
    Step(
        says="Tables written by an older aclkit now keep every version until aclkit maintain runs.",
        is_keeping=True,
    ),
    Step(
        says="Findings now have a scope and evidence.",
        columns={"finding": ("holds_for", "evidence")},
    ),
    Step(
        says="Findings keep their first date, even after the runs that showed them are removed.",
        columns={"finding": ("first_seen",)},
    ),
    Step(
        says="Runs now record the format of the tables.",
        columns={"job_run": ("format_number",)},
    ),
    Step(
        says="The brokers in the log are now kept. Those read by an older aclkit are unknown.",
        columns={"acl_log": ("broker_id", "min_level", "max_level")},
    ),
    Step(
        says="Broker settings now record the run that first saw them.",
        columns={"setting": ("run_number", "log_offset")},
        puts_times_right=True,
    ),
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
    # Last, for the columns above get their meaning too. What is NOT NULL in new tables stays
    # nullable here: no step has read all files for it.
    Step(says="Tables and columns now have descriptions.", describes=True),
)

FORMAT: Final = len(STEPS)
"""The format that this aclkit writes. No published step ever changes: another one follows it."""

GROWN: Final = frozenset(table for step in STEPS for table in step.columns)
"""Tables whose files may lack columns, wherever they are old enough."""
