"""What files hold → the answer of ``aclkit desired show``: each ACL and where it stands. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from aclkit.answer.document import Answer, Part, Row, Sentence, Table
from aclkit.answer.masked import Hidden
from aclkit.kafka.desired.model import DesiredAcl
from aclkit.kafka.desired.model import Part as FilePart
from aclkit.kafka.desired.read import Desired
from aclkit.model.acl import BINDING, Acl, acl_words
from aclkit.model.moment import until_words
from aclkit.model.phrases import few, listed, number_of

_USER: Final = "User:"
_PREFIXED: Final = "PREFIXED"

COLUMNS: Final = ("cluster_id", "acl_id", *BINDING, "file", "line", "address", "until")
"""The columns of ``acl_current`` that a file can fill, and where the ACL stands."""

OWN_CHANGE: Final = "A plan shows the state after it, and of its own ACLs only."


def desired_answer(desired: Desired) -> Answer:
    """Return all ACLs, in the order of the files; sensitive fields are whole for programs only."""
    return Answer(
        title="Desired ACLs",
        columns=COLUMNS,
        rows=map(_row, desired.acls),
        parts=lambda: _parts(desired),
        notes=tuple(_notes(desired)),
    )


def without_sensitive(each: DesiredAcl) -> Acl:
    """Return an ACL for people: a sensitive field is the address of its resource.

    >>> from aclkit.kafka.desired.model import Place
    >>> fields = dict.fromkeys(BINDING, "x")
    >>> acl = Acl(acl_id="", **{**fields, "principal": "User:secret"})
    >>> place = Place("plan.json", address="kafka_acl.a")
    >>> without_sensitive(DesiredAcl(acl, place, frozenset({"principal"}))).principal
    'User:(sensitive: kafka_acl.a)'
    """
    return replace(each.acl, **{name: text for name, (_, text) in hidden_fields(each).items()})


def hidden_fields(each: DesiredAcl) -> dict[str, tuple[str, str]]:
    """Return the sensitive fields, each with its value and what people read instead."""
    mark = f"(sensitive: {each.place.address or each.place})"
    return {
        name: (getattr(each.acl, name), f"{_USER}{mark}" if name == "principal" else mark)
        for name in sorted(each.sensitive)
    }


def hidden_in(parts: Iterable[FilePart]) -> list[Hidden]:
    """Return the sensitive values of files, of ACLs that go or stay too."""
    return hidden_values(
        acl
        for part in parts
        for acl in (*part.acls, *(acl for change in part.changes for acl in change.acls))
    )


def hidden_values(acls: Iterable[DesiredAcl]) -> list[Hidden]:
    """Return all sensitive values, a principal also by its name alone.

    >>> from aclkit.kafka.desired.model import Place
    >>> fields = dict.fromkeys(BINDING, "x")
    >>> acl = Acl(acl_id="", **{**fields, "principal": "User:ann"})
    >>> place = Place("plan.json", address="kafka_acl.a")
    >>> found = hidden_values([DesiredAcl(acl, place, frozenset({"principal"}))])
    >>> [(each.value, each.shown) for each in found]
    [('User:ann', 'User:(sensitive: kafka_acl.a)'), ('ann', '(sensitive: kafka_acl.a)')]
    """
    found: dict[Hidden, None] = {}
    for each in acls:
        for name, (value, shown) in hidden_fields(each).items():
            is_start = name == "resource_name" and each.acl.pattern_type == _PREFIXED
            found[Hidden(value, shown, is_start)] = None
            bare = value.removeprefix(_USER)
            if name == "principal" and bare not in (value, "*", ""):
                found[Hidden(bare, shown.removeprefix(_USER))] = None
    return list(found)


def _row(each: DesiredAcl) -> Row:
    place = each.place
    where = place.file, place.line or None, place.address or None
    return (each.cluster, None, *each.binding, *where, each.until)


def _parts(desired: Desired) -> Iterator[Part]:
    names = {part.document for part in desired.parts}
    rows = [_shown(each, has_file=len(names) > 1) for each in desired.acls]
    if rows:
        columns: tuple[str, ...] = ("principal", "acl", "place")
        if any(each.until for each in desired.acls):
            columns = (*columns, "until")
            rows = [(*row, _until(each)) for row, each in zip(rows, desired.acls, strict=True)]
        yield Table(columns, rows, Table(COLUMNS, map(_row, desired.acls)))
    forms = dict.fromkeys(part.form for part in desired.parts)
    files = few(names) if len(names) == 1 else number_of(len(names), "file")
    of = f" ({listed([*forms])})" if forms else ""
    yield Sentence(f"{number_of(len(rows), 'ACL')} in {files}{of}.")


def _shown(each: DesiredAcl, *, has_file: bool) -> Row:
    acl, place = without_sensitive(each), each.place
    where = str(place) if has_file else place.address or f"line {place.line}"
    return acl.principal, acl_words(acl, acl.principal), where


def _until(each: DesiredAcl) -> str:
    return "" if each.until is None else until_words(each.until)


def _notes(desired: Desired) -> Iterator[str]:
    yield from desired.notes
    if any(part.reach == "change" for part in desired.parts):
        yield OWN_CHANGE
