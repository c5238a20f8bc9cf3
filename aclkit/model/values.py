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


class _Kind(NamedTuple):
    """What was asked for, beside what the standard library makes of a class anyway."""

    frozen: bool
    eq: bool
    repr: bool


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
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
    ) -> Any:  # noqa: ANN401 -- a class, or what makes one
        """Make a dataclass of a class; the settings are those of ``dataclasses.dataclass``."""
        form = {"slots": slots, "kw_only": kw_only}
        made = partial(_made, kind=_Kind(frozen, eq, repr), form=form)
        return made if cls is None else made(cls)


def _made(given: type[Any], kind: _Kind, form: dict[str, bool]) -> Any:  # noqa: ANN401 -- a class
    own = vars(given)
    # Python itself says that a class has no hash where it has an ``__eq__`` of its own.
    has_eq, has_hash, has_state = "__eq__" in own, own.get("__hash__"), "__getstate__" in own
    has_repr = "__repr__" in own
    cls: Any = dataclasses.dataclass(init=False, repr=False, eq=False, **form)(given)
    _compile_later(cls, "__init__", partial(_init, is_frozen=kind.frozen))
    if kind.repr and not has_repr:
        cls.__repr__ = _repr
    if kind.eq and not has_eq:
        _compile_later(cls, "__eq__", _eq)
    if kind.eq and not has_hash:
        cls.__hash__ = None
        if kind.frozen:
            _compile_later(cls, "__hash__", _hash)
    if kind.frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
        if form["slots"] and not has_state:
            cls.__getstate__, cls.__setstate__ = _state, _set_state
    return cls


_Source = tuple[Sequence[str], Sequence[str], dict[str, object]]
"""Arguments, lines, and what these lines know."""


def _compile_later(cls: Any, name: str, write: Callable[[Any], _Source]) -> None:  # noqa: ANN401 -- any class
    """Give a class a function that is compiled when it is first called."""

    def first(self: object, *given: object, **named: object) -> object:
        arguments, lines, known = write(cls)
        body = "\n  ".join(lines)
        exec(f"def {name}({', '.join(arguments)}):\n  {body}", known)  # noqa: S102 -- names of fields
        compiled: Any = known[name]
        compiled.__qualname__, compiled.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, compiled)
        return compiled(self, *given, **named)

    setattr(cls, name, first)


_LATER = object()
"""The default of an argument whose value a factory makes, anew for each object."""


def _init(cls: Any, *, is_frozen: bool) -> _Source:  # noqa: ANN401 -- any class
    known: dict[str, object] = {"_set": object.__setattr__, "_LATER": _LATER}
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
        lines.append(f"_set(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return [*by_place, *(["*", *by_name] if by_name else [])], lines or ["pass"], known


def _eq(cls: Any) -> _Source:  # noqa: ANN401 -- any class
    lines = [
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return {_values('self', cls)} == {_values('other', cls)}",
    ]
    return ["self", "other"], lines, {}


def _hash(cls: Any) -> _Source:  # noqa: ANN401 -- any class
    return ["self"], [f"return hash({_values('self', cls)})"], {}


def _values(of: str, cls: Any) -> str:  # noqa: ANN401 -- any class
    """Write the tuple of what is compared."""
    return f"({''.join(f'{of}.{name},' for name in _names(cls, 'compare'))})"


def _names(of: Any, which: str) -> Iterable[str]:  # noqa: ANN401 -- any class, or an object of one
    return (each.name for each in dataclasses.fields(of) if getattr(each, which))


def _repr(self: Any) -> str:  # noqa: ANN401 -- any object
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name in _names(self, "repr"))
    return f"{self.__class__.__qualname__}({said})"


def _refuse_to_set(_: object, name: str, __: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:  # noqa: ANN401 -- any object
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: Iterable[object]) -> None:  # noqa: ANN401 -- any object
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
