"""Narrower sets with their proofs, or what is missing → the answer, with what to do next. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from math import floor
from typing import Any, Final

from aclkit.answer.document import Answer, Heading, Item, Items, Part, Row, Sentence
from aclkit.answer.rows import as_objects
from aclkit.model.acl import BINDING, Acl, acl_words, operations_words
from aclkit.model.phrases import few, number_of
from aclkit.questions.narrow.narrowing import (
    DENIES,
    GOES,
    NARROWED,
    NO_NARROWER,
    OPENS,
    SHARED,
    STAYS,
    SUPER,
    UNUSED,
    USED,
    Judged,
)
from aclkit.questions.narrow.proof import Proven
from aclkit.questions.narrow.propose import NOT_COVERED
from aclkit.questions.usage.use import TOO_NEW
from aclkit.questions.usage.whole_log import CONTROLLERS, Judgeable
from aclkit.rules.decide.confirm import Counterexample
from aclkit.rules.names.change_lines import MARKS, ChangeLine, change_lines, line_words
from aclkit.rules.names.compare import LOST
from aclkit.rules.names.words import opening_words

COLUMNS: Final = (
    "narrowed_for", "change", *BINDING, "acl_id", "why", "used_operations", "used_lines",
    "last_used_at", "replaced_by",
)  # fmt: skip

_WORDS: Final = {
    UNUSED: "not used in the window",
    DENIES: "a DENY stays",
    SHARED: "it is for other principals too",
    SUPER: "a super user needs no ACL, so the log does not show whether it is used",
    OPENS: "without it no ACL applies to some names, which allow.everyone then opens to all",
    NO_NARROWER: "it allowed what no narrower ACL can name",
    TOO_NEW: "too new: it came within the window, or when it came is not known",
    NOT_COVERED: "the log does not cover the window",
    CONTROLLERS: "only controllers decide it, and their log is missing",
    USED: "used",
}
_PLAIN: Final = (USED, DENIES, SHARED)
"""Reasons to stay that are counted, not listed."""
_CHANGES: Final = {STAYS: "keep", GOES: "remove", NARROWED: "narrow"}
_DAY: Final = "%Y-%m-%d"
_MOST_PRINCIPALS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out for a cluster.

    Attributes:
        cluster_id: the cluster.
        judgeable: what the log can show.
        proven: the narrower set of each principal that was asked about.
        days: the length of the window.
        notes: what a reader must know.
    """

    cluster_id: str
    judgeable: Judgeable
    proven: Sequence[Proven]
    days: float
    notes: Sequence[str] = ()

    @property
    def changed(self) -> list[Proven]:
        """Those of which some ACL goes."""
        return [each for each in self.proven if each.narrowed.removed]

    @property
    def added(self) -> list[Acl]:
        """All ACLs that come."""
        return [acl for each in self.proven for acl in each.narrowed.added]

    @property
    def removed(self) -> dict[Acl, str]:
        """All ACLs that go, and why."""
        return {
            each.acl: why_words(each)
            for proven in self.proven
            for each in proven.narrowed.judged
            if each.fate != STAYS
        }


def narrow_answer(result: Result) -> Answer:
    """Return the narrower sets: what goes, comes and stays, and exactly what is lost."""
    return Answer(
        title="Narrower ACLs",
        columns=COLUMNS,
        rows=list(_rows(result)),
        parts=lambda: _parts(result),
        besides=lambda: _besides(result),
        notes=(*_coverage_notes(result), *result.notes),
        json=lambda: _object(result),
    )


def summary(result: Result) -> str:
    """Write what comes of it in a sentence or two."""
    if result.judgeable.missing:
        return "Nothing can be narrowed: the log cannot show what is not used."
    if not result.changed:
        return "No ACL can be narrowed."
    came = f", {len(result.added):,} to add" if result.added else ""
    who = number_of(len(result.changed), "principal")
    uses = sum(each.uses for each in result.changed)
    return (
        f"{len(result.removed):,} to remove{came}, for {who}. Nothing is gained, and "
        f"{number_of(uses, 'request')} of the log {'is' if uses == 1 else 'are'} decided as "
        "before, proven for every name."
    )


def why_words(judged: Judged) -> str:
    """Write why an ACL stays, goes or is narrowed."""
    if judged.fate == NARROWED and judged.why == USED:
        used = sorted({use.request.operation for use in judged.uses})
        return f"used for {operations_words(used, judged.acl.resource_type)} only"
    return _WORDS.get(judged.why, f"to keep: {judged.why}")


def _parts(result: Result) -> Iterator[Part]:
    if result.judgeable.missing:
        yield Sentence(summary(result), "bad")
        yield Items(
            Item(each.words, under=[f"next: {each.next}"]) for each in result.judgeable.missing
        )
        return
    for each in result.changed:
        yield from _narrowed_parts(each)
    yield from _stay_parts(result)
    yield Sentence(summary(result), "good")
    if result.changed:
        yield Sentence(
            "Next: the same with --format kafka-acls is a script; strimzi and terraform hold the "
            "new set."
        )


