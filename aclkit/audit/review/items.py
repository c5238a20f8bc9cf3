"""ACLs and broker settings → the accesses that a review asks about, each once. Pure.

An item is what one principal (or User:*, or a glob of principals) can do from one host text on one
resource pattern. So it holds for future names too, and depends on no inventory. Each ALLOW belongs
to exactly one item: removing an item never touches another one. Super users are items, and so is
allow.everyone.if.no.acl.found. What DENYs override on every name is no access, and no item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

from aclkit.audit.review.decisions import hash_of
from aclkit.model.acl import Acl, acl_words, operations_words, pattern_words, power_of, quoted
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.resource import WORD_OF_TYPE
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.overlap_index import OverlapIndex
from aclkit.rules.names.question import Budget
from aclkit.rules.names.redundancy import find_left
from aclkit.rules.names.rows import Row, Rules, operations_of, rows_of
from aclkit.rules.patterns.match import host_can_match, is_any_host, names_exactly

GRANT: Final = "grant"
SUPER_USER: Final = "super-user"
DEFAULT: Final = "default"

ID_MARK: Final = "i"
"""An id begins with it, so that no spreadsheet takes it for a number or a day, as ``1e5`` is one.
Reviews of older versions have ids without it."""

_ID_DIGITS: Final = 16
_ANY_HOST: Final = "*"


def key_of(item_id: str) -> str:
    """Return an id as all versions have it: without the mark.

    >>> key_of("i12ab"), key_of("12ab")
    ('12ab', '12ab')
    """
    return item_id.removeprefix(ID_MARK)


class AlsoBy(NamedTuple):
    """Operations of an item that another item grants as well."""

    item: str
    operations: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Item:
    """An access to keep or to remove.

    Attributes:
        kind: ``GRANT``, ``SUPER_USER`` or ``DEFAULT``.
        principal: as ACLs have it; ``User:*`` is everyone.
        host: as ACLs have it.
        operations: what is allowed, in the order of their codes; empty for a super user.
        resource_type: of the pattern, and so on; empty where ``kind`` is no ``GRANT``.
        acls: the ALLOWs that grant it.
        limited_by: the DENYs that override it in part.
        uncertain: operations of which the search limit left open whether anything is allowed.
        also: other items that grant some of it as well.
        mark: what its id begins with; empty in reviews of older versions.
    """

    kind: str
    principal: str
    host: str = _ANY_HOST
    operations: tuple[str, ...] = ()
    resource_type: str = ""
    pattern_type: str = ""
    resource_name: str = ""
    acls: tuple[Acl, ...] = ()
    limited_by: tuple[Acl, ...] = ()
    uncertain: tuple[str, ...] = ()
    also: tuple[AlsoBy, ...] = ()
    mark: str = ID_MARK

    @cached_property
    def key(self) -> str:
        """The same in every run: a hash of who, from where, what, and on which names."""
        return hash_of([*self.identity, ALLOWED])[:_ID_DIGITS]

    @property
    def item_id(self) -> str:
        """The key as this review writes it."""
        return f"{self.mark}{self.key}"

    @property
    def identity(self) -> tuple[object, ...]:
        """What the id is a hash of, the decision aside."""
        operations = list(self.operations)
        pattern = (self.resource_type, self.pattern_type, self.resource_name)
        return (self.kind, self.principal, self.host, operations, *pattern)

    @property
    def resource(self) -> str:
        """The resources as owners' files match them: ``topic:payments.*`` for a prefix."""
        if self.kind != GRANT:
            return ""
        star = "*" if self.pattern_type not in ("LITERAL", "GLOB") else ""
        return f"{WORD_OF_TYPE[self.resource_type]}:{self.resource_name}{star}"

    @property
    def words(self) -> str:
        """Write it as a sentence without a full stop."""
        return f"{whom_words(self.principal)} can {self.access_words}"

    @property
    def access_words(self) -> str:
        """Write what is allowed, without whom."""
        if self.kind == SUPER_USER:
            return "perform every operation on everything"
        if self.kind == DEFAULT:
            return "perform every operation on what no ACL applies to"
        what = f"{operations_words(self.operations, self.resource_type)} on "
        every = "perform " if what.startswith("every") else ""
        where = "any host" if self.host == _ANY_HOST else quoted(self.host)
        return f"{every}{what}{pattern_words(self.acls[0])} from {where}"

    @property
    def because_words(self) -> list[str]:
        """Write what grants it, and what limits it."""
        if self.kind == SUPER_USER:
            return [f"because {SUPER_USERS} of the brokers names it"]
        if self.kind == DEFAULT:
            return [f"because {ALLOW_EVERYONE} of the brokers is true"]
        granted = [f"because {acl_words(acl, self.principal)}" for acl in self.acls]
        return [*granted, *(f"except {acl_words(acl)}" for acl in self.limited_by)]


def whom_words(principal: str) -> str:
    """Write whom a principal of an ACL means."""
    return "Every principal" if principal == WILDCARD_PRINCIPAL else quoted(principal)


class Derived(NamedTuple):
    """The items, sorted by principal and resource, and the ALLOWs that grant nothing."""

    items: tuple[Item, ...]
    idle: tuple[Acl, ...]


