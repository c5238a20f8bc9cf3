"""An ACL, an access of it and what the log shows → used, unused or unknown: the one judge. Pure.

*Used* is an access that a line of the window shows. *Unused* is it only where the log is whole: all
of the window, all brokers, DEBUG, every line, and of what only controllers check their log too.
Everything else is *unknown*, with what is missing. All that advises or reports on use asks here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Final

from aclkit.model.acl import Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.redpanda import has_unknown_members
from aclkit.questions.usage.whole_log import Judgeable, Missing
from aclkit.rules.decide.any_of_type import HARDCODED_NAME
from aclkit.rules.decide.handlers import REQUESTS
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names.rows import Rules, operations_of
from aclkit.rules.patterns.match import principal_matches

TOO_NEW: Final = "too-new"
SUPER: Final = "super-user"
MEMBERS: Final = "members"
"""Kinds of what is missing, besides those of the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A request that the authorizer log shows, as often as it does.

    Attributes:
        request: what was asked, allowed or refused.
        apis: Kafka's names of the requests that asked it.
        lines: how often.
        last_at: when last; None where the lines have no time.
        broker: whose log shows it last: its name, or the file.
        is_allowed: a line allows it.
    """

    request: Request
    apis: tuple[str, ...] = ()
    lines: int = 1
    last_at: datetime | None = None
    broker: str = ""
    is_allowed: bool = True

    @property
    def is_of_any(self) -> bool:
        """Whether Kafka asked about any resource of the type: it writes a name of its own.

        InitProducerId without a transactional id asks for WRITE on some topic.
        """
        return self.request.resource_name == HARDCODED_NAME and self.apis == ("InitProducerId",)


@dataclass(frozen=True, slots=True)
class Used:
    """The access was used in the window.

    Attributes:
        last: when last; None where the lines have no time.
        broker: whose log shows that.
        uses: the requests, where they are known.
    """

    last: datetime | None
    broker: str = ""
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class Unused:
    """The access was not used, and the log shows it.

    Attributes:
        log: the evidence.
        last: the last use before the window, if the log shows one.
    """

    log: Judgeable
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Whether the access was used is not known.

    Attributes:
        missing: what is missing, the first of it first.
        last: the last use before the window, if the log shows one.
    """

    missing: tuple[Missing, ...]
    last: datetime | None = None


def judge_use(
    acl: Acl,
    log: Judgeable,
    *,
    added_at: datetime | None,
    uses: Iterable[Use] = (),
    operations: Collection[str] | None = None,
    is_super: bool = False,
    has_members: bool = False,
) -> Used | Unused | Unknown:
    """Judge whether an access that an ALLOW grants was used in the window.

    Args:
        acl: the ALLOW.
        log: what the log can show.
        added_at: when the ALLOW came; None where that is not known.
        uses: the requests of the log that were allowed and that the ALLOW would allow, of any time.
        operations: the access is that of these operations; None for all that the ALLOW grants.
        is_super: the ALLOW is a super user's, who needs none: no line is about it.
        has_members: it is for the members of a role or group, see ``model.redpanda``.
    """
    asked = operations_of(acl) if operations is None else operations
    others = OPERATIONS_OF_TYPE.get(acl.resource_type, ())
    found = [u for u in uses if u.request.operation in asked or u.request.operation not in others]
    start = log.window_from
    within = [use for use in found if start is None or use.last_at is None or use.last_at >= start]
    if within:
        timed = [(use.last_at, use.broker) for use in within if use.last_at is not None]
        newest, broker = max(timed) if timed else (None, "")
        return Used(newest, broker, tuple(within))
    last = max((use.last_at for use in found if use.last_at), default=None)
    about = {"is_super": is_super, "has_members": has_members}
    missing = tuple(_missing(acl, log, added_at, asked, **about))
    return Unknown(missing, last) if missing else Unused(log, last)


def _missing(
    acl: Acl,
    log: Judgeable,
    added_at: datetime | None,
    operations: Collection[str],
    *,
    is_super: bool,
    has_members: bool,
) -> Iterable[Missing]:
    yield from log.missing
    if log.window_from is None:
        return
    if added_at is None or added_at > log.window_from:
        when = "at a time that is not known" if added_at is None else f"on {added_at:%Y-%m-%d}"
        yield Missing(TOO_NEW, f"It was added {when}, so the log is too short for it.", "wait")
    if is_super:
        words = f"{acl.principal} is a super user, so the log does not show which ACLs it needs."
        yield Missing(SUPER, words, "")
    if has_members:
        yield Missing(MEMBERS, f"{acl.principal} has members that are not known here.", "")
    if log.controllers and any((each, acl.resource_type) in OF_CONTROLLERS for each in operations):
        yield log.controllers


