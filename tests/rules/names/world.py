"""Small worlds of ACLs in which every name can be tried, and the rule asked about each."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from aclkit.model.acl import Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KIP_1042, BrokerSettings, Semantics
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.domain import ANYTHING
from aclkit.rules.names.question import Question
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import pattern_matches

PEOPLE = ["User:x", "User:zz", "User:svc-a", "User:a-x", "User:svc-x", "Group:x", "User:q"]
HOSTS = ["10.0.0.1", "10.0.0.2", "9.9.9.9"]
NO_SETTINGS = BrokerSettings()


def names_up_to(length: int, letters: str = "abz", least: int = 1) -> list[str]:
    """Return every name of some letters up to a length."""
    return [
        "".join(name)
        for size in range(least, length + 1)
        for name in itertools.product(letters, repeat=size)
    ]


def acl(text: str, number: int = 0, resource_type: str = "TOPIC") -> Acl:
    """Read ``ALLOW User:a READ GLOB *x [HOST]``."""
    permission, principal, operation, kind, name, *host = text.split()
    return Acl(
        acl_id=f"acl-{number}",
        resource_type=resource_type,
        resource_name=name,
        pattern_type=kind,
        principal=principal,
        host=host[0] if host else "*",
        operation=operation,
        permission_type=permission,
    )


def rules(
    texts: Iterable[str], *, settings: BrokerSettings = NO_SETTINGS, semantics: Semantics = KIP_1042
) -> Rules:
    """Return a state of such ACLs."""
    acls = [acl(text, number) for number, text in enumerate(texts)]
    return Rules(acls=acls, settings=settings, semantics=semantics)


def random_texts(chance: random.Random, least: int, most: int) -> list[str]:
    """Draw ACLs that meet often: short patterns of few letters, globs of names and hosts."""
    return [_random_text(chance) for _ in range(chance.randint(least, most))]


def _random_text(chance: random.Random) -> str:
    kind = chance.choice(["LITERAL", "PREFIXED", "GLOB", "GLOB"])
    if kind == "GLOB":
        name = "".join(chance.choice("ab**?") for _ in range(chance.randint(1, 4)))
    elif kind == "LITERAL" and chance.random() < 0.2:
        name = "*"
    else:
        name = "".join(chance.choice("ab") for _ in range(chance.randint(1, 3)))
    who = chance.choice(["User:x", "User:x", "User:*", "User:svc-*", "User:*-x", "*:x"])
    operation = chance.choice(["READ", "ALL", "DESCRIBE"])
    permission = chance.choice(["ALLOW", "ALLOW", "DENY"])
    host = chance.choice(["*", "*", "10.0.*", "10.0.0.1"])
    return f"{permission} {who} {operation} {kind} {name} {host}"


def told_apart(
    names: Iterable[str], *states: Rules, by: Callable[[str], Iterable[bool]] = lambda _: ()
) -> list[str]:
    """Keep the first of the names that the same ACLs reach: the rule cannot tell them apart.

    What else tells them apart, ``by`` says.
    """
    patterns = sorted(
        {(*acl.pattern[1:], state.semantics) for state in states for acl in state.acls}, key=repr
    )
    names = tuple(names)
    reached = [_reached(*pattern, names) for pattern in patterns]
    first: dict[tuple[bool, ...], str] = {}
    for name, *said in zip(names, *reached, strict=True):
        first.setdefault((*said, *by(name)), name)
    return list(first.values())


@cache
def _reached(kind: str, pattern: str, how: Semantics, names: tuple[str, ...]) -> list[bool]:
    """Return of each name whether a pattern reaches it; many states have the same patterns."""
    return [pattern_matches(kind, pattern, name, how) for name in names]


def decisions(
    state: Rules, names: Iterable[str], operations: Iterable[str] = ("READ", "DESCRIBE")
) -> Iterator[tuple[tuple[str, str, str, str], bool]]:
    """Decide everything by the rule: (principal, host, operation, name) and whether it may."""
    index = AclIndex.of(state.acls, state.semantics)
    for name in names:
        for principal, host, operation in itertools.product(PEOPLE, HOSTS, operations):
            yield (
                (principal, host, operation, name),
                is_allowed(index, state.settings, principal, host, operation, name),
            )


def is_allowed(
    index: AclIndex,
    settings: BrokerSettings,
    principal: str,
    host: str,
    operation: str,
    name: str,
    resource_type: str = "TOPIC",
) -> bool:
    """Ask the rule."""
    assert operation in OPERATIONS_OF_TYPE[resource_type]
    request = Request(
        principal=principal,
        host=host,
        operation=operation,
        resource_type=resource_type,
        resource_name=name,
    )
    return index.decide(request, settings).decision == ALLOWED


def is_in(names: NameClass, name: str) -> bool:
    """Whether a name is of a class."""
    question = Question([[each] for each in names.patterns], ANYTHING)
    return question.flags_of(name) == (1 << len(names.patterns)) - 1
