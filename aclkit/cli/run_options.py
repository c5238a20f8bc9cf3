"""Options of the commands that read sources, decide, and write: each part of a run has its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from aclkit.cli.options import flag, option, timeout_option, together
from aclkit.errors import UsageError
from aclkit.pipeline.plan import DECIDE_WITH
from aclkit.pipeline.sources.source_kinds import kinds_words

if TYPE_CHECKING:
    from aclkit.warehouse.run import Rebuild

replay_options = together(
    option(
        "--source",
        multiple=True,
        metavar="KIND:PATH",
        help=f"What to read. KIND is {kinds_words()}. Repeatable.",
    ),
    option(
        "--high-watermark",
        type=click.IntRange(min=0),
        metavar="N",
        help="Ignore rows at or above this offset: they are not committed.",
    ),
    flag(
        "--accept-holes",
        "Skip offsets, or lines of a listing, that cannot be read, and mark the run incomplete.",
    ),
    flag("--strict", "Exit with code 3 if any row is rejected."),
    option("--at", metavar="TIME", help="Time of a listing, ISO 8601. Default: now."),
    option("--command-config", metavar="FILE", help="Kafka client .properties for a live source."),
    timeout_option("Time limit for a live source.", 30.0),
    flag("--allow-empty", "Accept a listing without ACLs: it removes all known ones."),
)


decide_with_option = option(
    "--decide-with",
    type=click.Choice(DECIDE_WITH),
    default="auto",
    help="local: this machine. spark: Spark's tasks; its driver replays a small log. auto: local, "
    "or under spark-submit Spark's.",
)


inventory_options = together(
    option(
        "--principals",
        metavar="FILE",
        help="CSV, JSONL, Parquet or Delta file with the column principal.",
    ),
    option("--hosts", metavar="FILE", help="The same with the column host."),
    option(
        "--resources",
        metavar="FILE",
        help="The same with the columns resource_type, resource_name.",
    ),
    flag("--extend", "Add the files to the names in the log."),
    option(
        "--dense",
        type=click.Choice(["always", "never", "auto"]),
        default="auto",
        help="Write the explain table row by row. auto: up to 50 million rows.",
    ),
    flag("--full", "Decide everything again, even if nothing changed."),
    decide_with_option,
)


rebuild_options = together(
    flag("--rebuild", "Compute lost tables again from acl_log, or else from the source."),
    flag("--force", "With --rebuild: continue even if history is lost for good."),
)


def rebuild_of(chosen: Mapping[str, Any]) -> Rebuild | None:
    """Return what ``rebuild_options`` ask for.

    Raises:
        UsageError: ``--force`` stands alone.
    """
    if chosen["force"] and not chosen["rebuild"]:
        raise UsageError("--force needs --rebuild.")
    # Here, for help and questions do not wait for what runs need.
    from aclkit.warehouse.run import Rebuild

    return Rebuild(is_forced=chosen["force"]) if chosen["rebuild"] else None
