"""The command completion: a shell's name → the script that completes aclkit in it."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes aclkit's commands and options in a shell.

    \b
    Example:
      eval "$(aclkit completion bash)"
      aclkit completion fish > ~/.config/fish/completions/aclkit.fish
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(script(ctx.find_root().command, {}, "aclkit", "_ACLKIT_COMPLETE").source())
