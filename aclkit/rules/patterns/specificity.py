"""Which of two patterns is the more specific: KIP-1042's fewest skipped letters, made total."""

from __future__ import annotations

from typing import NamedTuple

from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    PREFIXED,
    effective_pattern_type,
    has_wildcard,
    names_exactly,
    range_of_host,
)


class Specificity(NamedTuple):
    """A sort key: the more specific pattern is the smaller.

    More letters that stand for themselves, then fewer ``*``, then more ``?``, then a longer
    literal start.
    """

    minus_letters: int
    stars: int
    minus_questions: int
    minus_literal_start: int


NAME_EXACT, NAME_RANGE, NAME_GLOB, NAME_WILDCARD = 0, 1, 2, 3
"""Classes of an ACL's principal and host, the most specific first."""

_KIND_ORDER = {LITERAL: 0, PREFIXED: 1, GLOB: 2}


def pattern_specificity(
    pattern_type: str, pattern: str, semantics: Semantics
) -> tuple[Specificity, int]:
    """Return the sort key of a resource pattern: specificity, then LITERAL, PREFIXED, GLOB."""
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == LITERAL and pattern != "*":
        place = _literal(pattern)
    elif kind == PREFIXED:
        place = Specificity(-len(pattern), 1, 0, -len(pattern))
    else:
        place = _glob(pattern)
    return place, _KIND_ORDER[kind]


def principal_specificity(acl_principal: str, semantics: Semantics) -> tuple[int, Specificity]:
    """Return the sort key of an ACL's principal: exact, globs by specificity, ``User:*``."""
    if acl_principal == WILDCARD_PRINCIPAL:
        return NAME_WILDCARD, _glob("")
    parts = split_principal(acl_principal)
    if parts is None or names_exactly(acl_principal, semantics):
        return NAME_EXACT, _literal(acl_principal)
    kind, name = (_glob(part) if has_wildcard(part) else _literal(part) for part in parts)
    minus_start = kind.minus_literal_start
    if not has_wildcard(parts[0]):
        minus_start += name.minus_literal_start
    return NAME_GLOB, Specificity(
        kind.minus_letters + name.minus_letters,
        kind.stars + name.stars,
        kind.minus_questions + name.minus_questions,
        minus_start,
    )


def host_specificity(acl_host: str, semantics: Semantics) -> tuple[int, Specificity]:
    """Return the sort key of an ACL's host: exact, the narrower range, globs by specificity, ``*``.

    The letters of a range are the bits that its addresses share.
    """
    if acl_host == "*":
        return NAME_WILDCARD, _glob("")
    meant = range_of_host(acl_host, semantics)
    if meant is not None:
        return NAME_RANGE, Specificity(-meant.mask, 1, 0, -meant.mask)
    if semantics.identity_globs and has_wildcard(acl_host):
        return NAME_GLOB, _glob(acl_host)
    return NAME_EXACT, _literal(acl_host)


def _literal(text: str) -> Specificity:
    return Specificity(-len(text), 0, 0, -len(text))


def _glob(text: str) -> Specificity:
    """Measure a glob's normal form: a run of wildcards is its ``?``s and at most one ``*``."""
    letters = stars = questions = 0
    literal_start = -1
    star_in_run = False
    for character in text or "*":
        if character in "*?":
            literal_start = letters if literal_start < 0 else literal_start
            questions += character == "?"
            if character == "*" and not star_in_run:
                stars += 1
                star_in_run = True
        else:
            letters += 1
            star_in_run = False
    start = letters if literal_start < 0 else literal_start
    return Specificity(-letters, stars, -questions, -start)
