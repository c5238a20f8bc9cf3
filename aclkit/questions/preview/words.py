"""A preview → the sentences that say what comes of it, the same in every format. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.questions.preview.access_change import GAINED, KINDS, LOST
from aclkit.questions.preview.effect import Effect
from aclkit.questions.preview.preview import Preview, ToCome
from aclkit.questions.query.outside import Verdict
from aclkit.questions.query.words import acl_words


def verdict_sentence(preview: Preview) -> str:
    """Write the verdict and how much differs."""
    counts = ", ".join(f"{preview.effect.count(kind):,} {kind}" for kind in KINDS)
    parts = [f"{preview.verdict}: {counts}"]
    if preview.effect.parts:
        principals = _number(len(preview.effect.by_principal), "principal")
        parts.append(f"{principals} on {_number(len(preview.effect.parts), 'resource')}")
    verbs = {GAINED: "gain", LOST: "lose"}
    coming = [
        verb
        for kind, verb in verbs.items()
        if any(found.effect.count(kind) for found in preview.to_come)
    ]
    if coming:
        parts.append(f"names to come {' and '.join(coming)}")
    return "; ".join(parts)


def scope_sentences(preview: Preview) -> Iterator[str]:
    """Yield what was looked at, and what is proven beyond it."""
    asked = preview.asked
    sizes = (
        _number(len(asked.principals), "principal"),
        _number(len(asked.hosts), "host"),
        _number(len(asked.resources), "resource"),
    )
    coming = len(preview.witnesses)
    also = ""
    if coming:
        also = (
            f", and {_number(coming, 'name')} in the place of those to come: one for each touched "
            "pattern and for each overlap of it with one other pattern"
        )
    named = f" ({preview.named:,} of them named by the change only)" if preview.named else ""
    yield f"the inventory: {', '.join(sizes[:-1])} and {sizes[-1]}{named}{also}"
    if preview.proof:
        yield f"for every name: {preview.proof}, by containment of single ACLs"


def example_sentence(preview: Preview) -> str | None:
    """Write what the example of a preview shows; None where nothing differs."""
    found = preview.example_line
    if found is None:
        return None
    line, effect = found
    before, after = (verdict_words(effect, verdict) for verdict in (line.before, line.after))
    return (
        f"{line.operation} on {line.resource} by {line.principal} from {line.hosts[0]}: "
        f"{line.before.decision} before ({before}), {line.after.decision} after ({after})"
    )


def verdict_words(effect: Effect, verdict: Verdict) -> str:
    """Write in short what decides: an ACL, or the rule where none does."""
    return acl_words(effect.acls[verdict.acl_id]) if verdict.acl_id else verdict.rule


def to_come_sentences(preview: Preview) -> Iterator[str]:
    """Yield which names to come are opened or closed, and to whom."""
    for coming in preview.to_come:
        if not coming.witness.is_overlap:
            for kind in (GAINED, LOST):
                if coming.effect.count(kind):
                    yield _to_come_sentence(coming, kind)
    overlaps = [coming.effect for coming in preview.to_come if coming.witness.is_overlap]
    looked_at = sum(witness.is_overlap for witness in preview.witnesses)
    gained, lost = (sum(bool(effect.count(kind)) for effect in overlaps) for kind in (GAINED, LOST))
    if looked_at:
        yield (
            f"names to come that another pattern reaches too: {looked_at:,} kinds looked at, "
            f"access is gained on {gained:,} of them and lost on {lost:,}"
        )


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


def few_hosts(hosts: Sequence[str], asked: Sequence[str] = ()) -> str:
    """Write hosts that fare alike: ``*`` where they are all, otherwise the first few."""
    if len(hosts) == len(asked):
        return "*"
    more = len(hosts) - _FEW
    return ",".join(hosts if more < 2 else [*hosts[:_FEW], f"… +{more} more"])


def _to_come_sentence(coming: ToCome, kind: str) -> str:
    who = _few(sorted({line.principal for line in coming.effect.lines(kind)}))
    operations = sorted({line.operation for line in coming.effect.lines(kind)})
    verb = "opens" if kind == GAINED else "closes"
    return (
        f"{verb} also {coming.witness.stands_for}: {', '.join(operations)} for {who} "
        f"(tried with {coming.witness.name})"
    )


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_FEW])
    return shown if len(names) <= _FEW else f"{shown} and {len(names) - _FEW:,} more"


_FEW: Final = 3


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
