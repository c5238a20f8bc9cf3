"""The commands serve and mcp: a warehouse → its pages, or tools for an assistant, until it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from aclkit.answer.formats import JSONL
from aclkit.cli.baseline_options import baseline_options
from aclkit.cli.context import Context
from aclkit.cli.help import command, question
from aclkit.cli.options import option, picked, timeout_option, together
from aclkit.cli.output import tell
from aclkit.errors import UsageError
from aclkit.runtime.environment import missing_package, not_installed
from aclkit.runtime.uri import is_loopback

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server


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


_LARGEST_PORT: Final = 65_535


@command("mcp")
@option(
    "--http",
    metavar="ADDRESS:PORT",
    help="Serve over streamable HTTP instead of stdio; port 0 picks a free one.",
)
@door_options
@timeout_option("Time limit per call.", 10.0, most=3_600)
@baseline_options
@click.pass_obj
def mcp(context: Context, /, http: str | None, timeout: float, **chosen: object) -> None:
    """Answer an assistant's questions over MCP, read-only.

    \b
    Example:
      aclkit --warehouse W mcp
      aclkit --warehouse W mcp --http 127.0.0.1:8378 --token-file token

    The Model Context Protocol (MCP) connects assistants such as Claude, VS Code and Cursor. The
    tools are who_can, what_can, why, history, changes, findings, denials, preview_add_acl, prove,
    tables and sql. They cannot change anything. By default the client starts this command and
    speaks over stdin and stdout. With --http, each request needs the token. Every answer is of the
    newest published run. mcp needs an extra: pip install 'aclkit[mcp]'.
    """
    listen, port = ("", 0) if http is None else _address(http)
    if http is None:
        _refuse_options_of_http()
    # Here, so that help and other commands do without these packages.
    try:
        server = _server(context, timeout, chosen)
    except ModuleNotFoundError as error:
        raise not_installed("aclkit mcp", missing_package(error), "mcp") from None
    if http is None:
        from aclkit.audit.mcp.server import run_on_stdio

        run_on_stdio(server)
        return
    # Here, so that stdio does not wait for a web server.
    from aclkit.audit.mcp.on_http import PATH, prepare_http
    from aclkit.audit.serve.listening import Serving

    warehouse = context.asked_warehouse()
    serving = picked(Serving, chosen, warehouse=warehouse, listen=listen, port=port)
    prepared = prepare_http(server, serving)
    tell_plain_http(listen)
    tell(f"Serving {warehouse} over MCP, read-only. Ctrl-C ends it. Address:")
    tell(f"{prepared.place}{PATH}")
    if prepared.token is not None:
        tell(f"Send this header: Authorization: Bearer {prepared.token}")
    prepared.run()


def _server(context: Context, timeout: float, chosen: Mapping[str, object]) -> Server[Any]:
    """Open the warehouse, and return what answers about it."""
    from aclkit.audit.mcp.server import Tools, make_server
    from aclkit.audit.serve.snapshot import open_latest
    from aclkit.audit.serve.workers import Limits
    from aclkit.cli.report import judge_of
    from aclkit.cli.sandbox import SqlQuestion, answer

    warehouse = context.asked_warehouse()
    question = SqlQuestion(warehouse=warehouse, statement="", output_format=JSONL)
    return make_server(
        Tools(
            warehouse=warehouse,
            latest=open_latest(warehouse, context.cluster),
            cluster=context.cluster,
            judge=judge_of(dict(chosen)),
            sql=lambda text, is_wanted: answer(
                replace(question, statement=text), timeout, is_wanted
            ),
            limits=Limits(seconds=timeout),
            max_age=context.max_age or timedelta(days=1),
        )
    )


def _refuse_options_of_http() -> None:
    """Refuse an option that was typed and would protect nothing.

    Raises:
        UsageError: one was.
    """
    ctx = click.get_current_context()
    for name in ("token_file", "allow_host", "trusted_proxy"):
        if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name.replace('_', '-')} needs --http.")


def _address(text: str) -> tuple[str, int]:
    """Read ``ADDRESS:PORT``.

    Raises:
        UsageError: it is none.

    >>> _address("127.0.0.1:8378"), _address("[::1]:0")
    (('127.0.0.1', 8378), ('[::1]', 0))
    """
    host, _, port = text.rpartition(":")
    is_number = port.isascii() and port.isdigit() and len(port) <= len(str(_LARGEST_PORT))
    if not host or not is_number or int(port) > _LARGEST_PORT:
        raise UsageError(f"Invalid --http {text!r}. Pass ADDRESS:PORT, such as 127.0.0.1:8378.")
    return host, int(port)
