"""The run behind an answer → what a reader of the answer must know, on stderr."""

from __future__ import annotations

from aclkit.cli.output import tell
from aclkit.warehouse.published import MATERIALIZE_STEP, Published, Run


def tell_state(published: Published, run: Run) -> None:
    """Say that the log has gone on since the run, or that the run is incomplete."""
    head = published.last_run(run.cluster_id).head_offset
    if head is not None and run.head_offset is not None and head > run.head_offset:
        step = MATERIALIZE_STEP.format(path=published.place)
        tell(f"the log is at offset {head}, this answer at {run.head_offset}; next: {step}")
    if run.status != "complete":
        tell(f"run {run.run_number} is {run.status}: {'; '.join(run.notes)}")
