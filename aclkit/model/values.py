"""``dataclass`` as the standard library has it, at a tenth of what it takes to make a class.

A command makes a hundred of these classes before it answers, and of most of them no object. For
each the standard library compiles six functions (0.6 ms with ``frozen`` and ``slots``). Here it
collects the fields, and a function is compiled when it is first called. ``fields``, ``replace`` and
``asdict`` take these classes as they take its own. A class of its own cannot inherit from a frozen
one of these, nor one of these from its own: that is an error when the class is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

    from _typeshed import DataclassInstance

    _Class = type[DataclassInstance]
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        kw_only: bool = False,
        eq: bool = True,
        repr: bool = True,
    ) -> type | Callable[[type], type]:
        """Make a dataclass of a class; the settings are those of ``dataclasses.dataclass``."""
        form = {"slots": slots, "kw_only": kw_only}
        made = partial(_made, kind=_Kind(frozen, eq, repr), form=form)
        return made if cls is None else made(cls)


class _Kind(NamedTuple):
    """What was asked for, beside what the standard library makes of a class anyway."""

    frozen: bool
    eq: bool
    repr: bool


def _made(given: type, kind: _Kind, form: dict[str, bool]) -> _Class:
    # Python itself says that a class has no hash where it has an ``__eq__`` of its own.
    own = {name for name, value in vars(given).items() if value is not None}
    cls: _Class = dataclasses.dataclass(init=False, repr=False, eq=False, **form)(given)
    functions: dict[str, object] = {"__init__": _later(cls, "__init__", partial(_init, kind))}
    if kind.repr and "__repr__" not in own:
        functions["__repr__"] = _repr
    if kind.eq and "__eq__" not in own:
        functions["__eq__"] = _later(cls, "__eq__", _eq)
    if kind.eq and "__hash__" not in own:
        functions["__hash__"] = _later(cls, "__hash__", _hash) if kind.frozen else None
    if kind.frozen:
        functions |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if kind.frozen and form["slots"] and "__getstate__" not in own:
        functions |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, function in functions.items():
        setattr(cls, name, function)
    return cls


_Source = tuple[Sequence[str], Sequence[str], dict[str, Any]]
"""Arguments, lines, and what these lines know."""


def _later(cls: _Class, name: str, write: Callable[[_Class], _Source]) -> Callable[..., object]:
    """Return a function of a class that compiles itself when it is first called."""

    def first(self: object, *given: object, **named: object) -> object:
        arguments, lines, known = write(cls)
        body = "\n  ".join(lines)
        exec(f"def {name}({', '.join(arguments)}):\n  {body}", known)
        compiled = known[name]
        compiled.__qualname__, compiled.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, compiled)
        return compiled(self, *given, **named)

    return first


_LATER = object()
"""The default of an argument whose value a factory makes, anew for each object."""


def _init(kind: _Kind, cls: _Class) -> _Source:
    known: dict[str, Any] = {"_set": object.__setattr__, "_LATER": _LATER}
    by_place, by_name, lines = ["self"], list[str](), list[str]()
    for each in dataclasses.fields(cls):
        name, of = each.name, f"_of_{each.name}"
        default, value, alone = "", name, None
        if each.default_factory is not dataclasses.MISSING:
            known[of] = each.default_factory
            default, value, alone = "=_LATER", f"{of}() if {name} is _LATER else {name}", f"{of}()"
        elif each.default is not dataclasses.MISSING:
            known[of] = each.default
            default, alone = f"={of}", of
        if each.init:
            (by_name if each.kw_only else by_place).append(f"{name}{default}")
        elif alone is None:
            continue  # ``__post_init__`` sets it
        else:
            value = alone
        lines.append(f"_set(self, {name!r}, {value})" if kind.frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return [*by_place, *(["*", *by_name] if by_name else [])], lines or ["pass"], known


def _eq(cls: _Class) -> _Source:
    lines = [
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return {_values('self', cls)} == {_values('other', cls)}",
    ]
    return ["self", "other"], lines, {}


def _hash(cls: _Class) -> _Source:
    return ["self"], [f"return hash({_values('self', cls)})"], {}


def _values(of: str, cls: _Class) -> str:
    """Write the tuple of what is compared."""
    names = (each.name for each in dataclasses.fields(cls) if each.compare)
    return f"({''.join(f'{of}.{name},' for name in names)})"


def _repr(self: DataclassInstance) -> str:
    names = (each.name for each in dataclasses.fields(self) if each.repr)
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
    return f"{self.__class__.__qualname__}({said})"


def _refuse_to_set(_: object, name: str, __: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: DataclassInstance) -> list[object]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: DataclassInstance, state: Iterable[object]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
