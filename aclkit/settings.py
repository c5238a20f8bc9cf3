"""Command line, environment and TOML → the settings that every command shares."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclkit.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every command knows.

    Attributes:
        warehouse: folder or URI of the Delta tables.
        cluster: the cluster that is meant, where one was named.
        verbose: let Spark and Ivy talk.
    """

    warehouse: str | None = None
    cluster: str | None = None
    verbose: bool = False

    def require_warehouse(self) -> str:
        """Return the warehouse.

        Raises:
            UsageError: none was named.
        """
        if not self.warehouse:
            raise UsageError("no warehouse was named: expected --warehouse DIR or ACLKIT_WAREHOUSE")
        if "://" in self.warehouse:
            return self.warehouse.rstrip("/")
        return str(Path(self.warehouse).resolve())


def read_config(path: str, commands: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Read a TOML file into click's default map.

    A key at the top holds for every command that has the option; a table named for a command
    holds for that command, ``[acls.list]`` for a command of a group. Dashes and underscores are
    the same.

    Args:
        path: the file.
        commands: option name → parameter name of each command, under its words, ``acls list``;
            of the group itself under the empty name.

    Raises:
        UsageError: no such file, no TOML, or a key that no command knows.
    """
    try:
        with Path(path).open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    return _defaults(path, content, commands, {})


def _defaults(
    path: str,
    table: Mapping[str, Any],
    commands: Mapping[str, Mapping[str, str]],
    inherited: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the defaults that a table gives to its own command and to those below it."""
    content = {_plain(key): value for key, value in table.items()}
    below: dict[str, dict[str, Mapping[str, str]]] = {}
    for words, options in commands.items():
        first, _, rest = words.partition(" ")
        if first:
            below.setdefault(first, {})[rest] = options
    tables = {_plain(name): name for name in below}
    own = {key: value for key, value in content.items() if key not in tables}
    _refuse_unknown(path, own, set().union(*commands.values()))
    values = {**inherited, **own}
    defaults: dict[str, Any] = _of_command(values, commands[""])
    for plain, name in tables.items():
        defaults[name] = _defaults(path, _table(path, content, plain), below[name], values)
    return defaults


def _of_command(values: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Keep what a command has an option for, under its parameter's name."""
    return {options[key]: value for key, value in values.items() if key in options}


def _plain(key: str) -> str:
    return key.replace("-", "_")


def _table(path: str, content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: expected [{name}] to be a table")
    return table


def _refuse_unknown(path: str, found: Iterable[str], known: set[str]) -> None:
    unknown = sorted(set(found) - known)
    if unknown:
        raise UsageError(
            f"{path}: unknown {', '.join(unknown)}; expected some of {', '.join(sorted(known))}"
        )
