"""A TOML text → assertions, or an error that names the line and the key. Pure.

A name with ``*`` or ``?`` in it is a glob, every other one is literal. A table ``{literal = …}``,
``{prefixed = …}`` or ``{glob = …}`` sets the kind explicitly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn, TypeVar

from aclkit.errors import UsageError
from aclkit.model.host import parse_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import parse_principal
from aclkit.model.resource import parse_resource
from aclkit.model.symbol import PRINCIPALS, RESOURCES, refuse_symbol
from aclkit.questions.assertions.model import (
    KINDS,
    Assertion,
    Attributes,
    Kind,
    Pattern,
    ResourcePattern,
    What,
    Who,
)
from aclkit.rules.patterns.match import GLOB, LITERAL, PREFIXED
from aclkit.runtime.notation import parse_toml, shown_key

_WHO: Final = ("principals", "except_principals", "principal_attributes", "super_users")
_WHAT: Final = ("operations", "resources", "except_resources", "resource_attributes", "hosts")
_SETTINGS: Final = ("super_users", "inventory_only")
"""Keys that may stand at the top of the file too, for all its assertions."""

_COMMON: Final = ("name", "why", "inventory_only", *_WHO)
_OWN: Final[Mapping[str, tuple[str, ...]]] = {"at_most": (*_WHAT, "limit"), "separate": ("duties",)}
_FORMS: Final = {"literal": LITERAL, "prefixed": PREFIXED, "glob": GLOB}
_OPERATIONS: Final = frozenset(name for known in OPERATIONS_OF_TYPE.values() for name in known)

_T = TypeVar("_T")


def parse_assertions(text: str, source: str) -> list[Assertion]:
    """Read assertions in the order of the file.

    Args:
        text: TOML with tables ``[[never]]``, ``[[always]]``, ``[[only]]``, ``[[at_most]]`` and
            ``[[separate]]``.
        source: the name of the text in errors.

    Raises:
        UsageError: no TOML, an unknown key, an invalid value, or no assertion at all.
    """
    settings, tables = _read(parse_toml(text, source), source, text)
    found = [_assertion(table, settings) for table in tables]
    if not found:
        raise UsageError(f"{source}: expected assertions such as [[never]], found none")
    for name, times in Counter(assertion.name for assertion in found).items():
        if times > 1:
            raise UsageError(f"{source}: {times} assertions have the name {name!r}, expected one")
    return found


def parse_watches(text: str, source: str) -> list[Assertion]:
    """Read what is watched: tables ``[[watch]]`` with the keys of ``_WATCHED``.

    Raises:
        UsageError: no TOML, an unknown key, an invalid value, or nothing is watched.
    """
    content = parse_toml(text, source)
    if unknown := [key for key in content if key != _WATCH]:
        raise UsageError(f"{source}: unknown key {shown_key(unknown[0])}; expected [[{_WATCH}]]")
    tables = [
        _TomlTable(
            source=source, text=text, kind=_WATCH, number=n, values=values, name=values.get("name")
        )
        for n, values in enumerate(_tables(content.get(_WATCH, [])))
    ]
    if not tables:
        raise UsageError(f"{source}: expected tables [[{_WATCH}]], found none")
    return [_watch(table) for table in tables]


def _watch(table: _TomlTable) -> Assertion:
    table.refuse_unknown(_WATCHED)
    name = table.get("name", _text)
    if not name:
        table.refuse("name", "expected a name for what is watched")
    return Assertion(
        kind="never",
        name=name,
        why=table.get("why", _text),
        who=Who(
            names=table.get("principals", _patterns(_principal)),
            but=table.get("except_principals", _patterns(_principal)) or (),
        ),
        duties=(_what(table),),
    )


_WATCH: Final = "watch"
_WATCHED: Final = (
    "name",
    "why",
    "principals",
    "except_principals",
    "operations",
    "resources",
    "except_resources",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TomlTable:
    """A table of the file: it reads its keys, and reports the place of an invalid one."""

    source: str
    text: str
    kind: str
    number: int
    values: Mapping[str, object]
    name: object
    part: str = ""

    def get(self, key: str, read: Callable[[object], _T]) -> _T | None:
        """Read the value of a key; None where it is missing."""
        if key not in self.values:
            return None
        try:
            return read(self.values[key])
        except (UsageError, TypeError) as error:
            return self.refuse(key, str(error))

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """Insist that every key is known."""
        for key in self.values:
            if key not in known:
                self.refuse(key, f"unknown key; expected some of {', '.join(known)}")

    def refuse(self, key: str, problem: str) -> NoReturn:
        """Raise the error about a key."""
        line = _line_of(self.text, self.kind, self.number, key)
        name = f" {self.name!r}" if self.name else ""
        raise UsageError(
            f"{self.source}:{line or ''}{':' if line else ''} [[{self.kind}]]{name} "
            f"{self.part}{shown_key(key)}: {problem}"
        )


def _read(
    content: Mapping[str, object], source: str, text: str
) -> tuple[dict[str, bool], list[_TomlTable]]:
    """Return the settings of the file, and its tables."""
    settings: dict[str, bool] = {}
    tables: list[_TomlTable] = []
    for key, value in content.items():
        try:
            if key in _SETTINGS:
                settings[key] = _boolean(value)
            else:
                kind = _kind(key)
                for n, values in enumerate(_tables(value)):
                    name = values.get("name")
                    tables.append(
                        _TomlTable(
                            source=source, text=text, kind=kind, number=n, values=values, name=name
                        )
                    )
        except UsageError as error:
            line = _line_of(text, "", 0, key)
            raise UsageError(
                f"{source}:{f'{line}:' if line else ''} {shown_key(key)}: {error}"
            ) from None
    return settings, tables


def _kind(key: str) -> Kind:
    if key in KINDS:
        return key
    raise UsageError(f"unknown key; expected some of {', '.join((*KINDS, *_SETTINGS))}")


def _assertion(table: _TomlTable, settings: Mapping[str, bool]) -> Assertion:
    kind = _kind(table.kind)
    table.refuse_unknown((*_COMMON, *_OWN.get(kind, _WHAT)))
    name = table.get("name", _text)
    if not name:
        table.refuse("name", "expected a name for the assertion")
    supers, only_known = (
        settings.get(key) if found is None else found
        for key, found in ((key, table.get(key, _boolean)) for key in _SETTINGS)
    )
    limit = table.get("limit", _count)
    if kind == "at_most" and limit is None:
        table.refuse("limit", "expected the greatest number of principals")
    return Assertion(
        kind=kind,
        name=name,
        why=table.get("why", _text),
        who=_who(table, is_inverted=kind == "only", super_users=supers is not False),
        duties=_duties(table) if kind == "separate" else (_what(table),),
        limit=limit or 0,
        inventory_only=kind == "always" if only_known is None else only_known,
    )


def _who(table: _TomlTable, *, is_inverted: bool, super_users: bool) -> Who:
    names = table.get("principals", _patterns(_principal))
    if is_inverted and names is None and not table.values.get("principal_attributes"):
        table.refuse("principals", "expected principals, by name or by principal_attributes")
    return Who(
        names=names,
        but=table.get("except_principals", _patterns(_principal)) or (),
        attributes=table.get("principal_attributes", _attributes) or {},
        is_inverted=is_inverted,
        super_users=super_users,
    )


def _what(table: _TomlTable) -> What:
    what = What(
        operations=table.get("operations", _operations),
        names=table.get("resources", _patterns(_resource)),
        but=table.get("except_resources", _patterns(_resource)) or (),
        attributes=table.get("resource_attributes", _attributes) or {},
        hosts=table.get("hosts", _patterns(_host)),
    )
    for kind in {pattern.resource_type for pattern in what.names or ()}:
        if what.operations and not what.operations.intersection(OPERATIONS_OF_TYPE[kind]):
            known = ", ".join(OPERATIONS_OF_TYPE[kind])
            table.refuse("operations", f"none of them exists for {kind}, which has {known}")
    return what


def _duties(table: _TomlTable) -> tuple[What, ...]:
    found = table.get("duties", _tables) or ()
    if len(found) < 2:
        table.refuse("duties", f"expected two duties or more, found {len(found)}")
    duties = [
        replace(table, values=values, part=f"duties[{n}].")
        for n, values in enumerate(found, start=1)
    ]
    for duty in duties:
        duty.refuse_unknown(_WHAT)
    return tuple(_what(duty) for duty in duties)


def _line_of(text: str, kind: str, number: int, key: str) -> int | None:
    """Find the line of a key, or else of its table; None where the table is written otherwise.

    ``tomllib`` does not report where it found a value. Comments and multi-line texts that look like
    keys may mislead by a few lines; the error itself is reported all the same.
    """
    header, place = (None, 0) if kind else (0, 0)
    for at, line in enumerate(text.splitlines(), start=1):
        plain = "".join(line.split())
        if plain.startswith("[") and not plain.startswith(f"[[{kind}."):
            if header is not None and kind:
                return header
            if plain.startswith((f"[[{key}]]", f"[{key}]")):
                return at
            if plain.startswith(f"[[{kind}]]"):
                header = at if place == number else None
                place += 1
        elif header is not None and plain.startswith((f"{key}=", f'"{key}"=')):
            return at
    return header or None


def _patterns(read: Callable[[str, str], _T]) -> Callable[[object], tuple[_T, ...]]:
    """Return what reads a list of names, or one name, each in the form that it has."""

    def read_all(value: object) -> tuple[_T, ...]:
        items = value if isinstance(value, list) else [value]
        if not items:
            raise UsageError("expected one name or more, found an empty list")
        return tuple(read(*_form(item)) for item in items)

    return read_all


def _form(item: object) -> tuple[str, str]:
    """Return pattern type and text of a name."""
    if isinstance(item, str):
        return GLOB if "*" in item or "?" in item else LITERAL, item
    if isinstance(item, dict) and len(item) == 1:
        ((form, text),) = item.items()
        if form in _FORMS and isinstance(text, str):
            return _FORMS[form], text
    raise UsageError(f"expected a text, or one of {', '.join(_FORMS)} = a text, found {item!r}")


def _principal(pattern_type: str, text: str) -> Pattern:
    if text != "*":
        parse_principal(text)
    if pattern_type == LITERAL:
        refuse_symbol(PRINCIPALS, text)
    return Pattern(pattern_type, text)


def _resource(pattern_type: str, text: str) -> ResourcePattern:
    resource = parse_resource(text)
    if pattern_type == LITERAL:
        refuse_symbol(RESOURCES, resource.resource_name)
    return ResourcePattern(resource.resource_type, Pattern(pattern_type, resource.resource_name))


def _host(pattern_type: str, text: str) -> Pattern:
    return Pattern(pattern_type, parse_host(text) if pattern_type == LITERAL else text)


def _attributes(value: object) -> Attributes:
    if not isinstance(value, dict) or not value:
        raise UsageError(f"expected a table of attributes, found {value!r}")
    return {name: _patterns(Pattern)(wanted) for name, wanted in value.items()}


def _operations(value: object) -> frozenset[str] | None:
    names = [_text(item).upper().replace("-", "_") for item in _list(value)]
    unknown = [name for name in names if name not in _OPERATIONS and name != "ANY"]
    if unknown or not names:
        known = ", ".join(sorted(_OPERATIONS))
        found = ", ".join(map(shown_key, unknown)) or "none"
        raise UsageError(f"expected ANY or some of {known}, found {found}")
    return None if "ANY" in names else frozenset(names)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _tables(value: object) -> list[Mapping[str, object]]:
    tables = [item for item in _list(value) if isinstance(item, dict)]
    if not isinstance(value, list) or len(tables) != len(value):
        raise UsageError(f"expected a list of tables (with two brackets), found {value!r}")
    return [*tables]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"expected a text, found {value!r}")
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"expected true or false, found {value!r}")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UsageError(f"expected a number from 0, found {value!r}")
    return value
