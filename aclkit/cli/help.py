"""Commands and groups, imported when they are asked for → their helps, from an index of them all.

``-h`` is the part of a help that fits a screen, ``--help`` all of it. The index is written from the
commands themselves (``described``) and lies in the package, so that help, completion and a TOML
file are read without importing a single command.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import click
from click.shell_completion import CompletionItem

from aclkit.model.values import dataclass
from aclkit.runtime.environment import missing_package, not_installed

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
            "--with-warehouse",
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
      aclkit help acls list

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


Takes = Literal["a text", "a number", "a whole number", "true or false"]
"""What an option takes."""

FILE: Final = "commands.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOption:
    """How a TOML file can set an option.

    Attributes:
        parameter: the name of its parameter in the command.
        takes: a kind of value.
        is_list: it is repeatable: a list in TOML.
    """

    parameter: str
    takes: Takes = "a text"
    is_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedCommand:
    """A command as the index has it: the first sentence of its help, and its options by name."""

    summary: str = ""
    options: dict[str, ConfigOption] = field(default_factory=dict)


@cache
def read_index() -> dict[str, IndexedCommand]:
    """Return the commands by their words, ``acls list``; the group itself has the empty name."""
    # By what has loaded this module, from a folder or from the archive of spark-submit:
    # importlib.resources does so too, and takes as long as half of a command's help.
    loader: Any = __spec__.loader
    text = loader.get_data(str(Path(__file__).parent / "data" / FILE)).decode()
    return {
        words: IndexedCommand(
            summary=said["summary"],
            options={name: ConfigOption(**option) for name, option in said["options"].items()},
        )
        for words, said in json.loads(text).items()
    }


def described(commands: Iterable[tuple[str, click.Command]]) -> dict[str, IndexedCommand]:
    """Return the index entries of commands, which are imported for that."""
    return {words: _described(command) for words, command in commands}


def _described(command: click.Command) -> IndexedCommand:
    """Return the first sentence and the options, under their long names.

    They are those of the environment: an option that it cannot give is one of the command line.
    """
    options = {
        max(option.opts, key=len).lstrip("-").replace("-", "_"): ConfigOption(
            parameter=option.name or "", takes=_takes(option), is_list=option.multiple
        )
        for option in command.params
        if isinstance(option, click.Option) and option.envvar and option.name != "config"
    }
    return IndexedCommand(summary=command.get_short_help_str(limit=_WHOLE), options=options)


def _takes(option: click.Option) -> Takes:
    if option.is_flag:
        return "true or false"
    if isinstance(option.type, click.types.IntParamType):
        return "a whole number"
    return "a number" if isinstance(option.type, click.types.FloatParamType) else "a text"


_WHOLE: Final = 1_000


Places = Mapping[str, tuple[str, str]]
"""Command → module under ``aclkit.cli`` and name in it, in the order of the help."""

Sections = Mapping[str, Places]
"""Heading → the commands below it, in the order of the help."""


class NotInstalled(click.Command):
    """A command that lacks a package: it accepts any words, and reports what is missing."""

    def __init__(self, name: str, error: ModuleNotFoundError) -> None:
        """Stand in for the command of this name, whose module raised ``error``."""
        self._package = missing_package(error)
        super().__init__(
            name,
            add_help_option=False,
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )

    def invoke(self, ctx: click.Context) -> None:
        """End with what is missing, and how to install it."""
        raise not_installed(ctx.command_path, self._package)


class LazyGroup(Group):
    """A group that imports the module of a command when the command is asked for."""

    old: ClassVar[Collection[str]] = ()
    """Commands that others took the place of: they run, and no list has them."""

    def __init__(self, *args: Any, sections: Sections, **settings: Any) -> None:  # noqa: ANN401 -- click
        """Make a group of the commands in ``sections``; the rest is click's own."""
        super().__init__(*args, **settings)
        self._sections = sections
        self._places = {name: at for places in sections.values() for name, at in places.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a user meets them."""
        return list(self._places)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the words begin with; a word that is none gets a likely one."""
        name = args[0]
        if name not in self._places and not name.startswith("-") and not ctx.resilient_parsing:
            # Here: only a mistake needs it.
            from aclkit.cli.suggestions import likely_command

            if likely := likely_command(name, self._places):
                raise click.UsageError(f"No such command {name!r}. Did you mean {likely}?", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return the command."""
        if cmd_name not in self._places:
            return None
        module, name = self._places[cmd_name]
        try:
            command: click.Command = getattr(import_module(f"aclkit.cli.{module}"), name)
        except ModuleNotFoundError as error:
            return NotInstalled(cmd_name, error)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of the commands, none of which is imported for that."""
        said, width = self._summaries(ctx), max(map(len, self._places))
        for heading, places in self._sections.items():
            with formatter.section(heading):
                shown = [name for name in places if name not in self.old]
                formatter.write_dl([(name.ljust(width), said[name]) for name in shown])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, and the options, that begin so; none is imported for that."""
        said = self._summaries(ctx)
        shown = (name for name in self._places if name not in self.old)
        names = [name for name in shown if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=said[name]) for name in names]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def _summaries(self, ctx: click.Context) -> dict[str, str]:
        chain = [str(ctx.info_name)] if ctx.parent is not None else []
        index, unknown = read_index(), IndexedCommand()
        return {name: index.get(" ".join((*chain, name)), unknown).summary for name in self._places}


COMMANDS: Final = "Commands"
"""The heading of a group that has one section."""


def walk(group: click.Group, ctx: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands of a group, groups in it too, each with its words: ``acls list``."""
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is not None:
            yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {words}", found) for words, found in walk(command, ctx))
