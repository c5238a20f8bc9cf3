"""A preview → its answer: each change once, what they come to, and what is not known. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.answer.document import Answer, Item, Items, Part, Sentence
from aclkit.model.acl import acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.questions.preview.access_change import KINDS, REDECIDED
from aclkit.questions.preview.effect import ChangedCell
from aclkit.questions.preview.preview import Preview
from aclkit.questions.preview.preview_json import preview_members
from aclkit.questions.preview.words import (
    PLANNED,
    Tense,
    example_sentence,
    next_reading_sentence,
    notes,
    part_sentences,
    reason_words,
    total_sentence,
)
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.rules.names.change_lines import MARKS, ChangeLine, change_lines, line_words
from aclkit.rules.names.compare import OTHERWISE, SLEEPS, WAKES
from aclkit.rules.names.words import semantics_change_words

COLUMNS: Final = ("change", *ChangedCell._fields)
_BECOMES: Final = {
    WAKES: "takes effect",
    SLEEPS: "loses its effect",
    OTHERWISE: "is read differently",
}
_MOST_REDECIDED: Final = 3
"""Of what stays allowed or denied so many reasons are shown."""


def preview_answer(preview: Preview, title: str, tense: Tense = PLANNED) -> Answer:
    """Return what a change does to access: a line each, and every decision for programs."""
    return Answer(
        title=title,
        columns=COLUMNS,
        rows=((kind, *cell) for kind in KINDS for cell in preview.effect.cells(kind)),
        parts=lambda: _parts(preview, tense),
        besides=lambda: _besides(preview, tense),
        notes=tuple(notes(preview)),
        json=lambda: preview_members(preview),
    )


def _parts(preview: Preview, tense: Tense) -> Iterator[Part]:
    lines = change_lines(preview.openings)
    if first := next_reading_sentence(preview):
        yield Sentence(first)
    items = [*_changes(preview, lines), *_redecided(preview), *_rereads(preview)]
    if items:
        yield Items(items)
    yield Sentence(total_sentence(preview, lines, tense), "good" if preview.is_known else "bad")
    yield from map(Sentence, part_sentences(preview, tense))


def _besides(preview: Preview, tense: Tense) -> Iterator[str]:
    """Yield what changes for every name, known or not; rows are about known names."""
    lines = change_lines(preview.openings)
    for line, words in _told(preview, lines):
        yield f"{MARKS[line.kind]} {words}"
    yield total_sentence(preview, lines, tense)
    yield from part_sentences(preview, tense)


def _changes(preview: Preview, lines: Sequence[ChangeLine]) -> Iterator[Item]:
    """Yield what is gained and lost; below the first what decided it and what will."""
    example = example_sentence(preview)
    under = [example] if example and len(lines) == 1 else []
    for line, words in _told(preview, lines):
        yield Item(words, MARKS[line.kind], under)


def _told(preview: Preview, lines: Sequence[ChangeLine]) -> Iterator[tuple[ChangeLine, str]]:
    """Yield each line with its words."""
    known = grouped(preview.asked.resources)
    for line in lines:
        yield line, line_words(line, known.get(line.resource_type, ()))


def _redecided(preview: Preview) -> Iterator[Item]:
    """Yield what stays allowed or denied and is decided by another ACL or rule."""
    counts: Counter[tuple[Verdict, Verdict]] = Counter()
    for line in preview.effect.lines(REDECIDED):
        counts[line.before, line.after] += len(line.hosts)
    for (before, after), number in counts.most_common(_MOST_REDECIDED):
        what = f"{number_of(number, 'access', 'accesses')} still {before.decision.lower()}"
        then, now = reason_words(preview, before), reason_words(preview, after)
        yield Item(f"{what}: {now} (before: {then})", "~")
    if len(counts) > _MOST_REDECIDED:
        more = counts.total() - sum(n for _, n in counts.most_common(_MOST_REDECIDED))
        yield Item(f"{number_of(more, 'more access', 'more accesses')} by another ACL or rule", "~")


def _rereads(preview: Preview) -> Iterator[Item]:
    """Yield what each ACL does that is read otherwise, that of most access first."""
    for each in sorted(preview.rereads, key=lambda each: -len(each.changes)):
        yield Item(
            f"{acl_words(each.acl)} {_BECOMES[each.becomes]}: {semantics_change_words(each)}", "~"
        )
