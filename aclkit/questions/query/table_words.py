"""Hosts, reasons, accesses → a few words, and a table for people. Pure, and without an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from aclkit.answer.document import Part, Sentence, Table
from aclkit.model.acl import ANY_OTHER, Acl, acl_words
from aclkit.rules.decide.rules import ALLOWED, DEFAULT_ALLOW, DEFAULT_DENY, SUPER_USER, Ruling

ANY_HOST: Final = "any"
_FEW: Final = 3


def few_hosts(hosts: Sequence[str], asked: Sequence[str]) -> str:
    """Write hosts that are decided alike: the others where they are few, or where any other is one.

    >>> few_hosts(["a", "b", "d", "e"], ["a", "b", "c", "d", "e"]), few_hosts("abcde", "abcdefghij")
    ('any but c', 'a, b, c and 2 more')
    >>> few_hosts(["<any-other>"], ["<any-other>", "a", "b"])
    'any but a, b'
    """
    if len(hosts) == len(asked):
        return ANY_HOST
    others = sorted(set(asked).difference(hosts))
    if others and (ANY_OTHER in hosts or (len(hosts) > _FEW and len(others) <= _FEW)):
        return f"any but {_listed(others)}"
    return _listed(hosts)


def _listed(hosts: Sequence[str]) -> str:
    more = len(hosts) - _FEW
    if more < 2:
        return ", ".join(hosts)
    return f"{', '.join(hosts[:_FEW])} and {more:,} more"


def hosts_words(hosts: str, known: Collection[str]) -> str:
    """Write the hosts of a row: ``*`` or names with commas between them."""
    if hosts == "*":
        return ANY_HOST
    return hosts if len(known) == 1 else few_hosts(hosts.split(","), sorted(known))


def short_reason(
    decision: str,
    rule: str,
    acl: Acl | None,
    principal: str | None,
    resource_type: str | None,
    *,
    has_any_host: bool = True,
) -> str:
    """Write what decides: an ACL, or the rule; the other arguments are those of ``acl_words``."""
    if acl is not None:
        return acl_words(acl, principal, resource_type, has_any_host=has_any_host)
    if rule == SUPER_USER:
        return "super user"
    if rule not in ("", DEFAULT_ALLOW, DEFAULT_DENY):
        return rule
    return "no ACL applies to it" if decision == ALLOWED else "no ACL allows it"


def ruling_words(ruling: Ruling) -> str:
    """Write a decision with the ACL or the rule that makes it."""
    acl = ruling.acl
    decision = ruling.decision.lower()
    if acl is not None:
        return f"{decision} by {acl_words(acl)}"
    return f"{decision} ({short_reason(ruling.decision, ruling.rule, None, None, None)})"


def acl_text(ruling: Ruling) -> str | None:
    """Return the ACL that decides, as kafka-acls prints it."""
    return None if ruling.acl is None else str(ruling.acl)


class AccessRow(NamedTuple):
    """Operations of one principal or on one resource, from hosts that are decided alike.

    Attributes:
        name: the principal or the resource.
        operations: in words.
        decision: of all of them.
        hosts: in words, see ``few_hosts``.
        because: what decides.
    """

    name: str
    operations: str
    decision: str
    hosts: str
    because: str


def access_parts(
    name: str,
    rows: Sequence[AccessRow],
    *,
    has_decision: bool,
    has_operations: bool = True,
    wide: Table | None = None,
) -> Iterator[Part]:
    """Yield a table of rows, before it the hosts that most of them have.

    Args:
        name: of the first column.
        rows: the rows; not empty.
        has_decision: the rows have different decisions.
        has_operations: the rows have different operations.
        wide: the table with every column.
    """
    usual = _usual_hosts(rows)
    if usual not in (None, ANY_HOST):
        rest = "" if all(row.hosts == usual for row in rows) else ", unless a row names others"
        yield Sentence(f"Client address: {_from_words(str(usual))}{rest}.")
    shown = {"operations": has_operations, "decision": has_decision}
    columns = (name, *(column for column, is_shown in shown.items() if is_shown), "because")
    cells = [
        (
            row.name,
            *([row.operations] if has_operations else []),
            *([row.decision] if has_decision else []),
            _because(row, usual),
        )
        for row in rows
    ]
    yield Table(columns, cells, wide)


def _usual_hosts(rows: Sequence[AccessRow]) -> str | None:
    """Return the hosts that at least half of the rows have."""
    ((usual, number),) = Counter(row.hosts for row in rows).most_common(1)
    return usual if number * 2 >= len(rows) else None


def _because(row: AccessRow, usual: str | None) -> str:
    """Write what decides, and the hosts unless the table or the ACL already names them."""
    if row.hosts == usual or row.because.endswith(f"{_FROM}{row.hosts}"):
        return row.because
    return f"{row.because}{_FROM}{_from_words(row.hosts)}"


def _from_words(hosts: str) -> str:
    if hosts == ANY_HOST:
        return "any host"
    return hosts.replace(_ANY_BUT, "any host but ", 1) if hosts.startswith(_ANY_BUT) else hosts


_FROM: Final = " from "
_ANY_BUT: Final = f"{ANY_HOST} but "


_MOST_NAMED: Final = 3
"""Hosts or principals that a sentence names."""


def few_names(names: Sequence[str]) -> str:
    """Write the first of some hosts or principals, and how many more there are."""
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown}{f' and {more} more' if more > 0 else ''}"
