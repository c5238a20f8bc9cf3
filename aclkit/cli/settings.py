"""A TOML file → the defaults of all commands' options, for click, and its table ``[storage]``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from aclkit.cli.command_index import ConfigOption
from aclkit.errors import UsageError
from aclkit.runtime.notation import parse_toml, shown_key
from aclkit.runtime.safe_read import read_text
from aclkit.runtime.storage_settings import SECTION

Commands = Mapping[str, Mapping[str, ConfigOption]]
"""Command in words → name of an option → the option."""


def read_config(path: str, commands: Commands) -> tuple[dict[str, Any], object]:
    """Read a TOML file: the defaults of options, click's default map, and its table ``[storage]``.

    A key at the top holds for every command that has the option; a table named for a command
    holds for that command, ``[acls.list]`` for a command of a group. Dashes and underscores are
    the same. ``watch`` does what ``run`` does, so it begins with the options in ``[run]``.

    Args:
        path: the file.
        commands: the options of each command, under its words, ``acls list``; of the group
            itself under the empty name.

    Raises:
        UsageError: no such file, no TOML, a key that no command knows, or a value of another
            type than its option takes.
    """
    said = parse_toml(read_text(path), path)
    storage = said.pop(SECTION, {})
    return _defaults(path, said, commands, {}), storage


def _defaults(
    where: str, table: Mapping[str, Any], commands: Commands, inherited: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the defaults that a table gives to its own command and to those below it."""
    content = _plainly(table)
    below: dict[str, dict[str, Mapping[str, ConfigOption]]] = {}
    for words, options in commands.items():
        first, _, rest = words.partition(" ")
        if first:
            below.setdefault(first, {})[rest] = options
    tables = {_plain(name): name for name in below}
    own = {key: value for key, value in content.items() if key not in tables}
    _refuse_unknown(where, own, {key for known in commands.values() for key in known}, tables)
    for known in commands.values():
        _refuse_other_types(where, own, known)
    values = {**inherited, **own}
    options = commands[""]
    defaults = {options[key].parameter: value for key, value in values.items() if key in options}
    for plain, name in tables.items():
        inner = content.get(plain, {})
        if not isinstance(inner, dict):
            raise UsageError(f"{where}: [{name}] must be a table, not {inner!r}.")
        base = content.get(_BASED_ON.get(plain, ""), {})
        shared = {
            key: value
            for key, value in (base.items() if isinstance(base, dict) else ())
            if _plain(key) in below[name][""]
        }
        defaults[name] = _defaults(
            f"{where}: [{name}]", inner, below[name], {**values, **_plainly(shared)}
        )
    return defaults


_BASED_ON: Final = {"watch": "run"}
"""Command → the one whose table its own goes on from."""


def _plainly(table: Mapping[str, Any]) -> dict[str, Any]:
    return {_plain(key): value for key, value in table.items()}


def _plain(key: str) -> str:
    return key.replace("-", "_")


def _refuse_unknown(
    where: str, found: Mapping[str, Any], known: set[str], tables: Mapping[str, str]
) -> None:
    for key, value in found.items():
        if key in known:
            continue
        names = tables.values() if isinstance(value, dict) and tables else known
        raise UsageError(
            f"{where}: unknown key {shown_key(key)}. Keys: {', '.join(sorted(names))}."
        )


def _refuse_other_types(
    where: str, found: Mapping[str, Any], options: Mapping[str, ConfigOption]
) -> None:
    for key, value in found.items():
        if (option := options.get(key)) is None:
            continue
        if option.is_list != isinstance(value, list):
            wanted = f"a list, each of it {option.takes}" if option.is_list else option.takes
            raise UsageError(f"{where}: {key}: expected {wanted}, found {value!r}.")
        for item in value if option.is_list else [value]:
            if not isinstance(item, _TYPES[option.takes]) or (
                isinstance(item, bool) and option.takes in _NUMBERS
            ):
                raise UsageError(f"{where}: {key}: expected {option.takes}, found {item!r}.")


_NUMBERS: Final = ("a number", "a whole number")
_TYPES: Final = {
    # TOML knows times, and an option that takes one takes its text.
    "a text": (str, date),
    "a number": (int, float, str),
    "a whole number": (int, str),
    "true or false": (bool, str),
}
"""A text is taken everywhere, as the environment gives it; click reads it."""
