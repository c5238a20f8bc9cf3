"""The explain tables of two runs → the rows of ``access_change``, written and counted."""

from __future__ import annotations

from typing import Final

from aclkit.pipeline.explain.changes import keep_changes, tables_of_changes
from aclkit.pipeline.explain.output import Output
from aclkit.runtime.progress import step
from aclkit.warehouse.job_run import PublishedRun, RunSettings


def write_changes(output: Output, run_id: str, before: PublishedRun, now: RunSettings) -> int:
    """Write what changed against the materialize before; return how many accesses did.

    A name that only one run asked about has a row, but changes no access.
    """
    then, whose = before.settings, {"cluster_id": output.cluster_id, "run_id": run_id}
    tables_of = tables_of_changes(before.table_versions, output.store.versions)
    with step("Comparing with the previous run"), output.ask_all(tables_of) as read:
        keep_changes(
            read,
            settings_changed=(then.semantics, then.broker) != (now.semantics, now.broker),
            rules_changed=then.rules_digest != now.rules_digest,
            hosts_changed=then.inventory_digest != now.inventory_digest,
        )
        ((rows, changes),) = read.rows(_COUNTS)
        if rows:
            read.append(output.store, "access_change", "SELECT * FROM access_change", whose)
    return int(changes)


_COUNTS: Final = """\
SELECT count(*), count(CASE WHEN ruleset_before IS NOT NULL THEN ruleset_after END)
FROM access_change"""
