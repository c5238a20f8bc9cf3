"""The command serve: a warehouse → its pages, on this machine, until it is ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import click

from aclkit.cli.baseline_options import baseline_options
from aclkit.cli.context import Context
from aclkit.cli.options import option, picked, timeout_option
from aclkit.cli.output import tell
from aclkit.errors import SurroundingsError
from aclkit.runtime.surroundings import missing_package
from aclkit.runtime.uri import is_loopback

_PORT: Final = 8377


@click.command("serve")
@option("--listen", default="127.0.0.1", metavar="ADDRESS", help="The address to listen on.")
@option("--port", type=click.IntRange(0, 65_535), default=_PORT, metavar="N", help="0: any.")
@option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Another name by which it is asked, as a proxy passes it on; may be given again.",
)
@option(
    "--trusted-proxy",
    multiple=True,
    metavar="ADDRESS",
    help="Who may name users in --user-header: an address or a network; may be given again.",
)
@option("--user-header", default="X-Forwarded-User", metavar="NAME", help="The user's name.")
@option(
    "--token-file",
    metavar="FILE",
    help="Holds the token, which then is printed nowhere; without it a new one is made.",
)
@timeout_option("How long one question may take.", 10.0, most=3_600)
@baseline_options
@click.pass_obj
def serve(context: Context, /, timeout: float, **chosen: object) -> None:
    """Serve the warehouse as pages: who can, what can, why, history, preview, findings.

    \b
    Example:
      aclkit serve
      aclkit serve --port 0 --baseline conf/baseline.json
      aclkit serve --listen 10.0.0.7 --allow-host acls.example.org --trusted-proxy 10.0.0.8

    Nothing can be changed there, and who opens a page must have the token of the address that is
    printed. Every answer is of the newest published run: one that is published meanwhile is shown
    from the next answer on. It needs the extra serve: pip install 'aclkit[serve]'.
    """
    # Here, so that help and other commands do without these packages.
    try:
        from aclkit.audit.serve.answers import Answers
        from aclkit.audit.serve.app import Limits
        from aclkit.audit.serve.server import Serving, prepare
    except ModuleNotFoundError as error:
        raise SurroundingsError(
            f"aclkit serve needs {missing_package(error)}, which is not installed; "
            "next: pip install 'aclkit[serve]'"
        ) from None
    from aclkit.cli.report import judge_of

    warehouse, listen = context.asked_warehouse(), str(chosen["listen"])
    serving = picked(Serving, chosen, warehouse=warehouse, cluster=context.cluster)
    prepared = prepare(
        serving,
        Answers(judge_of(chosen), context.max_age or timedelta(days=1)),
        Limits(seconds=timeout),
    )
    if not is_loopback(listen):
        tell(
            f"warning: others than this machine reach {listen}, by plain HTTP: who listens reads "
            "the token and the answers; put a proxy with TLS in front: docs/serve.md"
        )
    tell(f"serving {warehouse}, read-only; Ctrl-C ends it. Open:")
    tell(prepared.address)
    prepared.run()
