"""Dataclasses that are quick to make: each behaves as the standard library's own."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace

import pytest

from aclkit.model import values

BOTH = pytest.mark.parametrize("dataclass", [dataclasses.dataclass, values.dataclass])


def made(dataclass, **settings):
    @dataclass(**settings)
    class Thing:
        """A thing."""

        a: int
        b: str = "x"
        c: list[int] = field(default_factory=list)
        d: int = field(default=7, compare=False, repr=False)

    return Thing


FORMS = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "eq": False, "repr": False},
]


def told(action):
    """Return what an action gives, or its error, without the name of the test."""
    try:
        found = action()
    except (TypeError, FrozenInstanceError) as error:
        return type(error), str(error).rpartition(".")[2]
    return str(found).rpartition(".")[2]


@pytest.mark.parametrize("settings", FORMS, ids=str)
@pytest.mark.parametrize(
    "action",
    [
        lambda one: one(),
        lambda one: one(1, "y"),
        lambda one: one(a=1, z=2),
        lambda one: one(a=1).c is one(a=1).c,
        lambda one: one(a=1) == one(a=1, d=8),
        lambda one: one(a=1) == one(a=2),
        lambda one: one(a=1) == 1,
        lambda one: one(a=1) != one(a=1),
        lambda one: asdict(one(a=1, c=[2])),
        lambda one: asdict(replace(one(a=1), b="z")),
        lambda one: [(f.name, f.default, f.kw_only) for f in fields(one)],
        # Where there is no equality, the hash is that of the place in memory.
        lambda one: (
            one.__hash__ is object.__hash__ or hash(one(a=1, c=())) == hash(one(a=1, c=(), d=8))
        ),
        lambda one: setattr(one(a=1), "a", 2),
        lambda one: delattr(one(a=1), "a"),
        lambda one: one.__match_args__,
        lambda one: hasattr(one(a=1), "__dict__"),
        lambda one: asdict(copy.copy(one(a=1, c=[3]))),
        lambda one: one.__doc__,
    ],
)
def test_it_does_what_the_standard_library_does(settings, action):
    ours, theirs = (made(each, **settings) for each in (values.dataclass, dataclasses.dataclass))
    # Twice: the first call of a function compiles it.
    assert [told(lambda: action(ours)) for _ in range(2)] == [told(lambda: action(theirs))] * 2


def test_it_is_written_as_the_standard_library_writes_it():
    ours, theirs = (made(each)(1) for each in (values.dataclass, dataclasses.dataclass))
    assert repr(ours) == repr(theirs)


@BOTH
def test_what_a_class_says_itself_stays(dataclass):
    @dataclass(frozen=True, slots=True)
    class Own:
        a: int

        def __eq__(self, other):
            return True

        def __repr__(self):
            return "own"

    assert (Own(1) == 2, repr(Own(1)), hash(Own(1)) == hash(Own(1))) == (True, "own", True)


@BOTH
def test_what_is_done_after_init_is_done(dataclass):
    @dataclass(frozen=True, slots=True)
    class Sum:
        a: int
        b: int
        total: int = field(init=False)

        def __post_init__(self):
            object.__setattr__(self, "total", self.a + self.b)

    assert (Sum(1, 2).total, replace(Sum(1, 2), b=5).total) == (3, 6)


@BOTH
def test_a_class_may_inherit_from_one_of_its_kind(dataclass):
    @dataclass(frozen=True, kw_only=True)
    class Base:
        a: int
        b: int = 2

    @dataclass(frozen=True, kw_only=True)
    class Below(Base):
        c: int

    assert asdict(Below(a=1, c=3)) == {"a": 1, "b": 2, "c": 3}
    assert (Below(a=1, c=3) == Base(a=1), Base(a=1) == Base(a=1)) == (False, True)


def test_a_class_cannot_mix_the_two():
    ours = values.dataclass(frozen=True)(type("Ours", (), {}))
    theirs = dataclasses.dataclass(frozen=True)(type("Theirs", (), {}))
    with pytest.raises(TypeError, match="cannot inherit"):
        dataclasses.dataclass(frozen=True)(type("Below", (ours,), {}))
    with pytest.raises(TypeError, match="cannot inherit"):
        values.dataclass(frozen=True)(type("Below", (theirs,), {}))


@values.dataclass(frozen=True, slots=True)
class Sent:
    """A value that goes to another process."""

    a: int
    b: tuple[str, ...] = ()


def test_a_value_comes_back_from_another_process_as_it_was():
    assert pickle.loads(pickle.dumps(Sent(1, ("x",)))) == Sent(1, ("x",))
