"""A preview → the sentences that say what comes of it, the same in every format. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from aclkit.model.acl_words import acl_words
from aclkit.model.unknown_settings import caveats_on_list
from aclkit.questions.preview.access_change import KINDS
from aclkit.questions.preview.effect import Effect
from aclkit.questions.preview.preview import Preview
from aclkit.questions.query.other_reading import preset_of_other
from aclkit.questions.query.outside import Verdict
from aclkit.questions.query.words import other_name
from aclkit.rules.names.compare import EQUIVALENT, GAINED, LOST
from aclkit.rules.names.words import (
    cost_words,
    number_of,
    opening_words,
    reread_words,
    unknown_sentences,
)


def statements(preview: Preview) -> Iterator[tuple[str, str]]:
    """Yield what there is to say, each under a word: the verdict first."""
    yield "verdict", verdict_sentence(preview)
    for kind in (GAINED, LOST):
        yield from ((kind, words) for words in region_sentences(preview, kind))
    yield from reread_sentences(preview)
    yield from (("unknown", words) for words in left_open(preview))
    yield from (("settings", words) for words in settings_sentences(preview))
    yield "inventory", inventory_sentence(preview)
    if other := otherwise_sentence(preview):
        yield "otherwise", other
    if example := example_sentence(preview):
        yield "example", example


def otherwise_sentence(preview: Preview) -> str | None:
    """Write what the change does under the other reading of ACLs, where that is another effect."""
    other = preview.otherwise
    if other is None:
        return None
    name = other_name(preset_of_other(preview.change.semantics))
    return f"{name} it would be {verdict_sentence(other)}; {effect_counts(other)}"


def verdict_sentence(preview: Preview) -> str:
    """Write the verdict for every name, and what it took."""
    cost = cost_words(preview.budget)
    counts = " and ".join(
        f"{number_of(number, 'region')} {kind}" if number else f"nothing {kind}"
        for kind in (GAINED, LOST)
        if (number := len(preview.regions(kind))) or preview.is_known
    )
    if preview.verdict == EQUIVALENT:
        return f"equivalent, proven for every name ({cost})"
    if not preview.is_known:
        return f"{preview.verdict}: {counts or 'nothing found'}, but not all is known ({cost})"
    return f"{preview.verdict}, for every name: {counts} ({cost})"


def region_sentences(preview: Preview, kind: str) -> Iterator[str]:
    """Yield who gains or loses what on which names, the most cells first."""
    regions = preview.regions(kind)
    yield from (opening_words(opening) for opening in regions[:_MOST_REGIONS])
    if len(regions) > _MOST_REGIONS:
        yield f"… and {len(regions) - _MOST_REGIONS:,} more regions; --format json has them all"


def reread_sentences(preview: Preview) -> Iterator[tuple[str, str]]:
    """Yield under what becomes of it what each ACL does that is read otherwise, the most first."""
    lines = sorted(preview.rereads, key=lambda each: -len(each.changes))
    for each in lines[:_MOST_REGIONS]:
        yield each.becomes, f"{acl_words(each.acl)}: {reread_words(each)}"
    if len(lines) > _MOST_REGIONS:
        more = number_of(len(lines) - _MOST_REGIONS, "more ACL")
        yield "…", f"and {more} that are read otherwise; --format json has them all"


def left_open(preview: Preview) -> Iterator[str]:
    """Yield what the budget left open."""
    return unknown_sentences(preview.comparison.difference, preview.budget)


def settings_sentences(preview: Preview) -> Iterator[str]:
    """Yield what is wrong where nobody knows the brokers' settings of one side."""
    before, after = preview.change.before.settings, preview.change.after.settings
    return caveats_on_list(replace(before, unknown=before.unknown | after.unknown))


def inventory_sentence(preview: Preview) -> str:
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
    return f"{counts}{where}; looked at: {', '.join(sizes[:-1])} and {sizes[-1]}{named}"


def effect_counts(preview: Preview) -> str:
    """Write how many decisions about the inventory differ."""
    return ", ".join(f"{preview.effect.count(kind):,} {kind}" for kind in KINDS)


def example_sentence(preview: Preview) -> str | None:
    """Write what the example of a preview shows; None where nothing differs."""
    line = preview.example_line
    if line is None:
        return None
    before, after = (
        verdict_words(preview.effect, verdict) for verdict in (line.before, line.after)
    )
    return (
        f"{line.operation} on {line.resource} by {line.principal} from {line.hosts[0]}: "
        f"{line.before.decision} before ({before}), {line.after.decision} after ({after})"
    )


def verdict_words(effect: Effect, verdict: Verdict) -> str:
    """Write what decides: an ACL, or the rule where none does."""
    return acl_words(effect.acls[verdict.acl_id]) if verdict.acl_id else verdict.rule


def line_rows(preview: Preview, kind: str) -> Iterator[tuple[str, ...]]:
    """Yield what became so, for people: principal, hosts, operation, resource, and what decides.

    What decides is said before and after.
    """
    effect = preview.effect
    for line in effect.lines(kind):
        yield (
            line.principal,
            few_hosts(line.hosts, preview.asked.hosts),
            line.operation,
            str(line.resource),
            verdict_words(effect, line.before),
            verdict_words(effect, line.after),
        )


def few_hosts(hosts: Sequence[str], asked: Sequence[str]) -> str:
    """Write hosts that fare alike: ``*`` where they are all, otherwise the few others or the first.

    >>> few_hosts(["a", "b", "d", "e"], ["a", "b", "c", "d", "e"]), few_hosts("abcde", "abcdefghij")
    ('all but c', 'a,b,c,… +2 more')
    """
    if len(hosts) == len(asked):
        return "*"
    if len(hosts) > _FEW and 0 < len(asked) - len(hosts) <= _FEW:
        return f"all but {', '.join(sorted(set(asked).difference(hosts)))}"
    more = len(hosts) - _FEW
    return ",".join(hosts if more < 2 else [*hosts[:_FEW], f"… +{more} more"])


_FEW: Final = 3
_MOST_REGIONS: Final = 20
"""So many regions of a kind are told to people."""
