"""The command mcp: a warehouse → tools for an assistant, until its client closes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from aclkit.answer.render import JSONL
from aclkit.cli.baseline_options import baseline_options
from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.cli.options import option, picked, timeout_option
from aclkit.cli.output import tell
from aclkit.cli.serve import door_options, tell_plain_http
from aclkit.errors import UsageError
from aclkit.runtime.environment import missing_package, not_installed

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

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
        from aclkit.audit.mcp.on_stdio import run_on_stdio

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
