"""Changes of ACLs by a certain principal × the principals of automation → changes by hand. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from aclkit.audit.findings.sentences import acls_words
from aclkit.errors import UsageError
from aclkit.model.acl import acl_words
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, number_of
from aclkit.questions.by_whom.match import ADDED
from aclkit.questions.by_whom.tables import CertainChange
from aclkit.runtime.notation import parse_tables, refuse_unknown, require_texts

REMOVED_WITHIN: Final = timedelta(days=30)
"""For so long a removal by hand is a finding; a new ACL is one as long as it is in force."""

CHANGED_BY_HAND: Final = Kind(
    id="changed-by-hand",
    severity="medium",
    summary="changes of ACLs by others than the automation",
    meaning=(
        "A principal that the file of --automation does not name created an ACL that is in force. "
        "Or it removed one within the last 30 days. The controllers' log shows no other candidate. "
        "The automation can undo the change, or never learn of it."
    ),
    fix=(
        "Put the change into the files of the automation, or undo it. If the principal is an "
        "automation, add it to the file of --automation."
    ),
)

Automation = Mapping[str, str]
"""Principal → what it is called."""


def find_by_hand(changes: Iterable[CertainChange], automation: Automation) -> Iterator[Finding]:
    """Yield the changes by others than the automation; those of one record time together.

    Args:
        changes: with one certain principal each, the oldest first.
        automation: the principals that are meant to change ACLs.
    """
    by_request = grouped(
        ((each.by.candidates[0][0], each.change, each.time), each) for each in changes
    )
    for (principal, _, _), same in by_request.items():
        if principal not in automation:
            yield _finding(principal, same, automation)


def _finding(principal: str, same: Sequence[CertainChange], automation: Automation) -> Finding:
    first, is_added = same[0], same[0].change == ADDED
    acls = [each.acl for each in same]
    hosts = " or ".join(dict.fromkeys(host for _, host in first.by.candidates))
    what = acl_words(acls[0]) if len(acls) == 1 else number_of(len(acls), "ACL")
    more = "" if len(acls) == 1 else f" The first is {acls_words(acls[:1])}."
    known = few(f"{name} ({who})" for who, name in automation.items())
    lines = [f"{first.change} at offset {each.log_offset}: {each.acl}" for each in same]
    return CHANGED_BY_HAND.about(
        f"{principal} {first.change} ACLs at offset {first.log_offset}",
        f"{principal}, from {hosts}, {'created' if is_added else 'removed'} {what} at "
        f"{first.time:%Y-%m-%d %H:%M:%S} UTC. Only {known} should change ACLs.{more}",
        acls=acls if is_added else (),
        evidence=() if is_added else lines,
    )


def parse_automation(text: str, source: str) -> dict[str, str]:
    """Read the principals that are meant to change ACLs: TOML tables ``[[automation]]``.

    Each has a ``principal`` and a ``name``, which is for people.

    Raises:
        UsageError: no TOML, an unknown key, one that is missing, or no table.
    """
    tables = parse_tables(text, source, "automation", is_needed=True)
    return dict(_automation(table, where) for where, table in tables.items())


def _automation(table: Mapping[str, Any], where: str) -> tuple[str, str]:
    refuse_unknown(table, _KEYS, where, " and ".join(_KEYS))
    require_texts({key: table.get(key) for key in _KEYS}, where)
    if ":" not in table["principal"]:
        raise UsageError(
            f"{where}: principal: expected TYPE:NAME such as User:strimzi, found "
            f"{table['principal']!r}"
        )
    return table["principal"], table["name"]


_KEYS: Final = ("principal", "name")
