"""The working directory of a question → its warehouse, where no option names one.

Only a person's questions look there (``help.Question``). Commands that write, that other programs
start, or that can fail a build (``assert``, ``prove``, a ``GateOption``) use only own options.
So a file that a stranger puts into the folder, for example with a merge request, changes neither
what they do nor what they find. For the same reason only these settings of a found file count: the
place of the tables, access to their storage, the cluster, and the age from which an answer warns.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from aclkit.cli.help import Question
from aclkit.cli.options import GateOption, parse_age
from aclkit.errors import UsageError
from aclkit.runtime.notation import parse_toml
from aclkit.runtime.safe_read import read_text
from aclkit.runtime.storage_settings import SECTION

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
