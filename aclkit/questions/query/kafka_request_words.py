"""What becomes of requests → a line for each reason that the decision alone does not give."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from aclkit.model.acl_words import type_words
from aclkit.model.groups import grouped
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.questions.query.reason_words import ruling_words
from aclkit.questions.query.why import Why
from aclkit.rules.decide.requests import Check, Fact, Passage, Result, Tried
from aclkit.rules.decide.rules import ALLOWED, DENIED, SUPER_USER, Ruling

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
