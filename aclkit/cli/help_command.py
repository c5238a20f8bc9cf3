"""The command help: the words of a command → its whole help."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from aclkit.cli.help import command


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
