"""The command serve: a warehouse → its pages, on this machine, until it is ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import click

from aclkit.cli.baseline_options import baseline_options
from aclkit.cli.context import Context
from aclkit.cli.help import question
from aclkit.cli.options import option, picked, timeout_option, together
from aclkit.cli.output import tell
from aclkit.runtime.environment import missing_package, not_installed
from aclkit.runtime.uri import is_loopback

_PORT: Final = 8377


door_options: Final = together(
    option(
        "--allow-host",
        multiple=True,
        metavar="NAME",
        help="Another accepted host name, as a proxy passes it on. Repeatable.",
    ),
    option(
        "--trusted-proxy",
        multiple=True,
        metavar="ADDRESS",
        help="Address or network that can set --user-header. Repeatable.",
    ),
    option(
        "--user-header",
        default="X-Forwarded-User",
        metavar="NAME",
        help="Header with the user's name.",
    ),
    option(
        "--token-file",
        metavar="FILE",
        help="File with the token, which is then not printed. Default: a new token.",
    ),
)
"""Who may come in; ``Serving`` has them as fields."""


@question("serve")
@option("--listen", default="127.0.0.1", metavar="ADDRESS", help="Address to listen on.")
@option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=_PORT,
    metavar="N",
    help="Port; 0 picks a free one.",
)
@door_options
# Neither from the environment nor a TOML file, where reviews is for other commands: whether serve
# writes is asked for by name.
@option(
    "--reviews",
    metavar="DIR",
    envvar=None,
    help="Also take decisions for the reviews in DIR, from users whom the proxy names.",
)
@timeout_option("Time limit per question.", 10.0, most=3_600)
@baseline_options
@click.pass_obj
def serve(context: Context, /, timeout: float, **chosen: object) -> None:
    """Open the warehouse in a browser, read-only.

    \b
    Example:
      aclkit serve
      aclkit serve --port 0 --baseline conf/baseline.json
      aclkit serve --listen 10.0.0.7 --allow-host acls.example.org --trusted-proxy 10.0.0.8

    The pages answer who-can, what-can, why, history and preview, and show findings. They change
    nothing. To open a page, you need the token in the address that serve prints. Every answer is of
    the newest published run. serve needs an extra: pip install 'aclkit[serve]'.

    With --reviews, users whom a --trusted-proxy names in --user-header decide items of open
    reviews. These decisions are all that is ever written.
    """
    # Here, so that help and other commands do without these packages.
    try:
        from aclkit.audit.serve.answers import Answers
        from aclkit.audit.serve.listening import Serving
        from aclkit.audit.serve.server import prepare
        from aclkit.audit.serve.workers import Limits
    except ModuleNotFoundError as error:
        raise not_installed("aclkit serve", missing_package(error), "serve") from None
    from aclkit.cli.report import judge_of

    warehouse, listen = context.asked_warehouse(), str(chosen["listen"])
    serving = picked(Serving, chosen, warehouse=warehouse, cluster=context.cluster)
    prepared = prepare(
        serving,
        Answers(judge_of(chosen), context.max_age or timedelta(days=1)),
        Limits(seconds=timeout),
    )
    tell_plain_http(listen)
    how = "read-only" if serving.reviews is None else f"writing decisions to {serving.reviews}"
    tell(f"serving {warehouse}, {how}; Ctrl-C ends it. Open:")
    tell(prepared.address)
    prepared.run()


def tell_plain_http(listen: str) -> None:
    """Warn where others than this machine reach an address."""
    if not is_loopback(listen):
        tell(
            f"warning: others than this machine reach {listen}, by plain HTTP: who listens reads "
            "the token and the answers; put a proxy with TLS in front: docs/serve.md"
        )