def _narrowed_parts(proven: Proven) -> Iterator[Part]:
    narrowed = proven.narrowed
    yield Heading(narrowed.principal)
    items = [Item(acl_words(acl, narrowed.principal), "+") for acl in narrowed.added]
    items += (
        Item(acl_words(each.acl, narrowed.principal), "-", [why_words(each)])
        for each in narrowed.judged
        if each.fate != STAYS
    )
    items += _kept_items(proven)
    yield Items(items)
    if counted := _counted(proven):
        yield Sentence(counted)
    lines = lost_lines(proven)
    if lines:
        yield Sentence(f"{narrowed.principal} loses exactly this:")
        yield Items(Item(line_words(line), MARKS[line.kind]) for line in lines)
    else:
        yield Sentence(f"{narrowed.principal} loses nothing: other ACLs allow the same.")


def lost_lines(proven: Proven) -> list[ChangeLine]:
    """Return what a principal loses, for every name."""
    return change_lines(each.opening for each in proven.lost)


def _kept_items(proven: Proven) -> Iterator[Item]:
    """Yield what stays for a reason of its own."""
    for each in proven.narrowed.judged:
        if each.fate == STAYS and each.why not in _PLAIN:
            words = acl_words(each.acl, proven.narrowed.principal)
            yield Item(words, under=[f"stays: {why_words(each)}"])


def _counted(proven: Proven) -> str:
    """Count what stays for the usual reasons."""
    found = Counter(each.why for each in proven.narrowed.judged if each.fate == STAYS)
    told = [
        f"{found[USED]:,} used" if found[USED] else "",
        number_of(found[DENIES], "DENY") if found[DENIES] else "",
        f"{found[SHARED]:,} for other principals too" if found[SHARED] else "",
    ]
    return f"These ACLs stay: {', '.join(filter(None, told))}." if any(told) else ""


def _stay_parts(result: Result) -> Iterator[Part]:
    """Yield who needs all ACLs, and what cannot be judged of theirs."""
    same = [each for each in result.proven if each.narrowed.judged and not each.narrowed.removed]
    items = [
        Item(f"{each.narrowed.principal}: {item.text}", under=item.under)
        for each in same
        for item in _kept_items(each)
    ]
    if same:
        names = few((each.narrowed.principal for each in same), _MOST_PRINCIPALS)
        yield Heading("No change")
        yield Sentence(f"Of {number_of(len(same), 'principal')} no ACL can be narrowed: {names}.")
    if items:
        yield Items(items)


def _besides(result: Result) -> Iterator[str]:
    """Yield what rows do not hold: what is lost, and the verdict."""
    for each in result.judgeable.missing:
        yield f"{each.words} Next: {each.next}"
    for proven in result.changed:
        yield from (f"{MARKS[LOST]} {line_words(line)}" for line in lost_lines(proven))
    yield summary(result)


def _coverage_notes(result: Result) -> Iterator[str]:
    judgeable = result.judgeable
    start, end = judgeable.window_from, judgeable.window_to
    if start is not None and end is not None and not judgeable.missing:
        # 99.96 % is not all of it.
        covered = floor(judgeable.covered * 1000) / 1000
        yield (
            f"Judged by {result.days:g} days of the log, {start:{_DAY}} to {end:{_DAY}}, of which "
            f"{covered:.1%} are covered. Use that is rarer does not show: --keep FILE."
        )
    if judgeable.age is not None and judgeable.age >= timedelta(days=1):
        days = number_of(judgeable.age.days, "day")
        yield f"The log ends {days} before the ACLs were read. Use since then does not show."
    if judgeable.controllers is not None and not judgeable.missing:
        each = judgeable.controllers
        yield f"{each.words} What only controllers decide stays. Next: {each.next}"


def _rows(result: Result) -> Iterator[Row]:
    for proven in result.proven:
        who = proven.narrowed.principal
        for acl in proven.narrowed.added:
            yield who, "add", *acl.binding, None, None, [], 0, None, []
        for each in proven.narrowed.judged:
            times = [use.last_at for use in each.uses if use.last_at is not None]
            yield (
                who,
                _CHANGES[each.fate],
                *each.acl.binding,
                each.acl.acl_id,
                each.why,
                sorted({use.request.operation for use in each.uses}),
                sum(use.lines for use in each.uses),
                max(times, default=None),
                list(map(str, each.by)),
            )


def _object(result: Result) -> dict[str, Any]:
    judgeable = result.judgeable
    controllers = [judgeable.controllers] if judgeable.controllers else []
    return {
        "cluster": result.cluster_id,
        "window_from": judgeable.window_from,
        "window_to": judgeable.window_to,
        "covered": judgeable.covered,
        "missing": [each._asdict() for each in judgeable.missing],
        "partly_missing": [each._asdict() for each in controllers],
        "principals": [_principal(each) for each in result.proven],
        "changes": as_objects(COLUMNS, _rows(result)),
        "notes": [*_coverage_notes(result), *result.notes],
    }


def _principal(proven: Proven) -> dict[str, Any]:
    narrowed = proven.narrowed
    return {
        "principal": narrowed.principal,
        "removed": len(narrowed.removed),
        "added": len(narrowed.added),
        "uses": proven.uses,
        "verdict": proven.comparison.difference.verdict,
        "lost": [_loss(each) for each in proven.lost],
        "lost_cells": len(proven.comparison.difference.of_kind(LOST)),
    }


def _loss(each: Counterexample) -> dict[str, Any]:
    """Return a loss: in words, and one of its requests."""
    return {"access": opening_words(each.opening), "for_example": asdict(each.request)}