def _checked_by_controllers() -> frozenset[tuple[str, str]]:
    """Return operation and type of what controllers check, and brokers do not, or not always."""
    checks = {
        check.access
        for request in REQUESTS
        if request.handler in ("ControllerApis", "AclApis")
        for way in request.ways
        for check in way.checks
        if not check.aside
    }
    known = {(op, kind) for op, kind in checks if op in OPERATIONS_OF_TYPE[kind]}
    # ALL on the cluster covers a DELETE too, which no narrower ACL can name.
    of_all = {("ALL", "CLUSTER")} if ("DELETE", "CLUSTER") in checks else set()
    return frozenset({*known, *of_all, _OF_BROKERS})


_OF_BROKERS: Final = ("CLUSTER_ACTION", "CLUSTER")
"""Brokers register and send heartbeats with it; these requests are not in the table."""

OF_CONTROLLERS: Final = _checked_by_controllers()
"""Operation and resource type of what only the log of the active controller shows."""


@dataclass(frozen=True, kw_only=True)
class UseOfAcls:
    """What is known of the use of the ACLs in force.

    Attributes:
        rules: what decides.
        log: what the log can show.
        added_at: when each ACL came, by id.
        uses: what the log shows, of all time, allowed or refused.
        named: when a line last named an ACL, by id: where ACLs were read in another way then.
    """

    rules: Rules
    log: Judgeable
    added_at: Mapping[str, datetime | None] = field(default_factory=dict)
    uses: Sequence[Use] = ()
    named: Mapping[str, datetime] = field(default_factory=dict)

    def of(self, acl: Acl, operations: Collection[str] | None = None) -> Used | Unused | Unknown:
        """Judge an ALLOW in force, or some operations of it; see ``judge_use``."""
        uses = self._by_binding.get(acl.binding, ())
        found = judge_use(
            acl,
            self.log,
            added_at=self.added_at.get(acl.acl_id),
            uses=uses,
            operations=operations,
            is_super=acl.principal in self.rules.settings.super_users,
            has_members=has_unknown_members(acl.principal, self.rules.semantics),
        )
        named, start = self.named.get(acl.acl_id), self.log.window_from
        if isinstance(found, Used) or named is None or start is None or named < start:
            return found
        if any(use.last_at is None or use.last_at >= start for use in uses):
            return found  # of other operations
        return Used(named)

    def within(self) -> dict[str, list[Use]]:
        """Return what each principal asked for in the window."""
        start = self.log.window_from
        inside = (u for u in self.uses if start and (u.last_at is None or u.last_at >= start))
        return grouped((use.request.principal, use) for use in inside)

    def requests(self) -> Iterator[Request]:
        """Yield the requests that were allowed in the window."""
        for use in chain.from_iterable(self.within().values()):
            if use.is_allowed and not use.is_of_any:
                yield use.request

    @cached_property
    def _by_binding(self) -> Mapping[tuple[str, ...], Sequence[Use]]:
        """The requests that each ALLOW would allow; a super user needs none of them."""
        allows = [acl for acl in self.rules.acls if acl.is_allow]
        index = AclIndex.of(allows, self.rules.semantics)
        found: dict[tuple[str, ...], list[Use]] = {}
        for use in self.uses:
            if not use.is_allowed or self.rules.settings.makes_super(use.request.principal):
                continue
            if use.is_of_any:
                hits: Iterable[Acl] = (a for a in allows if self._is_of_type(a, use.request))
            else:
                hits = index.find(use.request)[1]
            for binding in {each.binding for each in hits}:
                found.setdefault(binding, []).append(use)
        return found

    def _is_of_type(self, acl: Acl, request: Request) -> bool:
        """Whether an ALLOW may be the one that let a request about any resource pass."""
        return (
            acl.resource_type == request.resource_type
            and request.operation in operations_of(acl)
            and principal_matches(acl.principal, request.principal, self.rules.semantics)
        )
