"""A command → its help: ``-h`` the part that fits a screen, ``--help`` all of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

RARE: Final = frozenset(
    {
        *("--wide", "--columns", "--engine", "--known-only", "--lock-timeout", "--timeout"),
        *("--budget", "--budget-total", "--limit", "--rebuild", "--force", "--dense", "--full"),
        *("--leases", "--lease-notice"),
        *("--principal-builder", "--principal-builder-properties", "--principals", "--hosts"),
        *("--resources", "--extend", "--semantics", "--glob-patterns", "--identity-globs"),
        *(
            "--deciding-acl",
            "--wildcard-defect",
            "--cidr-hosts",
            "--authorizer",
            "--server-properties",
        ),
        *("--no-super-users", "--allow-everyone", "--broad-share", "--report"),
        *("--alert-style", "--alert-on", "--alert-timeout", "--alert-retries", "--alert-after"),
        *("--high-watermark", "--allow-empty", "--accept-holes", "--strict", "--output"),
        *("--delegation-token", "--user-principal", "--allow-host", "--deny-host", "--idempotent"),
        *("--bootstrap-server", "--bootstrap-controller", "--user-header", "--token-file"),
        *("--trusted-proxy", "--skew", "--log-timezone", "--max-age", "--file-mode"),
        *("--file-group", "--assume-single-writer", "--raw", "--decide-with"),
        *("--from", "--at", "--report-dir", "--of-cluster", "--operator", "--summary-env"),
        *("--reference", "--compare-settings", "--baseline", "--fail-on-new", "--old-log"),
        *(
            "--most-unread",
            "--automation",
            "--cluster-resource",
            "--report-formats",
            "--command-config",
            "--alert-webhook-file",
        ),
    }
)
"""Options that ``-h`` leaves out: few commands in a hundred need one."""

_EXAMPLE: Final = "\b\nExample:\n"


class Command(click.Command):
    """A command with both helps."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options, with ``-h`` before ``--help``."""
        params = super().get_params(ctx)
        return [*params[:-1], _SHORT, *params[-1:]] if self.get_help_option(ctx) else params

    @property
    def short_text(self) -> str:
        """The first paragraph of the help, and the examples."""
        text = inspect.cleandoc(self.help or "")
        first = text.partition("\n\n")[0]
        examples = text.partition(_EXAMPLE)[2].partition("\n\n")[0]
        return f"{first}\n\n{_EXAMPLE}{examples}" if examples else first

    def format_short_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that most people need."""
        is_short = any(param.opts == ["-o"] for param in self.params)
        left_out = RARE | {"--format"} if is_short else RARE  # -o lists the formats
        found = [
            record
            for param in self.params
            if isinstance(param, click.Option) and left_out.isdisjoint(param.opts)
            if (record := param.get_help_record(ctx)) is not None
        ]
        if found:
            with formatter.section("Options"):
                formatter.write_dl(found)


class Question(Command):
    """A command that only reads, and whose exit code is no gate unless an option makes it one.

    A person asks it, so it finds the warehouse of the folder (``discover_warehouse``).
    """


class Group(Command, click.Group):
    """A group of commands, with both helps."""

    command_class = Command

    def format_short_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; the few options of a group are in ``--help``."""
        self.format_commands(ctx, formatter)


class Questions(Group):
    """A group whose own commands are questions."""

    command_class = Question


class QuestionGroup(Question, Group):
    """A group that is a question itself, where no command of it is named."""


def command(name: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function, as ``click.command`` does."""
    return click.command(name, cls=Command)


def question(name: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a question of a function."""
    return click.command(name, cls=Question)


def short_help(ctx: click.Context) -> str:
    """Return the help that fits a screen: usage, purpose, examples and the usual options."""
    asked = ctx.command
    formatter = ctx.make_formatter()
    asked.format_usage(ctx, formatter)
    if isinstance(asked, Command):
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(asked.short_text)
        asked.format_short_options(ctx, formatter)
    formatter.write_paragraph()
    formatter.write(f"For all options and details: {ctx.command_path} --help\n")
    return formatter.getvalue()


def _show_short(ctx: click.Context, _: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(short_help(ctx), nl=False)
        ctx.exit()


_SHORT: Final = click.Option(
    ["-h", "_short_help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_short,
    help="Show the most used options and exit.",
)


def _complete(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    return ctx.find_root().command.shell_complete(ctx.find_root(), begun)


@command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_complete)
@click.pass_context
def help_(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Show the whole help of a command.

    \b
    Example:
      aclkit help
      aclkit help why
      aclkit help prove no-more

    aclkit help COMMAND and aclkit COMMAND --help print the same.
    """
    asked = ctx.find_root()
    for word in words:
        group = asked.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{asked.command_path} has no subcommands.", ctx)
        _, found, _ = group.resolve_command(asked, [word])
        if found is not None:
            asked = click.Context(found, info_name=word, parent=asked)
    click.echo(asked.get_help())
