"""Rows of ``acl_change_by`` → who may have added or removed an ACL, and the words for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.model.phrases import few
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.sql import fetch

ACL_CHANGE_BY: Final = "acl_change_by"

ONE: Final = "one"
SEVERAL: Final = "several"
UNSURE: Final = "unsure"
NONE: Final = "none"
MISSING: Final = "missing"
"""How sure it is: one principal, or one of several; perhaps those, because lines of that time may
be missing; no request although the log is whole; or no log of that time."""

CERTAINTIES: Final = (ONE, SEVERAL, UNSURE, NONE, MISSING)


class ChangeKey(NamedTuple):
    """What names a change: the ACL, ``added`` or ``removed``, and where it took effect."""

    acl_id: str
    acl_change: str
    log_offset: int


@dataclass(frozen=True, slots=True)
class ChangedBy:
    """Who may have made a change.

    Attributes:
        certainty: one of ``CERTAINTIES``.
        candidates: principals, each with the host it came from.
    """

    certainty: str
    candidates: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> str:
        """The candidates in one text; empty where there are none."""
        if len({principal for principal, _ in self.candidates}) != 1:
            return _or(dict.fromkeys(principal for principal, _ in self.candidates))
        return f"{self.candidates[0][0]} from {_or(host for _, host in self.candidates)}"

    @property
    def words(self) -> str:
        """Who made the change and how sure that is, as the end of a sentence about the change."""
        if self.certainty == ONE:
            return f"by {self.names} (only candidate)"
        if self.certainty == SEVERAL:
            return f"by {self.names}"
        if self.certainty == UNSURE:
            return f"perhaps by {self.names} (the log of that time may have gaps)"
        why = "no request in the log" if self.certainty == NONE else "no log of that time"
        return f"by whom is not known: {why}"


def certainty_of(candidates: Iterable[tuple[str, str]], *, is_covered: bool) -> str:
    """Return how sure it is who made a change.

    Args:
        candidates: principals with hosts.
        is_covered: no line of that time is missing.
    """
    principals = {principal for principal, _ in candidates}
    if not is_covered:
        return UNSURE if principals else MISSING
    return {0: NONE, 1: ONE}.get(len(principals), SEVERAL)


def read_changed_by(
    tables: Tables, cluster_id: str, offsets: Iterable[int]
) -> Mapping[ChangeKey, ChangedBy]:
    """Read who may have made the changes at log offsets, as far as controllers' logs were read."""
    rows = fetch(tables, _BY, [cluster_id, sorted(set(offsets))])
    return {
        ChangeKey(*key): ChangedBy(certainty, tuple(zip(who, hosts, strict=True)))
        for *key, certainty, who, hosts in rows
    }


def _or(names: Iterable[str]) -> str:
    found = list(names)
    return few(found) if len(found) > _MOST_NAMED else " or ".join(found)


_MOST_NAMED: Final = 3
_BY: Final = (
    "SELECT acl_id, acl_change, log_offset, certainty, coalesce(principals, []), "
    "coalesce(hosts, []) FROM acl_change_by WHERE cluster_id = ? "
    "AND log_offset IN (SELECT unnest(CAST(? AS BIGINT[])))"
)
