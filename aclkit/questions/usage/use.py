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

from aclkit.model.acl import Acl, Request, acl_words
from aclkit.model.findings import UNUSED_GRANT, Finding
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.semantics import KAFKA, Semantics
from aclkit.questions.query.lifetimes import Lifetime
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


USED: Final = "used"
MATCHED: Final = "matched"
UNUSED: Final = "unused"
UNKNOWN: Final = "unknown"
USAGES: Final = (UNUSED, MATCHED, UNKNOWN, TOO_NEW, USED)
"""The verdicts on a grant. Matched: it would have allowed requests, but the broker named another
grant for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedUse:
    """Use of one ACL in the log: the last line that names it, and how many in the window."""

    last: datetime
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A row of ``acl_usage``: see the table's columns."""

    acl: Acl
    usage: str
    last_used_at: datetime | None
    last_matched_at: datetime | None
    used_lines: int
    added_at: datetime | None
    window_from: datetime | None
    window_to: datetime | None
    covered: float


def judge_grants(
    lives: Iterable[Lifetime],
    named: Mapping[str, NamedUse],
    matches: Mapping[str, datetime],
    log: Judgeable,
    super_users: Collection[str] = (),
    semantics: Semantics = KAFKA,
) -> list[Grant]:
    """Judge for each grant whether it was used in the window of a log; see ``judge_use``.

    Args:
        lives: the grants in force, and since when.
        named: what lines name, by ACL id; of duplicates any of them may be named.
        matches: when a line was last allowed that the ACL would have allowed too, by ACL id.
        log: what the log can show.
        super_users: whose grants no line is about.
        semantics: how ACLs are read.
    """
    lives = list(lives)
    by_binding = _by_binding(lives, named)
    grants = []
    for life in lives:
        use = by_binding.get(life.acl.binding)
        matched = matches.get(life.acl.acl_id)
        times = [each for each in (use.last if use else None, matched) if each is not None]
        found = judge_use(
            life.acl,
            log,
            added_at=life.added_at,
            uses=[_any_use(life.acl, at) for at in times],
            is_super=life.acl.principal in super_users,
            has_members=has_unknown_members(life.acl.principal, semantics),
        )
        grants.append(
            Grant(
                acl=life.acl,
                usage=_usage(found, use, log),
                last_used_at=use.last if use else None,
                last_matched_at=matched,
                used_lines=use.lines if use else 0,
                added_at=life.added_at,
                window_from=log.window_from,
                window_to=log.window_to,
                covered=log.covered,
            )
        )
    return sorted(grants, key=lambda g: (USAGES.index(g.usage), g.acl.principal, g.acl.binding))


def find_unused(grants: Iterable[Grant], log: Judgeable) -> Iterator[Finding]:
    """Yield a finding for each unused grant: only a whole log shows any."""
    for grant in grants:
        if grant.usage == UNUSED and grant.window_from is not None:
            yield UNUSED_GRANT.about(
                str(grant.acl),
                f"{acl_words(grant.acl)} is unused: the authorizer log shows no use since "
                f"{grant.window_from:%Y-%m-%d} ({log.words}).",
                acls=(grant.acl,),
            )


def _any_use(acl: Acl, at: datetime) -> Use:
    """Return a use at a time; which request it was does not matter."""
    request = Request(
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
    )
    return Use(request=request, last_at=at)


def _usage(found: Used | Unused | Unknown, named: NamedUse | None, log: Judgeable) -> str:
    """Return the word of the table for a verdict."""
    if isinstance(found, Used):
        start = log.window_from
        is_named = named is not None and start is not None and named.last >= start
        return USED if is_named else MATCHED
    if isinstance(found, Unused):
        return UNUSED
    return TOO_NEW if found.missing[0].kind == TOO_NEW else UNKNOWN


def _by_binding(
    lives: Iterable[Lifetime], uses: Mapping[str, NamedUse]
) -> dict[tuple[str, ...], NamedUse]:
    """Put the uses of ACLs with the same seven fields together: a line cannot tell them apart."""
    together: dict[tuple[str, ...], NamedUse] = {}
    for life in lives:
        use, other = uses.get(life.acl.acl_id), together.get(life.acl.binding)
        if use is not None:
            together[life.acl.binding] = (
                use
                if other is None
                else NamedUse(last=max(use.last, other.last), lines=use.lines + other.lines)
            )
    return together
