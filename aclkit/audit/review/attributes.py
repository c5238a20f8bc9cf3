"""Rows of owners, CSV or TOML → owner, purpose, class, contact and logins of items. Pure.

A row names a principal, a resource, or both, as globs over the texts of an item. ``User:*`` is
everyone, as in Kafka; all principals are ``*``. Each field comes from the first row of the file
that matches the item and has the field. ``logins`` are users who can decide in the browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from aclkit.audit.review.document import About
from aclkit.audit.review.items import Item
from aclkit.errors import UsageError
from aclkit.model.glob import glob_matches
from aclkit.model.phrases import listed
from aclkit.model.principal import WILDCARD_PRINCIPAL

SUBJECTS: Final = ("principal", "resource")
FIELDS: Final = ("owner", "purpose", "class", "contact", "logins")
COLUMNS: Final = (*SUBJECTS, *FIELDS)

PERSON, THIRD_PARTY, APPLICATION, SYSTEM = "person", "third-party", "application", "system"
CLASSES: Final = (PERSON, THIRD_PARTY, APPLICATION, SYSTEM)
"""What an account is; PCI DSS reviews the first two by another requirement than the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerRow:
    """A row of an owners' file; a field is empty where the row does not have it."""

    principal: str
    resource: str
    fields: Mapping[str, str]


def read_rows(rows: Iterable[Mapping[str, str | None]], source: str) -> list[OwnerRow]:
    """Read rows by their columns.

    Raises:
        UsageError: a row names neither a principal nor a resource, or its class is unknown.
    """
    return [_row(row, f"{source}, row {number}") for number, row in enumerate(rows, start=1)]


def _row(row: Mapping[str, str | None], where: str) -> OwnerRow:
    texts = {name: (row.get(name) or "").strip() for name in COLUMNS}
    if not texts["principal"] and not texts["resource"]:
        raise UsageError(f"{where}: pass a principal, a resource such as topic:payments.*, or both")
    if texts["class"] and texts["class"] not in CLASSES:
        raise UsageError(
            f"{where}: unknown class {texts['class']!r}. Expected {listed(CLASSES, 'or')}."
        )
    if not any(texts[name] for name in FIELDS):
        raise UsageError(f"{where}: pass at least one of {listed(FIELDS, 'or')}")
    return OwnerRow(
        principal=texts["principal"],
        resource=texts["resource"],
        fields={name: texts[name] for name in FIELDS if texts[name]},
    )


def attributes_of(items: Iterable[Item], rows: Sequence[OwnerRow]) -> dict[str, About]:
    """Return what rows say about items, by id; what has no owner has an empty one."""
    by_principal, by_resource = (
        cache(lambda text, name=name: frozenset(_matching(rows, name, text))) for name in SUBJECTS
    )
    found: dict[str, About] = {}
    for item in items:
        texts: dict[str, str] = {}
        for place in sorted(by_principal(item.principal) & by_resource(item.resource)):
            texts = {**rows[place].fields, **texts}
        found[item.item_id] = About(
            owner=texts.get("owner", ""),
            purpose=texts.get("purpose", ""),
            account=texts.get("class", ""),
            contact=texts.get("contact", ""),
            logins=tuple(texts.get("logins", "").split()),
        )
    return found


def _matching(rows: Sequence[OwnerRow], subject: str, text: str) -> Iterator[int]:
    for place, row in enumerate(rows):
        glob = getattr(row, subject)
        if not glob or names(glob, text):
            yield place


def names(glob: str, text: str) -> bool:
    """Whether a glob of a person names a text of an item.

    ``User:*`` is Kafka's principal for everyone, and not all principals that begin so.

    >>> names("User:*", "User:bob"), names("*", "User:bob"), names("User:*", "User:*")
    (False, True, True)
    """
    return glob == text or (glob != WILDCARD_PRINCIPAL and glob_matches(glob, text))
