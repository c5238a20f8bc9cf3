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

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
