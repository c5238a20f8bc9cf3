"""Groups whose commands are imported when they are asked for: help never waits for Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from aclkit.cli.command_index import IndexedCommand, read_index
from aclkit.cli.help import Group
from aclkit.runtime.environment import missing_package, not_installed

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
                formatter.write_dl([(name.ljust(width), said[name]) for name in places])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, and the options, that begin so; none is imported for that."""
        said = self._summaries(ctx)
        names = [name for name in self._places if name.startswith(incomplete)]
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
