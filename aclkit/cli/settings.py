"""Settings: a TOML file → the defaults of commands, and the warehouse of a folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from aclkit.cli.help import ConfigOption, Question
from aclkit.cli.options import GateOption, parse_age
from aclkit.errors import UsageError
from aclkit.model.values import dataclass
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


SETTINGS: Final = "aclkit.toml"
WAREHOUSE: Final = "warehouse"

_SAID: Final = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWarehouse:
    """The settings found in a folder.

    Attributes:
        warehouse: folder or URI of the tables.
        cluster: the selected cluster, where it is set.
        storage: how the warehouse's storage is reached, see ``runtime.storage_settings``.
        max_age: how old an answer may be without a warning, where it is set.
        where: the file or folder that they come from.
    """

    warehouse: str
    cluster: str | None = None
    storage: object = field(default_factory=dict)
    max_age: timedelta | None = None
    where: str

    @property
    def place(self) -> str:
        """The warehouse, and the address of its store where the folder sets one."""
        endpoint = self.storage.get("endpoint") if isinstance(self.storage, dict) else None
        return f"{self.warehouse} at {endpoint}" if endpoint else self.warehouse

    @property
    def words(self) -> str:
        """Which warehouse is used, and why."""
        is_settings = self.where == f"./{SETTINGS}"
        return f"Using {self.place} (from {SETTINGS})." if is_settings else f"Using {self.where}."


def find(ctx: click.Context, env: Mapping[str, str] = os.environ) -> FoundWarehouse | None:
    """Return what a command may take from the folder in which it was started."""
    is_told = any(
        one.get_parameter_source(str(param.name)) in _SAID
        for one in _chain(ctx)
        for param in one.command.params
        if isinstance(param, GateOption) or param.name == _CONFIG
    )
    if env.get("CI") or is_told or not isinstance(ctx.command, Question):
        return None
    return look_around()


_CONFIG: Final = "config"
"""The option that names the file of settings: no other one is looked for."""


def look_around(folder: Path = Path()) -> FoundWarehouse | None:
    """Return the settings of ``aclkit.toml``, or the folder ``warehouse`` if it has tables.

    Raises:
        UsageError: the file cannot be read, or has another value where a text is expected.
    """
    file = folder / SETTINGS
    if file.is_file():
        said = parse_toml(read_text(str(file)), str(file))
        warehouse, cluster = (_text(said, key, str(file)) for key in ("warehouse", "cluster"))
        if warehouse is not None:
            storage = said.get(SECTION, {})
            return FoundWarehouse(
                warehouse=warehouse,
                cluster=cluster,
                storage=storage,
                max_age=_max_age(said, str(file)),
                where=f"./{file}",
            )
    if is_warehouse(folder / WAREHOUSE):
        return FoundWarehouse(warehouse=str(folder / WAREHOUSE), where=f"./{folder / WAREHOUSE}")
    return None


def is_warehouse(folder: Path) -> bool:
    """Whether a folder looks like a warehouse in which something was published."""
    return (folder / "job_run" / "_delta_log").is_dir()


def none_named(folder: Path = Path()) -> UsageError:
    """Return the error of a command without a warehouse; it names one that is near."""
    ctx = click.get_current_context(silent=True)
    asked = ctx.command_path if ctx else "aclkit"
    if (folder / SETTINGS).is_file():
        return UsageError(f"No warehouse given. Did you mean: {asked} --config {SETTINGS}")
    inside = folder / WAREHOUSE
    near = [path for path in (inside, *sorted(inside.glob("*"))) if is_warehouse(path)]
    if near:
        meant = shlex.join(["--warehouse", str(near[0])])
        return UsageError(f"No warehouse given. Did you mean: {asked} {meant}")
    return UsageError(
        "No warehouse given. Pass --warehouse DIR or set ACLKIT_WAREHOUSE. To write settings: "
        "aclkit init"
    )


def _max_age(said: Mapping[str, object], where: str) -> timedelta | None:
    text = _text({key.replace("_", "-"): value for key, value in said.items()}, "max-age", where)
    if text is None:
        return None
    try:
        return parse_age(text)
    except UsageError as error:
        raise UsageError(f"{where}: max-age: {error}") from None


def _text(said: Mapping[str, object], key: str, where: str) -> str | None:
    value = said.get(key)
    if value is None or isinstance(value, str):
        return value
    raise UsageError(f"{where}: {key}: expected text, found {value!r}.")


def _chain(ctx: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of a command and of the groups that it is in, the outermost last."""
    yield ctx
    if ctx.parent is not None:
        yield from _chain(ctx.parent)
