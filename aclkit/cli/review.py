"""The group review: owners decide which access stays, and evidence of it is kept."""

from __future__ import annotations

import click

from aclkit.cli.lazy_group import COMMANDS, LazyGroup


@click.group(
    cls=LazyGroup,
    sections={
        COMMANDS: {
            "start": ("review_start", "start"),
            "list": ("review_start", "list_reviews"),
            "show": ("review_start", "show_items"),
            "decide": ("review_decide", "decide_items"),
            "export": ("review_decide", "export_sheet"),
            "import": ("review_decide", "import_sheet"),
            "status": ("review_start", "status"),
            "close": ("review_close", "close_review"),
            "verify": ("review_close", "verify_evidence"),
        }
    },
)
def review() -> None:
    """Recertify access: owners decide what stays.

    \b
    Example:
      aclkit review start --owners owners.csv --by ana
      aclkit review decide i6038 keep --reason "needs it for the daily report" --by bob
      aclkit review close --by ana
      aclkit review verify warehouse.reviews/2026-11-27/evidence.json

    A review asks about decisions, not about ACL lines: who can do what on which names, because of
    which ACLs. It is pinned to a log offset. aclkit never writes to a cluster: what is removed
    comes out as a script, with its effect.
    """
