"""The command completion: a shell → its script; and a word that was begun → what it can be.

A shell asks at a key press: what takes longer than a second, or fails, is no answer. Names come
from strangers, and bash puts them into the line as they are: one that it would not take for a plain
word is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import TYPE_OF_WORD

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


SECONDS: Final = 1.0
MOST: Final = 200
PLAIN: Final = r"[A-Za-z0-9][A-Za-z0-9._:@%+=,/-]*"
_EVERY: Final = "ANY"

_PRINCIPALS: Final = "SELECT DISTINCT principal AS name FROM principal"
_RESOURCES: Final = "SELECT DISTINCT resource_name AS name FROM resource WHERE resource_type = ?"
_BEGIN: Final = """
SELECT name FROM ({}) WHERE starts_with(name, ?) AND regexp_full_match(name, ?)
ORDER BY name LIMIT ?"""


def complete_operation(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Return operations; ANY is all of them."""
    names = {name for names in OPERATIONS_OF_TYPE.values() for name in names} | {_EVERY}
    return sorted(name for name in names if name.startswith(begun.upper()))


def complete_request(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Return operations, and requests by Kafka's names."""
    from aclkit.rules.decide.handlers import REQUESTS

    names = sorted({request.name for request in REQUESTS})
    found = [name for name in names if name.lower().startswith(begun.lower())]
    return [*complete_operation(ctx, param, begun), *found]


def complete_can(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Return tasks, operations and requests."""
    from aclkit.questions.query.tasks import TASKS

    tasks = [name for name in TASKS if name.startswith(begun)]
    return [*tasks, *complete_request(ctx, param, begun)]


def complete_finding(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Return the kinds of findings."""
    from aclkit.audit.findings.registry import KINDS

    return [name for name in KINDS if name.startswith(begun)]


def complete_principal(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return principals of the inventory."""
    return _names(ctx, _PRINCIPALS, [], begun)


def complete_resource(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return types of resources, and after the colon names of the inventory."""
    word, colon, name = begun.partition(":")
    if not colon:
        words = (w if w == "cluster" else f"{w}:" for w in TYPE_OF_WORD)
        return [said for said in words if said.startswith(begun)]
    names = _names(ctx, _RESOURCES, [TYPE_OF_WORD.get(word)], name)
    return [f"{word}:{name}" for name in names]


def complete_subject(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Return principals and resources."""
    return [*complete_principal(ctx, param, begun), *complete_resource(ctx, param, begun)]


def _names(ctx: click.Context, query: str, values: list[str | None], begun: str) -> list[str]:
    def read() -> list[str]:
        from aclkit.cli.settings import find
        from aclkit.warehouse.duck import open_tables

        named = ctx.ensure_object(Context).warehouse
        found = None if named else find(ctx)
        with open_tables(found.warehouse if found else named, _NAMES_ONLY) as (_, tables):
            given = [*values, begun, PLAIN, MOST]
            return [name for (name,) in tables.execute(_BEGIN.format(query), given).fetchall()]

    return within(SECONDS, read)


def within(seconds: float, read: Callable[[], list[str]]) -> list[str]:
    """Return what is read in time; nothing where it takes longer, or cannot be read."""
    # Here, as what reads names: commands take their words from this module too.
    from aclkit.runtime import deadline

    with suppress(Exception):  # a key press has no place for a message
        return deadline.within(seconds, read)
    return []


_NAMES_ONLY: Final[dict[str, dict[str, str]]] = {"principal": {}, "resource": {}}
"""Nothing of the past is opened."""
