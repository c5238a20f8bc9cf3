"""Accesses that a principal needs → which are allowed, and the ACLs that would grant the others.

Each access is decided as ``why`` decides it, one on all names that start alike as ``who-can
--prefix`` does. What a denial rests on may be unknown; then the answer is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from aclkit.model.acl import ANY_OTHER, Acl, acl_words, type_words
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, caveats_on_denial
from aclkit.model.confluent import caveats_on_roles
from aclkit.model.operation import IMPLIED_BY_ALLOW
from aclkit.model.phrases import capitalized
from aclkit.model.semantics import BrokerSettings
from aclkit.model.values import dataclass
from aclkit.questions.query.as_member import caveats_on_members
from aclkit.questions.query.as_of import PAST
from aclkit.questions.query.by_prefix import NEEDED as BY_PREFIX
from aclkit.questions.query.by_prefix import Reach, who_can_prefix
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.fixes import next_deny_words
from aclkit.questions.query.group_rows import ALL_HOSTS
from aclkit.questions.query.kafka_requests import Supposed, read_passages
from aclkit.questions.query.names import Unknown
from aclkit.questions.query.table_words import short_reason
from aclkit.questions.query.tasks import CLUSTER, Need
from aclkit.questions.query.why import Why, explain_why
from aclkit.questions.query.words import BY_HOST, way_words
from aclkit.rules.decide.counterfactual import NO_ID, least_allowing_acl
from aclkit.rules.decide.handlers import asked_request, needs_words
from aclkit.rules.decide.requests import Passage, Result, Tried
from aclkit.rules.decide.rules import ALLOWED, DENIED, SUPER_USER, Ruling
from aclkit.rules.names.cover import ALL
from aclkit.rules.names.cover import UNKNOWN as NOT_PROVEN
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import READ_AGAIN, read_again

UNKNOWN: Final = "UNKNOWN"
"""Neither ALLOWED nor DENIED: what decides is unknown."""

NEEDED: Final[Mapping[str, Mapping[str, str]]] = {**PAST, **BY_PREFIX}
"""The tables that answer it, see ``duck.connect``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An access and whether it is allowed.

    Attributes:
        need: the access.
        host: from where, or any that no ACL names.
        decision: ``ALLOWED``, ``DENIED`` or ``UNKNOWN``.
        ruling: what decides this access itself; None of names that start alike.
        because: the reason in words.
        doubts: why it is unknown.
        notes: what else there is to know, such as other accesses.
        elsewhere: hosts that are decided otherwise, and how; empty of names that start alike.
        by_host: other hosts are decided otherwise.
        missing: the ACL that would grant it, once no DENY is in force; None where none is needed,
            or another that is missing grants it too.
        or_missing: ACLs that would do in its place.
        why: what decides this access itself; None of names that start alike.
        unknown: names of the question that do not exist.
    """

    need: Need
    host: str
    decision: str
    ruling: Ruling | None = None
    because: str
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    elsewhere: tuple[tuple[tuple[str, ...], Ruling], ...] = ()
    by_host: bool = False
    missing: Acl | None = None
    or_missing: tuple[Acl, ...] = ()
    why: Why | None = None
    unknown: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Can:
    """The answer.

    Attributes:
        principal: who.
        checked: each access that was asked about.
        run: the run whose decisions are published.
    """

    principal: str
    checked: tuple[Checked, ...]
    run: PublishedRun

    @property
    def decision(self) -> str:
        """``ALLOWED`` if all is, ``DENIED`` if one access is, else ``UNKNOWN``."""
        found = {each.decision for each in self.checked}
        return next((one for one in (DENIED, UNKNOWN) if one in found), ALLOWED)

    @property
    def missing(self) -> list[Acl]:
        """The ACLs that would grant what is not allowed, without those that another covers."""
        acls = list(dict.fromkeys(each.missing for each in self.checked if each.missing))
        covered = {
            replace(acl, operation=IMPLIED_BY_ALLOW[acl.operation])
            for acl in acls
            if acl.operation in IMPLIED_BY_ALLOW
        }
        return [acl for acl in acls if acl not in covered]

    @property
    def unknown(self) -> list[Unknown]:
        """Names of the question that do not exist."""
        return list(dict.fromkeys(one for each in self.checked for one in each.unknown))


def check_all(
    where: Where, run: PublishedRun, principal: str, needs: Sequence[Need], host: str | None
) -> Can:
    """Decide accesses, each alone.

    Args:
        where: the warehouse and the cluster.
        run: the run whose decisions are published.
        principal: who asks.
        needs: what for.
        host: from where; any host that nothing names if not given.

    Raises:
        UsageError: as in ``explain_why`` and ``who_can_prefix``.
    """
    found = tuple(_least_together(where, [_check(where, principal, n, host) for n in needs]))
    for doubt in _doubts_on_state(where, run):
        found = tuple(_doubted(each, doubt) for each in found)
    return Can(principal=principal, checked=found, run=run)


def _doubts_on_state(where: Where, run: PublishedRun) -> Iterator[str]:
    if run.status != "complete":
        yield f"Run {run.run_number} is {run.status}."
    if read_again(where.published, run) is not None:
        yield f"{READ_AGAIN}."


def _least_together(where: Where, checked: Sequence[Checked]) -> Iterator[Checked]:
    """Yield each access, of a request without what the ACLs missing for the others grant too."""
    denies = (
        part.acl.acl_id
        for each in checked
        if each.why and each.decision != ALLOWED
        for part in each.why.acls
        if not part.acl.is_allow
    )
    supposed = Supposed(removed=frozenset(denies))
    for each in checked:
        why, sent = each.why, each.need.sent
        if why is None or sent is None or each.missing is None:
            yield each
            continue
        added = tuple(one.missing for one in checked if one is not each and one.missing)
        after = replace(supposed, added=added)
        asked = where.tables, where.cluster_id, why.case, why.moment.offset
        (passage,) = read_passages(*asked, sent.request, after)
        is_granted = passage.result == Result.PASSES
        yield replace(each, missing=None, or_missing=()) if is_granted else each


def _check(where: Where, principal: str, need: Need, host: str | None) -> Checked:
    if need.is_prefix:
        return _check_prefix(where, principal, need, host)
    sent = need.sent.request if need.sent else None
    why = explain_why(*where, principal, need.operation, need.resource, host=host, sent=sent)
    checked = checked_of(need, why)
    for doubt in _doubts(why, checked):
        checked = _doubted(checked, doubt)
    if checked.decision != ALLOWED and why.ruling.acl is None:
        roles = caveats_on_roles([principal], why.run.cluster_id)
        checked = replace(checked, notes=(*checked.notes, *roles))
    after = [] if why.next_deny is None else [f"{next_deny_words(why.next_deny)}."]
    members = caveats_on_members(why.case, why.ruling)
    return replace(checked, notes=(*checked.notes, *after, *members))


def checked_of(need: Need, why: Why) -> Checked:
    """Return the result of an answer of why, not considering unknown broker settings."""
    ruling, kind = why.ruling, need.resource.resource_type
    reason = ruling.decision, ruling.rule, ruling.acl, why.request.principal, kind
    checked = Checked(
        need=need,
        host=why.request.host,
        decision=ruling.decision,
        ruling=ruling,
        because=short_reason(*reason),
        elsewhere=why.elsewhere,
        by_host=bool(why.elsewhere),
        missing=why.least or _behind_deny(why),
        or_missing=why.or_least,
        why=why,
        unknown=why.unknown,
    )
    return _sent(checked, why, why.passages[0]) if need.sent else checked


def _behind_deny(why: Why) -> Acl | None:
    """Return the smallest ACL that is needed once no DENY matches; None if none is."""
    left = why.without_denies
    return None if left is None or left.decision == ALLOWED else least_allowing_acl(why.request)


def _sent(checked: Checked, why: Why, passage: Passage) -> Checked:
    """Return the result of a request, with what it needs on resources that were not named."""
    if passage.result == Result.REFUSED:
        if why.ruling.decision == DENIED:
            needs = f"it needs {needs_words(passage.request)}: {checked.because}"
            return replace(checked, because=needs)
        because = way_words(why, passage.tried[0])
        return replace(checked, decision=DENIED, ruling=None, because=because)
    own = [tried for tried in passage.tried if _is_allowed(tried)]
    if passage.result == Result.PASSES:
        found = next(tried for tried in passage.tried if tried.result == Result.PASSES)
        if found in own and why.ruling.decision == ALLOWED:
            return replace(checked, missing=None, or_missing=())
        allowed = replace(checked, decision=ALLOWED, ruling=None, missing=None, or_missing=())
        if not found.way.when:
            return replace(allowed, because=way_words(why, found))
        notes = (*checked.notes, *_elsewhere_refused(why, passage))
        return replace(allowed, because=f"{way_words(why, found)} {found.way.when}", notes=notes)
    if own:
        needs = f"{passage.request.name} also needs {way_words(why, own[0])}."
        return replace(checked, notes=(*checked.notes, needs))
    doubt = f"{passage.request.name} needs {needs_words(passage.request)}."
    return replace(checked, decision=UNKNOWN, doubts=(doubt,))


def _elsewhere_refused(why: Why, passage: Passage) -> Iterator[str]:
    """Yield which ways are closed that depend on who gets the request."""
    for tried in passage.tried:
        if tried.way.when and tried.result == Result.REFUSED:
            yield f"It is refused {tried.way.when}: {way_words(why, tried)}."


def _is_allowed(tried: Tried) -> bool:
    """Whether all checks of a way that can be decided, one at least, allow it."""
    decided = [ruling.decision for ruling in tried.rulings if ruling is not None]
    return bool(decided) and set(decided) == {ALLOWED}


def _doubts(why: Why, checked: Checked) -> Iterator[str]:
    """Yield why an answer may be wrong."""
    settings, is_unreached = why.case.settings, not why.case.reaching
    if checked.decision != ALLOWED:
        yield from _unknown_settings(settings, why.request.principal, is_unreached=is_unreached)
    if why.fault:
        yield f"{capitalized(why.fault)}."
    for sides in why.by_broker:
        if why.request.host in sides[0].hosts:
            yield "Brokers decide this differently: see aclkit why."


def _unknown_settings(
    settings: BrokerSettings, principal: str, *, is_unreached: bool
) -> Iterator[str]:
    if settings.unknown & {SUPER_USERS, *([ALLOW_EVERYONE] if is_unreached else [])}:
        nobody = replace(settings, super_users=frozenset())
        yield from caveats_on_denial(nobody, principal, is_unreached=is_unreached)


def _doubted(checked: Checked, doubt: str) -> Checked:
    return replace(checked, decision=UNKNOWN, doubts=(*checked.doubts, doubt))


def _check_prefix(where: Where, principal: str, need: Need, host: str | None) -> Checked:
    """Decide an access on every name that starts alike, now and in future."""
    kind, prefix = need.resource
    answer = who_can_prefix(
        where, need.operation, kind, prefix, host=host, decision=None, principals=[principal]
    )
    reaches = answer.reaches[principal]
    reach = next(each for each in reaches if _is_of(each, host))
    extents = {each.extent(len(answer.known)) for each in reaches}
    extent = reach.extent(len(answer.known))
    decision = {ALL: ALLOWED, NOT_PROVEN: UNKNOWN}.get(extent, DENIED)
    checked = Checked(
        need=need,
        host=host or ANY_OTHER,
        decision=decision,
        because=_prefix_words(reach, extent, need, principal),
        doubts=("The proof exceeds the search limit.",) if decision == UNKNOWN else (),
        notes=(BY_HOST,) if len(extents) > 1 else (),
        by_host=len(extents) > 1,
        missing=None if decision == ALLOWED or reach.denied_by else _missing(need, principal, host),
    )
    if decision != ALLOWED and need.operation == "CREATE" and kind == "TOPIC":
        whole = _check(where, principal, _CREATE_ANY, host)
        if whole.decision == ALLOWED:
            return replace(whole, need=need, missing=None, unknown=())
    if decision == DENIED:
        settings = answer.decided_by.settings.broker
        unreached = answer.has_unreached
        for doubt in _unknown_settings(settings, principal, is_unreached=unreached):
            checked = _doubted(checked, doubt)
    return checked


def _is_of(reach: Reach, host: str | None) -> bool:
    """Whether a reach is of the host that is asked about, or of any that no ACL names."""
    return host is not None or reach.hosts == ALL_HOSTS or ANY_OTHER in reach.hosts.split(",")


_CREATE_ANY: Final = Need("CREATE", CLUSTER, asked_request("CreateTopics", "CLUSTER"))
"""What lets a principal create topics of any name."""


def _prefix_words(reach: Reach, extent: str, need: Need, principal: str) -> str:
    kind, prefix = need.resource
    if reach.is_super:
        return short_reason(ALLOWED, SUPER_USER, None, None, None)
    deciding = reach.allowed_by if extent == ALL else reach.denied_by
    if deciding:
        return ", ".join(acl_words(acl, principal, kind) for acl in deciding)
    if extent == ALL:
        return "no ACL applies"
    if reach.allowed_by:
        return f"not every {type_words(kind)} that starts with {prefix} is allowed"
    return "no ACL allows it"


def _missing(need: Need, principal: str, host: str | None) -> Acl:
    return Acl(
        acl_id=NO_ID,
        resource_type=need.resource.resource_type,
        resource_name=need.resource.resource_name,
        pattern_type="PREFIXED",
        principal=principal,
        host=host or "*",
        operation=need.operation,
        permission_type="ALLOW",
    )
