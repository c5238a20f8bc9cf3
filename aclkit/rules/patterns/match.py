"""Does one pattern match one name, which of two is more specific, and can one ever match?

The specification, which every index is compared with. No regular expression is ever built from a
pattern: patterns come from strangers. Specificity is KIP-1042's, the fewest skipped letters, made
total.

Sources of what no request can meet: Topic.validate (names of topics), Resource.CLUSTER_NAME,
AclEntry.supportedOperations, InetAddress.getHostAddress (hosts), KafkaPrincipal (principals).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.cidr import Range, has_unknown_zone, is_any_other, parse_range, range_of_any_other
from aclkit.model.glob import glob_matches, is_universal
from aclkit.model.host import canonical_host
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.semantics import Semantics
from aclkit.model.symbol import PRINCIPALS, is_symbol

LITERAL, PREFIXED, GLOB = "LITERAL", "PREFIXED", "GLOB"


def has_wildcard(text: str) -> bool:
    """Whether a part of a principal, or a host, is a glob: GlobPrincipal.hasGlob."""
    return not text or "*" in text or "?" in text


def common_start(one: str, other: str) -> str:
    """Return the letters with which two names begin."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in pairs)


def effective_pattern_type(pattern_type: str, semantics: Semantics) -> str:
    """Return LITERAL, PREFIXED or GLOB: what a pattern type of the log acts as.

    Whatever is not LITERAL is a prefix to a broker, unknown codes too.
    """
    if pattern_type == LITERAL:
        return LITERAL
    return GLOB if pattern_type == GLOB and semantics.glob_patterns else PREFIXED


def matches_every_name(pattern_type: str, pattern: str, semantics: Semantics) -> bool:
    """Whether a resource pattern reaches any name whatever, "any other" included."""
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == LITERAL:
        return pattern == "*"
    return is_universal(pattern) if kind == GLOB else not pattern


def start_of_names(pattern_type: str, pattern: str, semantics: Semantics) -> tuple[str, bool]:
    """Return what every name that a pattern matches begins with, and whether that is all of it.

    >>> from aclkit.model.semantics import KIP_1042
    >>> start_of_names("GLOB", "pay-?*", KIP_1042), start_of_names("LITERAL", "pay", KIP_1042)
    (('pay-', False), ('pay', True))
    """
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == LITERAL:
        return ("", False) if pattern == "*" else (pattern, True)
    return (pattern.partition("*")[0].partition("?")[0] if kind == GLOB else pattern), False


def pattern_matches(pattern_type: str, pattern: str, name: str, semantics: Semantics) -> bool:
    """Whether a resource pattern matches a resource name (DESIGN.md, the rule).

    Under ``wildcard_defect`` LITERAL ``*`` misses longer names that begin with ``*``, because
    StandardAuthorizerData takes it for a literal that is a mere prefix of them.
    """
    if name == ANY_OTHER:
        return matches_every_name(pattern_type, pattern, semantics)
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == PREFIXED:
        return name.startswith(pattern)
    if kind == GLOB:
        return not pattern or glob_matches(pattern, name)
    if pattern == "*":
        return not (semantics.wildcard_defect and len(name) > 1 and name.startswith("*"))
    return pattern == name


def principal_matches(acl_principal: str, principal: str, semantics: Semantics) -> bool:
    """Whether an ACL's principal is, or stands for, the principal of a request.

    ``User:*`` matches every principal of every type. A principal without a colon matches
    none. Type and name are globs each on its own under ``identity_globs``.
    """
    if acl_principal == WILDCARD_PRINCIPAL:
        return True
    wanted, asked = split_principal(acl_principal), split_principal(principal)
    if wanted is None or asked is None:
        return False
    if not semantics.identity_globs:
        return wanted == asked and asked[1] != ANY_OTHER
    return _part_matches(wanted[0], asked[0]) and _part_matches(wanted[1], asked[1])


def names_exactly(acl_principal: str, semantics: Semantics) -> bool:
    """Whether an ACL's principal can match one principal only."""
    if acl_principal == WILDCARD_PRINCIPAL:
        return False
    parts = split_principal(acl_principal)
    if parts is None or not semantics.identity_globs:
        return parts is not None
    return not (has_wildcard(parts[0]) or has_wildcard(parts[1]))


def names_one(acl_principal: str, semantics: Semantics) -> bool:
    """Whether an ACL's principal names one principal that can be asked about: it is no symbol."""
    return names_exactly(acl_principal, semantics) and not is_symbol(PRINCIPALS, acl_principal)


def host_matches(acl_host: str, host: str, semantics: Semantics) -> bool:
    """Whether an ACL's host is, or stands for, the canonical host of a request.

    ``*`` is every host. Under ``cidr_hosts`` a text that parses as a range is that range, and no
    glob: no such text holds a ``*`` or a ``?``, so together with ``identity_globs`` each text is
    either a range, or a glob where it holds a wildcard, or one host. No address holds a ``/``, so
    a text with a ``/`` is a range or matches none: ``10.0.*/8`` is a glob, of nothing. What no ACL
    names within a range (``cidr.any_other_in``) is meant by that range, those around it and what
    is every host.
    """
    if acl_host == "*":
        return True
    meant = range_of_host(acl_host, semantics)
    if meant is not None:
        asked = range_of_any_other(host)
        return meant.holds(host) if asked is None else meant.contains(asked)
    if is_any_other(host):
        host = ANY_OTHER
    if semantics.identity_globs:
        return _part_matches(acl_host, host)
    return acl_host == host and host != ANY_OTHER