def derive_items(rules: Rules, budget: Budget | None = None, mark: str = ID_MARK) -> Derived:
    """Return all accesses that ACLs and settings of the brokers allow.

    The search limit of a proof that ends leaves an operation ``uncertain``; it stays in the item.

    Args:
        rules: what decides.
        budget: the search limit.
        mark: what ids begin with; see ``Item``.
    """
    deriver = _Deriver(rules, budget or Budget(), mark)
    items = [*_of_settings(rules, mark), *deriver.items()]
    by_acl = {acl.acl_id: item for item in items for acl in item.acls}
    supers = {item.principal: item for item in items if item.kind == SUPER_USER}
    told = [replace(item, also=tuple(deriver.also(item, by_acl, supers))) for item in items]
    told.sort(key=_order)
    idle = (acl for acl in rules.acls if acl.is_allow and acl.acl_id not in by_acl)
    return Derived(tuple(told), tuple(sorted(idle, key=lambda acl: acl.acl_id)))


def _order(item: Item) -> tuple[object, ...]:
    """Sort by principal, the most powerful access first."""
    power = power_of(item.operations, item.resource_type)
    pattern = item.resource_type, item.resource_name, item.pattern_type
    return item.principal, item.kind == GRANT, power, *pattern, item.host


def _of_settings(rules: Rules, mark: str) -> Iterator[Item]:
    for name in sorted(rules.settings.super_users):
        yield Item(kind=SUPER_USER, principal=name, mark=mark)
    if rules.settings.allow_everyone:
        yield Item(kind=DEFAULT, principal=WILDCARD_PRINCIPAL, mark=mark)


class _Deriver:
    """Tells what ALLOWs grant where DENYs override some of it."""

    def __init__(self, rules: Rules, budget: Budget, mark: str) -> None:
        self._semantics, self._mark = rules.semantics, mark
        living = [row for row in rows_of(rules.acls, rules.semantics) if self._can_match(row)]
        self._rows = {row.acl.acl_id: row for row in living}
        self._others = OverlapIndex(living, rules.semantics, budget)

    def _can_match(self, row: Row) -> bool:
        is_known = row.acl.resource_type in OPERATIONS_OF_TYPE
        is_met = row.principal is not None and host_can_match(row.acl.host, self._semantics)
        return is_known and is_met

    def items(self) -> Iterator[Item]:
        """Yield an item for each principal, host and pattern of ALLOWs."""
        allows = [row for row in self._rows.values() if row.acl.is_allow]
        alike = grouped(
            ((row.acl.principal, self._host(row.acl), row.acl.pattern), row) for row in allows
        )
        for rows in alike.values():
            item = self._item(sorted(rows, key=lambda row: row.acl.acl_id))
            if item is not None:
                yield item

    def _host(self, acl: Acl) -> str:
        """Return an ACL's host; of all texts for any host, one."""
        return _ANY_HOST if is_any_host(acl.host, self._semantics) else acl.host

    def _item(self, rows: Sequence[Row]) -> Item | None:
        first = rows[0].acl
        granted = frozenset[str]().union(*(operations_of(row.acl) for row in rows))
        denies = [
            other.acl
            for other in dict.fromkeys(self._others.meeting(rows[0], allows=False))
            if operations_of(other.acl) & granted
        ]
        open_ones = frozenset[str]()
        if denies or not self._others.left_by((), (rows[0],)).names:
            left = find_left((rows[0],), self._others, granted)
            open_ones = left.unknown
            granted = frozenset(left.given) | left.unknown
        own = [row.acl for row in rows if operations_of(row.acl) & granted]
        if not own:
            return None
        return Item(
            kind=GRANT,
            principal=first.principal,
            host=self._host(first),
            operations=_in_order(granted, first.resource_type),
            resource_type=first.resource_type,
            pattern_type=first.pattern_type,
            resource_name=first.resource_name,
            acls=tuple(own),
            limited_by=tuple(sorted(denies, key=lambda acl: acl.acl_id)),
            uncertain=_in_order(open_ones, first.resource_type),
            mark=self._mark,
        )

    def also(
        self, item: Item, by_acl: Mapping[str, Item], supers: Mapping[str, Item]
    ) -> Iterator[AlsoBy]:
        """Yield the other items that grant all that some operations of an item allow."""
        found: dict[str, set[str]] = {}
        for acl in item.acls:
            others, _ = self._others.containing(self._rows[acl.acl_id])
            for other in others:
                theirs = by_acl.get(other.acl.acl_id)
                if theirs is not None and theirs != item and other.acl.is_allow:
                    answered = operations_of(acl) & set(theirs.operations)
                    found.setdefault(theirs.item_id, set()).update(answered)
        powerful = supers.get(item.principal) if item.kind == GRANT else None
        if powerful is not None and names_exactly(item.principal, self._semantics):
            found[powerful.item_id] = set(item.operations)
        for item_id, operations in sorted(found.items()):
            yield AlsoBy(item_id, _in_order(operations, item.resource_type))


def _in_order(operations: Iterable[str], resource_type: str) -> tuple[str, ...]:
    return tuple(sorted(operations, key=OPERATIONS_OF_TYPE[resource_type].index))
