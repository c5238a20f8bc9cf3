"""The table ``job_run`` → the few of its rows that hold a warehouse's current state.

They are all that a question or a run has to know of the past, so that neither costs more after
thousands of runs than after ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

MATERIALIZING: Final = ("materialize", "run")
"""Jobs that decide accesses; the settings of their rows are those of the decisions."""

REPLAYING: Final = ("replay", "run")
"""Jobs that read sources."""

MAINTAIN: Final = "maintain"

KEEP_DAYS: Final = 30.0
"""For how many days maintenance keeps what readers saw, unless configured otherwise."""

DECIDED_IN: Final = "decided_in_run"
"""The count of a run that names the run whose decisions are in force."""


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
