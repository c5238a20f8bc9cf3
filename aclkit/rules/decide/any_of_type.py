"""All ACLs of a type, a principal, host and operation → may some resource of the type be used?

Kafka's own answer is ``decide.by_resource_type``. This is KIP-1042's, which the proposal asks for
because Kafka's does not understand globs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from aclkit.model.acl import Acl, TypeRequest
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.rules.decide.by_resource_type import authorize_by_resource_type
from aclkit.rules.decide.rules import ALLOWED, DENIED, answers, decide
from aclkit.rules.patterns.contain import pattern_contains, pattern_symbols
from aclkit.rules.patterns.cover import ANY_ONE, ANY_RUN
from aclkit.rules.patterns.match import LITERAL
from aclkit.rules.patterns.trie import PatternTrie

_Pattern = tuple[str, str]
"""Pattern type and pattern text."""


def reads_as_kafka(semantics: Semantics) -> bool:
    """Whether ACLs are read as brokers do; which of several is named does not matter."""
    return replace(semantics, deciding_acl=KAFKA.deciding_acl) == KAFKA


def authorize_any(
    acls: Iterable[Acl], request: TypeRequest, settings: BrokerSettings, semantics: Semantics
) -> str:
    """Whether some resource of a type is open to the requester, as ACLs are read.

    Where they are read as brokers do, this is Kafka's answer (``decide.by_resource_type``), with
    its errors. Otherwise it is KIP-1042's:

    ALLOWED for a super user; where an ALLOW that answers principal, host and operation has a
    pattern that no single DENY that answers them contains; and under ``allow_everyone`` where
    some name is reached by no pattern of anybody. Two DENYs that only together cover an ALLOW
    are not seen: the answer is then ALLOWED, and each name is DENIED when it is asked about. The
    cluster has one name, so about it that name is asked.

    Args:
        acls: those of the resource type; others do not matter.
        request: the question.
        settings: the brokers' configuration.
        semantics: how the ACLs are read.
    """
    if reads_as_kafka(semantics):
        return authorize_by_resource_type(acls, request, settings)
    own = [acl for acl in acls if acl.resource_type == request.resource_type]
    asked = request.about(CLUSTER_NAME)
    if request.resource_type == "CLUSTER" or request.principal in settings.super_users:
        return decide(own, asked, settings, semantics).decision
    allows, denies = set[_Pattern](), set[_Pattern]()
    for acl in own:
        if answers(acl, asked, semantics):
            (allows if acl.is_allow else denies).add(acl.pattern[1:])
    if _is_any_open(allows, denies, semantics):
        return ALLOWED
    is_left = settings.allow_everyone and is_a_name_left({a.pattern[1:] for a in own}, semantics)
    return ALLOWED if is_left else DENIED


def is_a_name_left(patterns: Iterable[_Pattern], semantics: Semantics) -> bool:
    """Whether there is a name that no pattern matches; the empty one is a name too.

    Exact: a name of letters that stand in no pattern is matched by patterns of wildcards only;
    and such a pattern matches all names of that length.

    >>> from aclkit.model.semantics import KIP_1042
    >>> is_a_name_left([("GLOB", "??*"), ("PREFIXED", "a")], KIP_1042)
    True
    >>> is_a_name_left([("GLOB", "??*"), ("GLOB", "?"), ("LITERAL", "")], KIP_1042)
    False
    """
    rows = list(patterns)
    others = [row for row in rows if row != _WILDCARD] if semantics.wildcard_defect else rows
    symbols = [pattern_symbols(kind, text, semantics) for kind, text in others]
    if len(others) < len(rows):
        # LITERAL "*" leaves only longer names that begin with a star: what is behind that star?
        behind = (rest for each in symbols for rest in _behind_a_star(each))
        return _is_a_length_left(behind, least=1)
    return _is_a_length_left(symbols, least=0)


_Symbols = tuple[str, ...]
_WILDCARD: Final = (LITERAL, "*")


def _is_a_length_left(patterns: Iterable[_Symbols], least: int) -> bool:
    """Whether the patterns of wildcards only leave out a length, of ``least`` at least."""
    bare = [each for each in patterns if all(symbol in (ANY_ONE, ANY_RUN) for symbol in each)]
    exact = {len(each) for each in bare if ANY_RUN not in each}
    open_ended = [each.count(ANY_ONE) for each in bare if ANY_RUN in each]
    return not open_ended or any(length not in exact for length in range(least, min(open_ended)))


def _behind_a_star(symbols: _Symbols) -> Iterator[_Symbols]:
    """Yield patterns of what a pattern matches behind a first letter that is a star."""
    for at, symbol in enumerate(symbols):
        if symbol != ANY_RUN:
            if symbol in ("*", ANY_ONE):
                yield symbols[at + 1 :]
            return
        yield symbols[at:]


def _is_any_open(allows: set[_Pattern], denies: set[_Pattern], semantics: Semantics) -> bool:
    """Whether one of the allowed patterns is contained in none of the denied ones.

    What contains a pattern matches its text, read as a name: so an index finds the candidates.
    """
    rows = list(denies)
    index = PatternTrie.build(((at, *row) for at, row in enumerate(rows)), semantics)
    return any(
        not any(pattern_contains(*rows[at], *allow, semantics) for at in index.matches(allow[1]))
        for allow in allows
    )
