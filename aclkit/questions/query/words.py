"""Requests, ACLs and answers → plain English, for people and for logs.

Names stand in it as they are: who prints a sentence makes it visible (``model.visible``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.acl_words import acl_words
from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.brokers import named_brokers
from aclkit.model.phrases import listed
from aclkit.model.unknown_settings import caveats_on_denial
from aclkit.questions.query.as_of import note_on_hole
from aclkit.questions.query.history import (
    ADDED,
    LOG_START,
    REMOVED,
    SEARCH,
    SETTINGS,
    History,
    Interval,
)
from aclkit.questions.query.other_reading import KAFKA_NAME, KIP_NAME, OthersOtherwise
from aclkit.questions.query.own_acls import own_acl_words
from aclkit.questions.query.reason_words import ruling_words, short_reason
from aclkit.questions.query.timeline import note_on_settings
from aclkit.questions.query.why import Why
from aclkit.rules.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
    Ruling,
)

MOST_NAMED: Final = 3
"""Hosts or principals that a sentence names."""

BY_HOST: Final = "The answer depends on the client's address. Pass --host to check one."


def asked_words(request: Request) -> str:
    """Write what was asked about."""
    where = "" if request.host == ANY_OTHER else f" from {request.host}"
    return f"{request.principal} {request.operation} {request.resource}{where}"


def why_sentence(why: Why) -> str:
    """Write in one sentence what was decided, and because of what."""
    request, ruling = why.request, why.ruling
    return f"{_decision(request, ruling, is_any_host=not why.elsewhere)}: {_reason(why)}."


def history_sentence(history: History) -> str:
    """Write in one sentence since when an access is as it is, and through what."""
    newest, since = history.intervals[-1], history.since
    decision = _decision(history.request, newest.ruling, is_any_host=not history.has_hosts)
    text = f"{decision}, {_beginning(since)}"
    if newest is not since:
        what = "ACL" if newest.ruling.acl else f"rule {newest.ruling.rule}"
        text += f"; by the present {what} {_beginning(newest)}"
    return text + "."


def hosts_words(hosts: Sequence[str], ruling: Ruling, what: Sequence[str] = ()) -> str:
    """Write how some hosts are decided that are decided differently from the one asked about.

    Args:
        hosts: the hosts.
        ruling: how they are decided.
        what: the accesses, where the sentence must name them.
    """
    subject = f"{listed(what)} {'is' if len(what) == 1 else 'are'}" if what else "it is"
    decided = f"{_few(hosts)} {subject} {ruling.decision.lower()}"
    return f"From {decided}: {short_reason(ruling.decision, ruling.rule, ruling.acl, None, None)}."


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return f"{shown}{f' and {more} more' if more > 0 else ''}"


def otherwise_sentences(why: Why) -> Iterator[str]:
    """Yield what the other reading of ACLs decides, where that is another decision."""
    for one in why.otherwise:
        ruling = one.ruling
        where = "" if one.host == why.request.host else f" from {one.host}"
        reason = short_reason(ruling.decision, ruling.rule, ruling.acl, None, None)
        yield f"{other_name(one.preset)} this would be {ruling.decision.lower()}{where}: {reason}."


def others_otherwise_sentence(found: OthersOtherwise) -> str:
    """Write whom the other reading of ACLs decides otherwise for."""
    changes = " and ".join(
        f"{_few(tuple(them))} would be {verb} ({_first_reason(them, decision)})"
        for verb, decision, them in (
            ("allowed", ALLOWED, found.allowed),
            ("denied", DENIED, found.denied),
        )
        if them
    )
    return f"{other_name(found.preset)} {changes}."


def other_name(preset: str) -> str:
    """Begin a sentence on what another reading would decide."""
    return {
        KIP_NAME: "Under KIP-1042 (no Kafka release yet)",
        KAFKA_NAME: "By Kafka's own reading (--semantics kafka)",
    }[preset]


def _first_reason(them: Mapping[str, Acl | None], decision: str) -> str:
    acl = next(iter(them.values()))
    return short_reason(decision, "", acl, None, None)


def why_hints(why: Why) -> Iterator[str]:
    """Yield what would change the decision, and what the principal has on other names.

    Last comes the group that a consumer needs.
    """
    if why.never:
        yield f"No ACL can allow it: {'; '.join(why.never)}."
    if why.without_denies is not None:
        yield f"Without the DENYs it would be {ruling_words(why.without_denies)}."
    if why.not_super is not None:
        yield f"If it were no super user, it would be {ruling_words(why.not_super)}."
    if why.acls and why.acls[0].acl.is_allow and len(why.acls) == 1 and why.acls[0].changes:
        yield "Without this ACL it would be denied."
    yield from own_acl_words(why.own, why.case)


def why_caveats(why: Why) -> Iterator[str]:
    """Yield why a denial may be wrong: unknown settings, and similar names of super users."""
    if why.ruling.decision != ALLOWED:
        yield from caveats_on_denial(
            why.case.settings, why.request.principal, is_unreached=not why.case.reaching
        )


def why_notes(why: Why) -> Iterator[str]:
    """Yield what else a reader of an answer must know."""
    if why.moment.is_past:
        yield f"This is the state as of offset {why.moment.offset}."
    if why.moment.note:
        yield why.moment.note
    if why.fault:
        yield why.fault
    for sides in why.by_broker:
        each = ", ".join(
            f"{ruling_words(side.ruling)} on {named_brokers(side.brokers)}" for side in sides
        )
        where = f"From {_few(sides[0].hosts)} it" if why.is_any_host else "It"
        yield f"{where} depends on the broker: {each}."


def history_notes(history: History) -> Iterator[str]:
    """Yield what is not known about a history."""
    timeline = history.timeline
    if timeline.first:
        yield f"The state before offset {timeline.first - 1} is unknown."
    for start, end in timeline.jumps:
        if 0 < start < timeline.head:
            yield (
                f"Offsets {start} to {end - 1} were not read; a snapshot has the state after "
                "them. Changes in between are shown as if they had happened there."
            )
    for start, end in timeline.holes:
        if 0 < start < timeline.head:
            yield note_on_hole(start, end)
    if note := note_on_settings(timeline):
        yield note
    if history.intervals[-1].ruling.decision != ALLOWED:
        yield from caveats_on_denial(
            timeline.settings[-1].broker,
            history.request.principal,
            is_unreached=history.is_unreached,
        )
    if history.has_hosts and history.request.host == ANY_OTHER:
        yield BY_HOST


def _decision(request: Request, ruling: Ruling, *, is_any_host: bool) -> str:
    verb = "can" if ruling.decision == ALLOWED else "cannot"
    where = from_words(request.host, is_any_host=is_any_host)
    return f"{request.principal} {verb} {request.operation} {request.resource} {where}"


def from_words(host: str, *, is_any_host: bool) -> str:
    """Write from where: the host that was asked about, or the hosts that one stands for."""
    if host != ANY_OTHER:
        return f"from {host}"
    return "from any host" if is_any_host else "from a host that no ACL names"


def _reason(why: Why) -> str:
    ruling, acl = why.ruling, why.ruling.acl
    if ruling.rule == MATCHING_ACL and acl is not None:
        return acl_words(acl)
    if ruling.rule == SUPER_USER:
        return "it is a super user, so no ACL is checked"
    if ruling.rule == DEFAULT_ALLOW:
        return "no ACL applies to the resource, and allow.everyone.if.no.acl.found is true"
    return _default_deny(why)


def _default_deny(why: Why) -> str:
    if not why.case.reaching:
        # A caveat covers what is unknown.
        is_unknown = ALLOW_EVERYONE in why.case.settings.unknown
        default = "" if is_unknown else f", and {ALLOW_EVERYONE} is false"
        return f"no ACL applies to the resource{default}"
    number = len(why.case.reaching)
    close = [f"{why.near_count} for another host or operation"] if why.near_count else []
    others = [f"{why.other_count} for other principals"] if why.other_count else []
    applying = _count(number, "ACL applies", "ACLs apply")
    reason = f"no ACL allows it ({applying} to the resource: {', '.join([*others, *close])})"
    if why.case.settings.allow_everyone:
        reason += f"; {ALLOW_EVERYONE} counts only where no ACL applies"
    return reason


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _beginning(interval: Interval) -> str:
    """Write when an interval began, and through what."""
    when = _when(interval.from_offset, interval.from_time)
    if interval.cause == LOG_START and not interval.is_exact:
        return f"since the log begins ({when}); what was before is unknown"
    if not interval.is_exact:
        return f"since {when} or earlier (a snapshot has it; when it began is unknown)"
    if interval.cause == LOG_START:
        return "since the beginning of the log"
    if interval.cause == SETTINGS:
        return f"since the brokers' settings changed ({when})"
    if interval.cause == SEARCH:
        return f"since another ACL moved the end of the broker's search ({when})"
    verb = {ADDED: "added", REMOVED: "removed"}[interval.cause]
    first, *others = map(acl_words, interval.acls)
    if not others:
        return f"since {first} was {verb} ({when})"
    second = others[0] if len(others) == 1 else f"{len(others):,} more"
    return f"since {first} and {second} were {verb} ({when})"


def _when(offset: int | None, time: datetime | None) -> str:
    parts = [] if time is None else [f"{time:%Y-%m-%d %H:%M:%S} UTC"]
    if offset is not None:
        parts.append(f"offset {offset}")
    return ", ".join(parts) or "at an unknown time"
