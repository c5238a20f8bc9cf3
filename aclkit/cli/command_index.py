"""The index of the commands → what each is for, and which options settings may give it.

It is written from the commands themselves (``described``) and lies in the package, so that help,
completion and a TOML file are read without importing a single command.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final, Literal

import click

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
    text = (files("aclkit.cli.data") / FILE).read_text(encoding="utf-8")
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
