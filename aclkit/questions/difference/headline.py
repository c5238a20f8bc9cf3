"""What changes at the end, perhaps and for a time → who loses how much, then who gains. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.phrases import capitalized, few, number_of
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.passing import Passing, request_of
from aclkit.questions.difference.words import Tense, Verb
from aclkit.questions.state import Depends
from aclkit.rules.names.change_lines import ChangeLine, access_words, change_lines
from aclkit.rules.names.compare import LOST
from aclkit.rules.names.region import RegionChange
from aclkit.rules.names.words import principal_words
from aclkit.rules.patterns.match import reaches

_MOST_LINES: Final = 2
"""So many changes a headline names one by one."""


def effect_sentences(compared: Compared, tense: Tense) -> Iterator[str]:
    """Yield who loses what, at the end, perhaps and for a time; then who gains."""
    for kind, verb in tense.verbs.items():
        lines = [line for line in compared.told if line.kind == kind]
        if len(lines) > _MOST_LINES and (counted := _counted(compared, kind, verb)):
            yield counted
        else:
            yield from _told(lines, verb.one, verb.many)
        for openings, words in _by_condition(compared, compared.others, kind):
            for each in _told(change_lines(openings), verb.perhaps, verb.perhaps):
                yield _depending(each, words)
        for openings, words in _by_condition(compared, compared.moment, kind):
            for each in _told(change_lines(openings), verb.one, verb.many):
                yield f"For a time: {_depending(each, words)}"


def _depending(sentence: str, words: str) -> str:
    return f"{sentence[:-1]}; this depends on {words}." if words else sentence


def _counted(compared: Compared, kind: str, verb: Verb) -> str:
    """Write how many accesses of known names principals lose or gain, the most first."""
    counts = [
        (each.lost if kind == LOST else each.gained, each.name)
        for each in compared.effect.by_principal
    ]
    told = sorted(((-number, name) for number, name in counts if number))
    if not told:
        return ""
    total = number_of(-sum(number for number, _ in told), "access", "accesses")
    who = number_of(len(told), "principal")
    names = few(f"{_name(name)} {-number:,}" for number, name in told)
    return f"{who} {verb.one if len(told) == 1 else verb.many} {total}: {names}."


def _name(principal: str) -> str:
    return "any other principal" if principal == ANY_OTHER_PRINCIPAL else principal


def _told(lines: Sequence[ChangeLine], one: str, many: str) -> Iterator[str]:
    """Yield a sentence for each of a few lines; one for all where there are more."""
    if len(lines) > _MOST_LINES:
        who = dict.fromkeys(
            principal_words(each) for line in lines for each in line.party.principals
        )
        verb = _verb([*who], one, many)
        yield _begun(f"{few(who)} {verb} access ({number_of(len(lines), 'change')}).")
        return
    for line in lines:
        names = [*map(principal_words, line.party.principals)]
        verb = _verb(names, one, many)
        yield _begun(f"{few(names)} {verb} {access_words(line)}.")


def _verb(who: Sequence[str], one: str, many: str) -> str:
    """Return the verb of some principals; one class may be several: ``principals that``."""
    return one if len(who) == 1 and not who[0].startswith("principals ") else many


def _begun(sentence: str) -> str:
    """Begin a sentence with a capital letter, where it does not begin with a name."""
    return capitalized(sentence) if sentence.startswith(("any ", "principals ")) else sentence


def _by_condition(
    compared: Compared, passing: Passing | None, kind: str
) -> Iterator[tuple[list[RegionChange], str]]:
    """Yield changes together that depend on the same, and on what."""
    judged = [each for each in compared.applied.depends if each.acls]
    found: dict[str, list[RegionChange]] = {}
    for opening in passing.of_kind(kind) if passing else ():
        own = [each.words for each in judged if _concerns(each, opening, compared)]
        found.setdefault("; and on ".join(own), []).append(opening)
    for words, changes in found.items():
        yield changes, words


def _concerns(depends: Depends, opening: RegionChange, compared: Compared) -> bool:
    """Whether an ACL of a condition reaches the resource of the request that shows a change."""
    resource = request_of(opening).resource
    semantics = compared.change.readings[1]
    return any(reaches(acl, *resource, semantics) for acl in (depends.acls or {}).values())
