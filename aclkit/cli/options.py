"""Options that several commands share, each also as ``ACLKIT_…`` and in the TOML file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aclkit.errors import UsageError
from aclkit.pipeline.plan import DECIDE_WITH
from aclkit.pipeline.sources.source_kinds import kinds_words

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from aclkit.warehouse.run import Rebuild

F = TypeVar("F", bound=Callable[..., Any])
_Record = TypeVar("_Record", bound="DataclassInstance")


class GateOption(click.Option):
    """An option with which a command is part of a script: its exit code or its file is a gate."""


def option(name: str, *more: str, **settings: Any) -> Callable[[F], F]:  # noqa: ANN401 -- click's own keywords
    """Make an option that the environment can give, as ``ACLKIT_NAME``; help shows its default."""
    plain = name.partition("/")[0].lstrip("-").replace("-", "_").upper()
    settings.setdefault("envvar", f"ACLKIT_{plain}")
    settings.setdefault("show_default", "default" in settings)
    return click.option(name, *more, **settings)


def flag(name: str, text: str) -> Callable[[F], F]:
    """Declare an option that is given or not."""
    return option(name, is_flag=True, help=text)


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Apply several option decorators in reading order."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def gathered(name: str, record: type, command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a command the options that a dataclass has as fields, as one argument."""

    @wraps(command)
    def gathering(*args: Any, **given: Any) -> Any:  # noqa: ANN401 -- whatever the command takes
        own = {field.name: given.pop(field.name) for field in fields(record) if field.name in given}
        return command(*args, **{name: record(**own)}, **given)

    return gathering


def picked(record: type[_Record], chosen: Mapping[str, Any], **more: object) -> _Record:
    """Make a record of the options whose names are its fields, and of what else is given."""
    own = {field.name: chosen[field.name] for field in fields(record) if field.name in chosen}
    return record(**own, **more)


class Text(click.ParamType[str]):
    """Any text; the environment gives several of them as lines, for they may hold spaces."""

    name = "text"
    envvar_list_splitter = "\n"


class FiniteRange(click.FloatRange):
    """A range of numbers; NaN is none, though it is neither below nor above any limit."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a number of the range."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def parse_age(text: str) -> timedelta:
    """Read how long ago something may have been: ``36h``, ``2d``.

    Raises:
        UsageError: it is no number with a unit.
    """
    number, unit = text.strip()[:-1], text.strip()[-1:]
    try:
        age = float(number) * _UNITS[unit]
    except (KeyError, ValueError, OverflowError):
        age = timedelta(0)
    if age <= timedelta(0):
        raise UsageError(f"Invalid duration {text!r}. Pass a number with m, h or d, as in 36h.")
    return age


_UNITS = {
    "m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)
}  # fmt: skip


def timeout_option(
    text: str, default: float, *, most: float | None = None, name: str = "--timeout"
) -> Callable[[F], F]:
    """Declare how many seconds something may take, more than none."""
    seconds = FiniteRange(min=0, min_open=True, max=most)
    return option(name, type=seconds, default=default, metavar="SECONDS", help=text)


lock_timeout_option = option(
    "--lock-timeout",
    type=FiniteRange(min=0),
    default=600.0,
    metavar="SECONDS",
    help="How long to wait for another run on this warehouse.",
)

replay_options = together(
    option(
        "--source",
        multiple=True,
        metavar="KIND:PATH",
        help=f"What to read. KIND is {kinds_words()}. Repeatable.",
    ),
    option(
        "--high-watermark",
        type=click.IntRange(min=0),
        metavar="N",
        help="Ignore rows at or above this offset: they are not committed.",
    ),
    flag(
        "--accept-holes",
        "Skip offsets, or lines of a listing, that cannot be read, and mark the run incomplete.",
    ),
    flag("--strict", "Exit with code 3 if any row is rejected."),
    option("--at", metavar="TIME", help="Time of a listing, ISO 8601. Default: now."),
    option("--command-config", metavar="FILE", help="Kafka client .properties for a live source."),
    timeout_option("Time limit for a live source.", 30.0),
    flag("--allow-empty", "Accept a listing without ACLs: it removes all known ones."),
)

decide_with_option = option(
    "--decide-with",
    type=click.Choice(DECIDE_WITH),
    default="auto",
    help="local: this machine. spark: Spark's tasks; its driver replays a small log. auto: local, "
    "or under spark-submit Spark's.",
)

inventory_options = together(
    option(
        "--principals",
        metavar="FILE",
        help="CSV, JSONL, Parquet or Delta file with the column principal.",
    ),
    option("--hosts", metavar="FILE", help="The same with the column host."),
    option(
        "--resources",
        metavar="FILE",
        help="The same with the columns resource_type, resource_name.",
    ),
    flag("--extend", "Add the files to the names in the log."),
    option(
        "--dense",
        type=click.Choice(["always", "never", "auto"]),
        default="auto",
        help="Write the explain table row by row. auto: up to 50 million rows.",
    ),
    flag("--full", "Decide everything again, even if nothing changed."),
    decide_with_option,
)

rebuild_options = together(
    flag("--rebuild", "Compute lost tables again from acl_log, or else from the source."),
    flag("--force", "With --rebuild: continue even if history is lost for good."),
)


def rebuild_of(chosen: Mapping[str, Any]) -> Rebuild | None:
    """Return what ``rebuild_options`` ask for.

    Raises:
        UsageError: ``--force`` stands alone.
    """
    if chosen["force"] and not chosen["rebuild"]:
        raise UsageError("--force needs --rebuild.")
    # Here, for help and questions do not wait for what runs need.
    from aclkit.warehouse.run import Rebuild

    return Rebuild(is_forced=chosen["force"]) if chosen["rebuild"] else None
