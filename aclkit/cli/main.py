"""The group ``aclkit``: shared options, exit codes, and which command lives where.

A command's module is imported when the command is asked for, so that help and questions never
wait for Spark, nor help for any of them.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Final, NoReturn

import click

import aclkit
from aclkit.cli.context import Context, kept
from aclkit.cli.help import LazyGroup, Sections, read_index
from aclkit.cli.options import flag, option, parse_age
from aclkit.cli.output import escape_streams, flush_output, is_unread, tell, tell_error
from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.model.visible import visible
from aclkit.runtime import signals
from aclkit.runtime.environment import missing_package, not_installed
from aclkit.runtime.permissions import parse_group, parse_mode, writing_as
from aclkit.runtime.progress import ProgressHandler
from aclkit.runtime.requests_made import REQUESTS

_ELSEWHERE: Final = {
    "who-can": ("who_can", "who_can"), "what-can": ("what_can", "what_can"),
    "denials": ("changes", "denials"),
    "assert": ("assertions", "assert_"), "run": ("nightly", "run"),
    "maintain": ("maintain", "maintain_"), "jars": ("maintain", "jars"),
    "doctor": ("maintain", "doctor"), "help": ("help", "help_"),
    "mcp": ("serve", "mcp"), "alert": ("report", "alert"), "demo": ("nightly", "demo"),
    "review": ("review_start", "review"),
}  # fmt: skip
"""Module and function of commands that are not in a module of their own name."""

_SECTIONS: Final[Sections] = {
    heading: {name: _ELSEWHERE.get(name, (name, name)) for name in names.split()}
    for heading, names in {
        "Ask": "can who-can what-can why show history sql",
        "Change": "changes diff preview prove desired acls",
        "Audit": "audit assert tidy remedy usage narrow denials review verify",
        "Run": "demo init doctor run watch replay materialize maintain jars completion help",
        "Share": "report serve mcp alert export",
    }.items()
}
_SELDOM: Final = frozenset([
    "show", "desired", "acls", "verify", "doctor", "replay", "materialize", "maintain",
    "narrow", "jars", "completion", "help", "mcp", "alert", "export",
])  # fmt: skip
"""Commands that ``-h`` only names."""


class AclkitGroup(LazyGroup):
    """The group of all commands: it ends with the exit code of the error's class."""

    old = frozenset(["prove"])

    def __call__(self, *args: Any, **settings: Any) -> Any:  # noqa: ANN401 -- click's own signature
        """Run as a program: signals end it, and so does a reader that wants no more."""
        signals.begin()
        is_asked_by_a_shell = COMPLETE in os.environ
        if is_asked_by_a_shell:  # and ours is to answer
            import_module("aclkit.cli.completion")
        try:
            return self.main(*args, **{"complete_var": COMPLETE, **settings})
        finally:
            signals.block_if_ending()
            flush_output()
            # Else Python looks for circles among all that was loaded, a twentieth of an answer.
            gc.freeze()
            if is_asked_by_a_shell:
                # A thread may still read names: do not wait for it, and do not interrupt it.
                os._exit(0)

    def main(self, *args: Any, **settings: Any) -> Any:  # noqa: ANN401 -- click's own signature
        """Run a command; no text is an error because stdout or stderr cannot encode it."""
        escape_streams()
        return super().main(*args, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept the shared options after the command too: ``aclkit run --config FILE``.

        An option that the command defines belongs to the command: ``acls list --cluster``.
        """
        if not all(map(_is_utf8, args)):
            ctx.fail(f"The command line is not UTF-8.{_locale_hint()}")
        return super().parse_args(ctx, _shared_first(self, ctx, args))

    @property
    def short_text(self) -> str:
        """The first sentence: with all commands below it there is no room for more."""
        return super().short_text.partition("\n")[0]

    def format_short_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each section with its heading; rarely needed ones by name only."""
        said = self._summaries(ctx)
        formatter.write_paragraph()
        for heading, places in _SECTIONS.items():
            lead = heading
            for name in (name for name in places if name not in {*_SELDOM, *self.old}):
                formatter.write(f"{lead:<7}{name:<10}{said[name]}\n")
                lead = ""
        rest = " ".join(name for name in self._places if name in _SELDOM)
        formatter.write(click.wrap_text(rest, 80, f"{'More':<7}", " " * 7) + "\n")

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 -- click's own signature
        """Run a command; an error of aclkit becomes one line on stderr and its exit code."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            if isinstance(error, BrokenPipeError) and is_unread():
                ctx.exit(_NOBODY_READS)
            if (plain := _explained(ctx, error)) is None:
                raise
            return _end(ctx, plain)


def _explained(ctx: click.Context, error: Exception) -> AclkitError | None:
    """Return an error as one of ours; None for a defect, which keeps its traceback."""
    if isinstance(error, AclkitError):
        return error
    if isinstance(error, ModuleNotFoundError):
        asked = f"{ctx.command_path} {ctx.invoked_subcommand} with these options"
        return not_installed(asked, missing_package(error))
    # Here: only what failed needs it.
    from aclkit.warehouse.damage import damage_of

    plain = None if isinstance(error, FileNotFoundError) else damage_of(error)
    if plain is not None or not isinstance(error, OSError):
        return plain
    where = f": {error.filename}" if error.filename else ""
    return SurroundingsError(f"{error.strerror or error}{where}")


COMPLETE: Final = "_ACLKIT_COMPLETE"
"""What a shell sets in the environment when it asks."""

_NOBODY_READS: Final = 141
"""The exit code of a program that SIGPIPE ended: its output is incomplete."""

_SHARED: Final = {
    "--warehouse": 1, "--config": 1, "--cluster": 1, "--max-age": 1,
    "--file-mode": 1, "--file-group": 1,
    "--assume-single-writer": 0, "--verbose": 0, "-v": 0,
}  # fmt: skip
"""Shared options and how many values each takes."""


def _shared_first(group: click.Group, ctx: click.Context, args: list[str]) -> list[str]:
    """Move shared options to the front; words after ``--`` stay where they are."""
    shared: list[str] = []
    own: list[str] = []
    command: click.Command = group
    rest = iter(args)
    for arg in rest:
        name, equals, _ = arg.partition("=")
        if arg == "--":
            own += [arg, *rest]
        elif name not in _SHARED or (command is not group and name in _option_names(command)):
            own.append(arg)
            if isinstance(command, click.Group) and not arg.startswith("-"):
                command = command.get_command(ctx, arg) or command
        elif equals:
            shared.append(arg)
        else:
            shared += [arg, *islice(rest, _SHARED[name])]
    return shared + own


def _option_names(command: click.Command) -> set[str]:
    return {name for param in command.params for name in (*param.opts, *param.secondary_opts)}


def _is_utf8(text: str) -> bool:
    """Whether Python could decode what it was given: other bytes became half surrogates."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _locale_hint() -> str:
    """Return how to have names read as UTF-8 where Python reads them by a narrower locale."""
    found = sys.getfilesystemencoding()
    if found == "utf-8":
        return ""
    return f" Python reads it as {found} here. For UTF-8 set PYTHONUTF8=1."


def _end(ctx: click.Context, error: AclkitError) -> NoReturn:
    signals.block_if_ending()
    tell_error(error)
    ctx.exit(error.exit_code)


def _load_config(ctx: click.Context, _: click.Parameter, path: str | None) -> str | None:
    if path is None:
        return None
    # Here, for without a file of settings nothing reads one.
    from aclkit.cli.settings import read_config
    from aclkit.runtime.storage_settings import storage_said

    try:
        options = {words: command.options for words, command in read_index().items()}
        ctx.default_map, storage = read_config(path, options)
        ctx.with_resource(storage_said(storage, path))
    except AclkitError as error:
        if not ctx.resilient_parsing:  # else a shell asks what may come next
            _end(ctx, error)
    return path


@click.group(
    cls=AclkitGroup,
    sections=_SECTIONS,
    context_settings={"help_option_names": ["--help"], "max_content_width": 100},
)
@click.version_option(aclkit.__version__, "--version", "-V", prog_name="aclkit")
@kept("--warehouse", "Folder of the warehouse.", metavar="DIR")
@kept("--cluster", "Cluster id, if the warehouse has several.", metavar="ID")
@option(
    "--config",
    metavar="FILE.toml",
    is_eager=True,
    expose_value=False,
    callback=_load_config,
    help="Read options from a TOML file.",
)
@option(
    "--max-age", metavar="DURATION", help="Warn if the newest run is older: 36h, 2d.  [default: 1d]"
)
@option(
    "--file-mode",
    metavar="OCTAL",
    help="Permissions of new files; folders get x where files get r.  [default: 0640]",
)
@option("--file-group", metavar="GROUP", help="Group of new warehouses and reports.")
@flag(
    "--assume-single-writer",
    "Allow object stores without conditional writes. Make sure only one run writes at a time.",
)
@kept("--verbose", "Show Spark's log and object-store requests.", "-v", is_flag=True)
@click.pass_context
def cli(
    ctx: click.Context,
    max_age: str | None,
    file_mode: str | None,
    file_group: str | None,
    *,
    assume_single_writer: bool,
) -> None:
    """Show who can do what on a Kafka cluster, and which ACL decides.

    \b
    Example:
      aclkit demo
      aclkit run --config aclkit.toml
      aclkit can User:alice READ topic:payments
      aclkit who-can READ topic:payments

    Pass any option on the command line, as ACLKIT_NAME in the environment, or in a TOML file. The
    command line overrides the environment, which overrides the file. Data goes to stdout, messages
    go to stderr. Exit codes: 0 success, 1 findings or failed checks, 2 usage error, 3 data unusable
    or incomplete, 4 environment error (Java, disk, permissions, lock), 130 and 143 ended by Ctrl-C
    or SIGTERM.
    """
    for name, value in os.environ.items():
        if name.startswith("ACLKIT_") and not _is_utf8(value):
            raise UsageError(f"{name} is not UTF-8.{_locale_hint()}")
    context = ctx.ensure_object(Context)
    if context.warehouse is not None and not context.warehouse.strip():
        raise UsageError("--warehouse is empty. Pass a folder or a URI.")
    mode = None if file_mode is None else parse_mode(file_mode)
    group = None if file_group is None else parse_group(file_group)
    ctx.with_resource(writing_as(mode, group))
    if assume_single_writer:
        from aclkit.runtime.storage_settings import single_writer_assumed

        ctx.with_resource(single_writer_assumed(assume_single_writer))
    context.max_age = None if max_age is None else parse_age(max_age)
    _tell_progress(is_shared=context.verbose)
    if context.verbose:
        ctx.call_on_close(_tell_requests)


def _tell_requests() -> None:
    if (said := REQUESTS.words()) is not None:
        tell(said)


class _Visible(logging.Formatter):
    """Formats a message as one line that acts on no terminal; a traceback keeps its lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible(super().formatMessage(record))


def _tell_progress(*, is_shared: bool = False) -> None:
    """Send aclkit's own log lines to stderr, as plain text, together with Spark's or alone."""
    logger = logging.getLogger("aclkit")
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    logger.handlers = [handler := ProgressHandler(is_shared=is_shared, dumb=is_dumb)]
    handler.setFormatter(_Visible("%(message)s"))
    logger.setLevel(logging.INFO)
    logger.propagate = False


DECIDING: Final = ("run", "replay", "materialize", "usage")
"""The commands that say where their work is done."""


def run_command(command: str, arguments: Sequence[str]) -> int:
    """Run a command with a job's arguments; return its exit code.

    The shared options (``--warehouse``, ``--cluster``, ``--config``) may stand anywhere. A job is
    Spark's work unless its arguments say otherwise.
    """
    own = ["--decide-with", "spark"] if command in DECIDING else []
    try:
        cli([command, *own, *arguments], prog_name="aclkit")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
