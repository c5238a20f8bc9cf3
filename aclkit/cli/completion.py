"""The command completion: a shell's name → the script that completes aclkit in it."""

from __future__ import annotations

import os
from typing import Any, Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from aclkit.cli.help import command

_BASH: Final = """\
%(complete_func)s() {
    local IFS=$'\\n' type value
    while IFS=',' read -r type value; do
        if [[ $type == dir ]]; then
            compopt -o dirnames
        elif [[ $type == file ]]; then
            compopt -o default
        else
            COMPREPLY+=("$value")
            [[ $value == *: ]] && compopt -o nospace
        fi
    done < <(COMP_SAID="${COMP_LINE:0:$COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@add_completion_class
class Bash(BashComplete):
    """Completion in bash, to which ``topic:payments`` is three words, of which one is replaced."""

    source_template = _BASH
    _begun = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Read the line up to the cursor, and note what of its last word bash leaves as it is."""
        said = os.environ["COMP_SAID"]
        words = split_arg_string(said)[1:]
        last = words.pop() if words and not said[-1].isspace() else ""
        before = said.removesuffix(last)
        if last and before[-1] not in "\"'":  # within quotes bash breaks no word
            breaks = os.environ["COMP_BREAKS"]
            ends = (at for at, letter in enumerate(last, 1) if letter in breaks)
            self._begun = last[: max(ends, default=0)]
        return words, last

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return what bash puts in the place of its word."""
        return f"{item.type},{item.value.removeprefix(self._begun)}"


@command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script for shell completion.

    \b
    Example:
      eval "$(aclkit completion bash)"
      aclkit completion fish > ~/.config/fish/completions/aclkit.fish

    It completes commands, options, and the principals and resources of the warehouse that a
    question would read. Names that a shell cannot hold unchanged are left out. If the warehouse
    does not answer within a second, names are not completed.
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"Completion for {shell} does not exist.")
    click.echo(script(ctx.find_root().command, {}, "aclkit", "_ACLKIT_COMPLETE").source())