def range_of_host(acl_host: str, semantics: Semantics) -> Range | None:
    """Return the range that an ACL's host is, None where it is none or ranges do not decide."""
    return parse_range(acl_host) if semantics.cidr_hosts and "/" in acl_host else None


def is_malformed_range(acl_host: str, semantics: Semantics) -> bool:
    """Whether ranges decide and an ACL's host has a ``/`` and is none: it matches no address."""
    return semantics.cidr_hosts and "/" in acl_host and parse_range(acl_host) is None


def is_any_host(acl_host: str, semantics: Semantics) -> bool:
    """Whether an ACL's host matches every host."""
    return acl_host == "*" or (semantics.identity_globs and is_universal(acl_host))


def host_can_match(acl_host: str, semantics: Semantics) -> bool:
    """Whether any broker could ever see a host that this text matches.

    A glob without a ``/`` is taken to be able to; a text without wildcards must be what Java
    writes, and a range must hold an address.
    """
    if is_any_host(acl_host, semantics):
        return True
    meant = range_of_host(acl_host, semantics)
    if meant is not None:
        return meant.first <= meant.last
    if semantics.identity_globs and has_wildcard(acl_host):
        return "/" not in acl_host
    return canonical_host(acl_host) == acl_host


def reaches(acl: Acl, resource_type: str, resource_name: str, semantics: Semantics) -> bool:
    """Whether an ACL's pattern reaches a resource, for any principal."""
    return acl.resource_type == resource_type and pattern_matches(
        acl.pattern_type, acl.resource_name, resource_name, semantics
    )


def _part_matches(pattern: str, text: str) -> bool:
    """Match one part of an identity: a glob where it holds a wildcard or nothing."""
    if not has_wildcard(pattern):
        return pattern == text and text != ANY_OTHER
    if text == ANY_OTHER:
        return is_universal(pattern)
    return not pattern or glob_matches(pattern, text)


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


LONGEST_TOPIC_NAME: Final = 249

IS_MALFORMED: Final = "the host is not a valid range"
SLEEPS: Final = "the host is a range, which the brokers do not read"

_ILLEGAL: Final = re.compile(r"[^a-zA-Z0-9._-]")
_NO_TOPIC: Final = ("", ".", "..")


def reasons_never_to_match(acl: Acl, semantics: Semantics) -> Iterator[str]:
    """Yield each reason why no request can meet an ACL."""
    operations = OPERATIONS_OF_TYPE.get(acl.resource_type)
    if operations is None:
        yield f"no request has a resource of the type {acl.resource_type}"
    if reason := _name_reason(acl, semantics):
        yield reason
    covered = (coverage(acl.operation, acl.permission_type, each) for each in operations or ())
    if operations is not None and all(cover is None for cover in covered):
        yield f"no request on a {acl.resource_type} has operation {acl.operation}"
    if split_principal(acl.principal) is None:
        yield f"principal {acl.principal!r} has no colon between type and name"
    if reason := _host_reason(acl, semantics):
        yield reason


def can_match(acl: Acl, semantics: Semantics) -> bool:
    """Whether some request could meet an ACL."""
    return next(reasons_never_to_match(acl, semantics), None) is None


def _host_reason(acl: Acl, semantics: Semantics) -> str | None:
    if host_can_match(acl.host, semantics):
        return None
    if is_malformed_range(acl.host, semantics):
        return IS_MALFORMED
    meant = parse_range(acl.host)
    if meant is not None and meant.first > meant.last:
        return f"host {acl.host!r} contains no address, because no range contains 0.0.0.0"
    if meant is not None or has_unknown_zone(acl.host):
        return SLEEPS
    canonical = canonical_host(acl.host)
    if canonical is None:
        return f"host {acl.host!r} is not an IP address, and brokers compare only addresses"
    return f"brokers write host {acl.host!r} as {canonical!r} and compare hosts as text"


def _name_reason(acl: Acl, semantics: Semantics) -> str | None:
    if acl.resource_type == "TOPIC":
        return _topic_reason(acl, semantics)
    if acl.resource_type == "CLUSTER" and not pattern_matches(
        acl.pattern_type, acl.resource_name, CLUSTER_NAME, semantics
    ):
        return f"the pattern does not match {CLUSTER_NAME}, the name of every cluster resource"
    is_name = acl.pattern_type == LITERAL and acl.resource_name != "*"
    if acl.resource_type == "USER" and is_name and split_principal(acl.resource_name) is None:
        return f"USER {acl.resource_name!r} has no colon, and requests name users as User:NAME"
    return None


def _topic_reason(acl: Acl, semantics: Semantics) -> str | None:
    """Return why no topic can have a name that the pattern matches (Topic.validate), or None."""
    name = acl.resource_name
    kind = effective_pattern_type(acl.pattern_type, semantics)
    if kind == LITERAL and name == "*":
        return None
    letters = name.replace("*", "").replace("?", "") if kind == GLOB else name
    illegal = _ILLEGAL.search(letters)
    if illegal:
        return f"topic names cannot contain {illegal.group()!r}{_glob_hint(illegal.group(), kind)}"
    shortest = len(name) - name.count("*") if kind == GLOB else len(name)
    if shortest > LONGEST_TOPIC_NAME:
        return f"topic names have at most {LONGEST_TOPIC_NAME} characters"
    is_one_name = kind == LITERAL or (kind == GLOB and name == letters and name)
    return f"no topic can have the name {name!r}" if is_one_name and name in _NO_TOPIC else None


def _glob_hint(illegal: str, kind: str) -> str:
    return f", which is not a wildcard in a {kind} pattern" if illegal in "*?" else ""
