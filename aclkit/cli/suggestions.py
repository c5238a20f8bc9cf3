"""Invalid words of a command line → what was most likely meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER
from aclkit.model.enums import AclOperation
from aclkit.model.phrases import most_like
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE, Resource, parse_resource
from aclkit.questions.query.tasks import TASKS
from aclkit.rules.decide.handlers import (
    AskedRequest,
    asked_request,
    is_request,
    likely_request,
)
from aclkit.rules.names.domain import domain_of

_OTHER_WORDS: Final[dict[str, str]] = {
    "who": "who-can", "what": "what-can", "explain": "why", "log": "history",
    "ls": "acls list", "list": "acls list", "show": "acls show", "add": "acls add",
    "rm": "acls remove", "remove": "acls remove", "check": "audit", "lint": "audit",
    "findings": "audit", "scan": "audit", "import": "replay", "load": "replay", "ingest": "replay",
    "decide": "materialize", "nightly": "run", "start": "demo", "try": "demo", "query": "sql",
    "select": "sql", "plan": "preview", "simulate": "preview", "what-if": "preview",
    "compare": "diff", "test": "assert", "policy": "assert", "notify": "alert", "clean": "maintain",
    "vacuum": "maintain", "unused": "usage", "version": "--version", "may": "can", "allowed": "can",
}  # fmt: skip
"""What others call a command."""


def likely_command(word: str, commands: Iterable[str]) -> str | None:
    """Return the command that was most likely meant, None if none is likely.

    >>> likely_command("whocan", ["who-can", "what-can"]), likely_command("xyz", ["who-can"])
    ('who-can', None)
    """
    known = list(commands)
    plain = word.lower().replace("_", "-")
    other = _OTHER_WORDS.get(plain)
    if other is not None and (other.startswith("-") or other.partition(" ")[0] in known):
        return other
    return most_like(plain, known)


def asked_resource(text: str) -> Resource:
    """Read the resource of a question; only a group may have the empty name.

    Raises:
        UsageError: it is none, or has no name.
    """
    resource = parse_resource(text)
    if not resource.resource_name and resource.resource_type != "GROUP":
        word = WORD_OF_TYPE[resource.resource_type]
        raise UsageError(
            f"{text!r} has no name. Pass {word}:NAME. For every {word}: "
            f"aclkit what-can PRINCIPAL {word}"
        )
    return resource


def possible_resource(text: str, operation: str, instead: str | None = None) -> Resource:
    """Read the resource of a question about who can do something to it: one that there can be.

    Args:
        text: the resource.
        operation: what is asked about it.
        instead: what to ask where it is meant as a pattern; by default who can do it to what
            begins so.

    Raises:
        UsageError: as in ``asked_resource``, or no resource can have such a name.
    """
    resource = asked_resource(text)
    kind, name = resource
    domain = domain_of(kind)
    if name == ANY_OTHER or domain.holds(name):
        return resource
    word, start = WORD_OF_TYPE[kind], name.rstrip("*")
    message = f"No {word} can have the name {name!r}"
    if start != name and domain.holds(f"{start}x"):
        raise UsageError(f"{message}. {instead or _by_prefix(kind, start, operation)}")
    raise UsageError(f"{message}{_LEGAL.get(kind, '')}.")


def star_note(resource: Resource, operation: str) -> str | None:
    """Explain that the star in an unknown name is no wildcard.

    >>> star_note(Resource("GROUP", "app-*"), "READ")
    "* is part of this name. For every group that begins with 'app-', also those to come: \
aclkit who-can READ group --prefix app-"
    """
    kind, name = resource
    if not name.endswith("*"):
        return None
    return f"* is part of this name. {_by_prefix(kind, name.rstrip('*'), operation)}"


def _by_prefix(resource_type: str, start: str, operation: str) -> str:
    word = WORD_OF_TYPE[resource_type]
    meant = shlex.join(["aclkit", "who-can", operation, word, "--prefix", start])
    every = f"every {word} that begins with {start!r}" if start else f"every {word}"
    return f"For {every}, also those to come: {meant}"


def asked_type(text: str) -> str:
    """Read the resource type for ``--prefix``.

    Raises:
        UsageError: it is no type, or one with a single resource.
    """
    known = [word for word in TYPE_OF_WORD if word != "cluster"]
    if text not in known:
        raise UsageError(
            f"With --prefix the resource is a type, not {text!r}. Expected one of "
            f"{', '.join(known)}."
        )
    return TYPE_OF_WORD[text]


_LEGAL: Final = {
    "TOPIC": ": a topic has up to 249 ASCII letters, digits, '.', '_' and '-'",
    "USER": ": a user is a principal such as User:alice",
}


def check_order(command: str, **words: str) -> None:
    """Refuse words that are valid only in another order.

    Args:
        command: the command before these words.
        words: the words by their role (``principal``, ``operation``, ``resource``), in their order.

    Raises:
        UsageError: the order is wrong; the message has the words in the right order.
    """
    if _fit(words, words.values()):
        return
    for given in permutations(words.values()):
        if _fit(words, given):
            meant = shlex.join(["aclkit", command, *given])
            raise UsageError(f"Wrong order. Did you mean: {meant}")


def missing_resource(word: str) -> UsageError:
    """Return the error of who-can with a single word."""
    given = ["ANY", word] if _is_resource(word) else [word, "topic:NAME"]
    meant = shlex.join(["aclkit", "who-can", *given])
    return UsageError(f"Pass an operation and a resource. Did you mean: {meant}")


def _fit(words: Mapping[str, str], given: Iterable[str]) -> bool:
    return all(_LOOKS_LIKE[kind](word) for kind, word in zip(words, given, strict=True))


def looks_like_name(word: str) -> bool:
    """Whether a word is a principal without its type, rather than another part of a question.

    >>> [looks_like_name(word) for word in ("bob", "User:bob", "READ", "JoinGroup", "cluster")]
    [True, False, False, False, False]
    """
    return ":" not in word and not _is_operation(word) and not _is_resource(word)


def operation_or_request(text: str, resource_type: str) -> tuple[str, AskedRequest | None]:
    """Read an operation, or a request by Kafka's name: the operation that it needs, and itself.

    Raises:
        UsageError: a request that checks no such resource, or a word that looks like a request.
    """
    if is_request(text):
        sent = asked_request(text, resource_type)
        return sent.operation, sent
    if not _is_operation(text) and (likely := likely_request(text, resource_type)):
        raise UsageError(f"Unknown operation or request {text!r}. Did you mean {likely}?")
    return text, None


def _is_operation(word: str) -> bool:
    names = [name for name in word.split(",") if name]
    return bool(names) and all(map(_is_one_operation, names))


def _is_one_operation(word: str) -> bool:
    is_kafkas = word.upper().replace("-", "_") in AclOperation.__members__
    return is_kafkas or is_request(word) or word.lower() in TASKS


def _is_resource(word: str) -> bool:
    return word == "cluster" or (word.partition(":")[0] in TYPE_OF_WORD and ":" in word)


def _is_principal(word: str) -> bool:
    return looks_like_name(word) or (bool(_PRINCIPAL.match(word)) and not _is_resource(word))


_PRINCIPAL: Final = re.compile(r"[^:]+:")
_LOOKS_LIKE: Final[dict[str, Callable[[str], bool]]] = {
    "principal": _is_principal, "operation": _is_operation, "resource": _is_resource,
}  # fmt: skip
