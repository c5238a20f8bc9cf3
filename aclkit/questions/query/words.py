"""Requests, ACLs and answers → plain English, for people and for logs.

Names stand in it as they are: who prints a sentence makes it visible (``model.visible``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from aclkit.model.acl import ANY_OTHER, Request, acl_words, type_words
from aclkit.model.broker_settings import ALLOW_EVERYONE, caveats_on_denial
from aclkit.model.brokers import named_brokers
from aclkit.model.confluent import caveats_on_roles
from aclkit.model.groups import grouped
from aclkit.model.phrases import listed
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.questions.query.as_member import caveats_on_members
from aclkit.questions.query.fixes import next_deny_words
from aclkit.questions.query.other_reading import other_name
from aclkit.questions.query.own_acls import own_acl_words
from aclkit.questions.query.table_words import few_names, ruling_words, short_reason
from aclkit.rules.decide.requests import Check, Fact, Passage, Result, Tried
from aclkit.rules.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
    Ruling,
)

if TYPE_CHECKING:
    from aclkit.questions.query.why import Why


BY_HOST: Final = "The answer depends on the client's address. Pass --host to check one."


def asked_words(request: Request) -> str:
    """Write what was asked about."""
    where = "" if request.host == ANY_OTHER else f" from {request.host}"
    return f"{request.principal} {request.operation} {request.resource}{where}"


def why_sentence(why: Why) -> str:
    """Write in one sentence what was decided, and because of what."""
    request, ruling = why.request, why.ruling
    return f"{decision_words(request, ruling, is_any_host=not why.elsewhere)}: {_reason(why)}."


def hosts_words(hosts: Sequence[str], ruling: Ruling, what: Sequence[str] = ()) -> str:
    """Write how some hosts are decided that are decided differently from the one asked about.

    Args:
        hosts: the hosts.
        ruling: how they are decided.
        what: the accesses, where the sentence must name them.
    """
    subject = f"{listed(what)} {'is' if len(what) == 1 else 'are'}" if what else "it is"
    decided = f"{few_names(hosts)} {subject} {ruling.decision.lower()}"
    return f"From {decided}: {short_reason(ruling.decision, ruling.rule, ruling.acl, None, None)}."


def otherwise_sentences(why: Why) -> Iterator[str]:
    """Yield what the other reading of ACLs decides, where that is another decision."""
    for one in why.otherwise:
        ruling = one.ruling
        where = "" if one.host == why.request.host else f" from {one.host}"
        reason = short_reason(ruling.decision, ruling.rule, ruling.acl, None, None)
        yield f"{other_name(one.preset)} this would be {ruling.decision.lower()}{where}: {reason}."


def why_hints(why: Why) -> Iterator[str]:
    """Yield what would change the decision, and what the principal has on other names.

    Last comes the group that a consumer needs.
    """
    yield from next_deny_hints(why)
    if why.never:
        yield f"No ACL can allow it: {'; '.join(why.never)}."
    if why.without_denies is not None:
        yield f"Without the DENYs it would be {ruling_words(why.without_denies)}."
    if why.not_super is not None:
        yield f"If it were no super user, it would be {ruling_words(why.not_super)}."
    if why.acls and why.acls[0].acl.is_allow and len(why.acls) == 1 and why.acls[0].changes:
        yield "Without this ACL it would be denied."
    yield from own_acl_words(why.own, why.case)


def next_deny_hints(why: Why) -> Iterator[str]:
    """Yield the DENY that stops what the client of a request needs next."""
    if why.next_deny is not None:
        yield f"{next_deny_words(why.next_deny)}."


def why_caveats(why: Why) -> Iterator[str]:
    """Yield why a denial may be wrong: unknown settings, and similar names of super users."""
    if why.ruling.decision != ALLOWED:
        yield from caveats_on_denial(
            why.case.settings, why.request.principal, is_unreached=not why.case.reaching
        )
        if why.ruling.acl is None:
            yield from caveats_on_roles([why.request.principal], why.run.cluster_id)
    yield from caveats_on_members(why.case, why.ruling)


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
        where = f"From {few_names(sides[0].hosts)} it" if why.is_any_host else "It"
        yield f"{where} depends on the broker: {each}."


def decision_words(request: Request, ruling: Ruling, *, is_any_host: bool) -> str:
    """Write what was decided on a request."""
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


_T = TypeVar("_T", bound=Hashable)


def passage_lines(why: Why) -> Iterator[str]:
    """Yield which requests have another result than the decision suggests, and why.

    Requests with the same reason share a line. A last line has what an allowed access also needs,
    except the group of a consumer where ``own_acl_words`` names it. Where the decision holds for
    all requests, there is no line.
    """
    for (verb, reason), titles in _together((_fate(why, each), each) for each in why.passages):
        yield f"The broker {verb} {titles} {reason}."
    needs = _together((_needs(why, each), each) for each in why.passages)
    if needs:
        also = "; ".join(f"{need} (for {titles})" for need, titles in needs)
        yield f"{why.request.principal} also needs {also}."


def way_words(why: Why, tried: Tried) -> str:
    """Write the part of a way that gives its result: what is denied, undecided or allowed."""
    sought = {Result.REFUSED: DENIED, Result.DEPENDS: None, Result.PASSES: ALLOWED}[tried.result]
    words = [
        _check_words(why, check, ruling)
        for check, ruling in zip(tried.way.checks, tried.rulings, strict=True)
        if (ruling and ruling.decision) == sought
    ]
    return " and ".join([*words, *_fact_words(why, tried)])


def _fate(why: Why, passage: Passage) -> tuple[str, str] | None:
    """Return a verb and the reason, where a request has another result than the access."""
    if passage.result == Result.REFUSED:
        if why.ruling.decision == DENIED:
            return None
        return "refuses", f"because {way_words(why, passage.tried[0])}"
    others = [
        each for each in passage.tried if each.result == passage.result and not _asks_it(why, each)
    ]
    if not others or (passage.result == Result.PASSES and why.ruling.rule == SUPER_USER):
        return None
    if passage.result == Result.DEPENDS:
        return "lets", f"pass if {', or '.join(_condition(why, each) for each in others)}"
    when = f"{others[0].way.when} " if others[0].way.when else ""
    return "lets", f"pass {when}because {way_words(why, others[0])}"


def _condition(why: Why, tried: Tried) -> str:
    """Write under which condition a way is open that is not decided."""
    if tried.way.fact:
        return way_words(why, tried)
    checked = zip(tried.way.checks, tried.rulings, strict=True)
    unknown = grouped((_word(c), c.operation) for c, ruling in checked if ruling is None)
    accesses = ", ".join(f"{' and '.join(names)} the {word}" for word, names in unknown.items())
    return f"{why.request.principal} can {accesses}"


def _needs(why: Why, passage: Passage) -> str | None:
    """Write what a request needs in addition to the access in question, which it has."""
    for tried in passage.tried:
        if tried.result == passage.result == Result.DEPENDS and _asks_it(why, tried):
            return None if _is_told(why, tried) else way_words(why, tried)
    return None


def _is_told(why: Why, tried: Tried) -> bool:
    """Whether a way also needs nothing but the group that ``own_acl_words`` names."""
    checked = zip(tried.way.checks, tried.rulings, strict=True)
    needed = [check.access for check, ruling in checked if ruling is None]
    return why.own.groups is not None and needed == [("READ", "GROUP")]


def _asks_it(why: Why, tried: Tried) -> bool:
    """Whether a way asks for the very access."""
    access = why.request.operation, why.request.resource_type
    return any(check.access == access and not check.of_any for check in tried.way.checks)


def _check_words(why: Why, check: Check, ruling: Ruling | None) -> str:
    if ruling is None:
        return f"{check.operation} on the {_word(check)}"
    if check.of_any:
        which = "some" if ruling.decision == ALLOWED else "any"
        decided = f"{ruling.decision.lower()} ({ruling.rule})"
        return f"{check.operation} on {which} {_word(check)} is {decided}"
    name = CLUSTER_NAME if check.resource_type == "CLUSTER" else why.request.resource_name
    resource = Resource(check.resource_type, name)
    return f"{check.operation} on {resource} is {ruling_words(ruling)}"


def _word(check: Check) -> str:
    return type_words(check.resource_type)


def _fact_words(why: Why, tried: Tried) -> Iterator[str]:
    principal = why.request.principal
    if tried.way.fact == Fact.NOTHING:
        yield "no authorization is asked for"
    elif tried.way.fact == Fact.ONESELF:
        yield f"{principal} asks for itself, and no ACL is checked"
    elif tried.way.fact == Fact.OWNER:
        yield f"{principal} owns the token or can renew it, and no ACL is checked"


def _together(told: Iterable[tuple[_T | None, Passage]]) -> list[tuple[_T, str]]:
    """Join the requests that have the same to tell, in the order of the first."""
    found = grouped((what, passage.request.title) for what, passage in told if what is not None)
    return [(what, ", ".join(titles)) for what, titles in found.items()]
