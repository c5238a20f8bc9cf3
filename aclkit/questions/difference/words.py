"""A preview → the sentences that state its effect, the same in every format. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from aclkit.model.broker_settings import caveats_on_list
from aclkit.model.phrases import listed, number_of
from aclkit.questions.difference.access_change import KINDS, REDECIDED
from aclkit.questions.difference.compared import Compared
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.questions.query.other_reading import other_name, preset_of_other
from aclkit.questions.query.table_words import short_reason
from aclkit.questions.state_words import request_words
from aclkit.rules.decide.confirm import Counterexample
from aclkit.rules.decide.rules import ALLOWED, Ruling
from aclkit.rules.names.change_lines import ChangeLine
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.words import unknown_sentences


class Verb(NamedTuple):
    """What principals do with access: one, several, and perhaps."""

    one: str
    many: str
    perhaps: str


@dataclass(frozen=True, slots=True)
class Tense:
    """How a change is spoken of: one that is planned, one that was, or two clusters.

    Attributes:
        nothing: no access differs.
        changes: some does.
        more: more may than is known.
        gained: what follows the number of what is gained.
        lost: the same of what is lost.
        verb: of access that is gained or lost.
        verbs: of those who lose and gain it; what is lost comes first.
    """

    nothing: str
    changes: str
    more: str
    gained: str
    lost: str
    verb: str
    verbs: Mapping[str, Verb]


PLANNED: Final = Tense(
    nothing="No access changes",
    changes="Access changes.",
    more="More access may change",
    gained="to gain",
    lost="to lose",
    verb="is",
    verbs={LOST: Verb("loses", "lose", "may lose"), GAINED: Verb("gains", "gain", "may gain")},
)
PAST: Final = Tense(
    nothing="No access changed",
    changes="Access changed.",
    more="More access may have changed",
    gained="gained",
    lost="lost",
    verb="was",
    verbs={
        LOST: Verb("lost", "lost", "may have lost"),
        GAINED: Verb("gained", "gained", "may have gained"),
    },
)


def total_sentence(preview: Compared, lines: Sequence[ChangeLine], tense: Tense) -> str:
    """Write what the changes come to, and for which names that is known."""
    of_kind = Counter(line.kind for line in lines)
    if lines or preview.has(GAINED) or preview.has(LOST):
        text = f"{of_kind[GAINED]:,} {tense.gained}, {of_kind[LOST]:,} {tense.lost}."
        text += f" {_today(preview)}"
    else:
        redecided = preview.effect.count(REDECIDED)
        more = f"; {number_of(redecided, 'decision')} by another ACL" if redecided else ""
        text = f"{tense.nothing}{more}."
    if preview.is_known:
        is_proven = not lines and preview.is_settled
        return f"{text} Proven for every name." if is_proven else text
    return f"{text} More may change: the search limit was reached."


def _today(preview: Compared) -> str:
    """Write how many accesses of known names these are."""
    gained, lost = preview.effect.count(GAINED), preview.effect.count(LOST)
    counts = [f"{n:,} {kind}" for n, kind in ((gained, GAINED), (lost, LOST)) if n]
    if not counts:
        return "Today this concerns no known name."
    who = sum(1 for each in preview.effect.by_principal if each.gained or each.lost)
    where = sum(1 for each in preview.effect.by_resource if each.gained or each.lost)
    accesses = f"{' and '.join(counts)} ({number_of(who, 'principal')}"
    return f"Accesses of known names: {accesses}, {number_of(where, 'resource')})."


def next_reading_sentence(preview: Compared) -> str | None:
    """Write that a GLOB makes the next run read all ACLs otherwise; None where none does."""
    then, now = preview.change.readings
    if preview.parts is None or now.glob_patterns <= then.glob_patterns:
        return None
    return (
        "No released Kafka broker reads a GLOB. The next run of aclkit does, and reads all ACLs "
        "by KIP-1042 from then on (--semantics auto)."
    )


_CAUSES: Final = ("By the reading alone", "By the ACLs")


def part_sentences(preview: Compared, tense: Tense) -> Iterator[str]:
    """Yield what comes of the reading alone, and what of the ACLs in the second reading."""
    for cause, part in zip(_CAUSES, preview.parts or (), strict=False):
        yield f"{cause}: {total_sentence(part, part.told, tense)}"


def example_sentence(preview: Compared) -> str | None:
    """Write what decided one access before, and what does after; None where nothing differs."""
    line = preview.example_line
    if line is None:
        return None
    before, after = (reason_words(preview, verdict) for verdict in (line.before, line.after))
    now = line.after.decision.lower()
    return f"{line.before.decision.lower()} before: {before}; {now} after: {after}"


def notes(preview: Compared) -> Iterator[str]:
    """Yield what the search limit left open, what is not known, and what depends on the reading."""
    yield from left_open(preview)
    yield from settings_sentences(preview)
    if other := otherwise_sentence(preview):
        yield other


def left_open(preview: Compared) -> Iterator[str]:
    """Yield what the search limit left open."""
    return unknown_sentences(preview.comparison.difference, preview.budget)


def settings_sentences(preview: Compared) -> Iterator[str]:
    """Yield what is wrong where the brokers' settings of one side are unknown."""
    before, after = preview.change.before.settings, preview.change.after.settings
    return caveats_on_list(replace(before, unknown=before.unknown | after.unknown))


def otherwise_sentence(preview: Compared) -> str | None:
    """Write what the change does under the other reading of ACLs, where that is another effect."""
    other = preview.otherwise
    if other is None:
        return None
    name = other_name(preset_of_other(preview.change.before.semantics))
    return f"{name}: {total_sentence(other, other.told, PLANNED)}"


def reason_words(preview: Compared, verdict: Verdict) -> str:
    """Write what decides: an ACL, or the rule where none does."""
    acl = None if verdict.acl_id is None else preview.effect.acls[verdict.acl_id]
    return short_reason(verdict.decision, verdict.rule, acl, None, None)


def inventory_sentence(preview: Compared) -> str:
    """Write how many decisions about the inventory differ, and what it holds."""
    asked = preview.asked
    counts = effect_counts(preview)
    where = ""
    if preview.effect.parts:
        principals = number_of(len(preview.effect.by_principal), "principal")
        where = f" for {principals} on {number_of(len(preview.effect.parts), 'resource')}"
    sizes = (
        number_of(len(asked.principals), "principal"),
        number_of(len(asked.hosts), "host"),
        number_of(len(asked.resources), "resource"),
    )
    named = f" ({preview.named:,} of them named by the change only)" if preview.named else ""
    return f"{counts}{where}; looked at: {listed(sizes)}{named}"


def effect_counts(preview: Compared) -> str:
    """Write how many decisions about the inventory differ."""
    return ", ".join(f"{preview.effect.count(kind):,} {kind}" for kind in KINDS)


def counterexample_words(example: Counterexample) -> str:
    """Write one request of a counterexample, and how both sides decide it."""
    asked = request_words(example.request)
    return f"{asked}: A {_decision_words(example.before)}; B {_decision_words(example.after)}"


def _decision_words(ruling: Ruling) -> str:
    """Write a decision with the ACL or the rule that makes it."""
    verb = "allows it" if ruling.decision == ALLOWED else "denies it"
    return f"{verb} ({short_reason(ruling.decision, ruling.rule, ruling.acl, None, None)})"
