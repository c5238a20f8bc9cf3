"""A request by Kafka's name, about a resource → the request, what it checks there, in words too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from aclkit.errors import UsageError
from aclkit.model.acl_words import type_words
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import most_like
from aclkit.model.resource import WORD_OF_TYPE
from aclkit.rules.decide.handlers import REQUESTS
from aclkit.rules.decide.requests import Check, KafkaRequest, Way


class AskedRequest(NamedTuple):
    """A request that a person named, and the operation that it checks on the given resource."""

    request: KafkaRequest
    operation: str


def is_request(text: str) -> bool:
    """Whether a word is the name of a request, in any case.

    >>> is_request("joingroup"), is_request("READ")
    (True, False)
    """
    return text.lower() in _BY_NAME


def asked_request(text: str, resource_type: str) -> AskedRequest:
    """Return the request of a name that checks a resource type; of several the plainest.

    Raises:
        UsageError: it checks no resource of the type, or no ACL.

    >>> asked_request("findcoordinator", "TRANSACTIONAL_ID").request.title
    'FindCoordinator of a transactional id'
    >>> asked_request("InitProducerId", "CLUSTER").operation
    'IDEMPOTENT_WRITE'
    """
    variants = _BY_NAME[text.lower()]
    found = [
        (check.aside, at, AskedRequest(request, check.operation))
        for at, request in enumerate(variants)
        for way in request.ways
        for check in way.checks
        if check.resource_type == resource_type and not check.of_any
        if check.operation in OPERATIONS_OF_TYPE[resource_type]
    ]
    if not found:
        raise _checks_no(variants, resource_type)
    return min(found, key=lambda each: each[:2])[-1]


def likely_request(text: str, resource_type: str) -> str | None:
    """Return the request that was most likely meant; None if an operation is more likely, or none.

    >>> likely_request("JoinGrop", "GROUP"), likely_request("describe_config", "TOPIC")
    ('JoinGroup', None)
    """
    operations = {_plain(name): None for name in OPERATIONS_OF_TYPE[resource_type]}
    known = {name: variants[0].name for name, variants in _BY_NAME.items()} | operations
    found = most_like(_plain(text), known, _ALIKE)
    return known[found] if found else None


def needs_words(request: KafkaRequest) -> str:
    """Write what lets a request pass.

    >>> needs_words(asked_request("OffsetCommit", "GROUP").request)
    'READ on the group and READ on the topic'
    """
    return ", or ".join(_way_words(way) for way in request.ways)


def _way_words(way: Way) -> str:
    when = f" ({way.when})" if way.when else ""
    if way.fact is not None:
        return f"{way.fact}{when}"
    return " and ".join(map(_check_words, way.checks)) + when


def _check_words(check: Check) -> str:
    word = type_words(check.resource_type)
    return f"{check.operation} on {'any' if check.of_any else 'the'} {word}"


def _checks_no(variants: list[KafkaRequest], resource_type: str) -> UsageError:
    """Return the error of a request that has nothing to do with resources of a type."""
    name, word = variants[0].name, WORD_OF_TYPE[resource_type]
    forms = list(dict.fromkeys(_forms(variants)))
    if not forms:
        return UsageError(f"{name} is decided without ACLs: {needs_words(variants[0])}.")
    return UsageError(f"{name} checks no {word}. Did you mean {' or '.join(forms)}?")


def _forms(variants: list[KafkaRequest]) -> Iterator[str]:
    for request in variants:
        for check in (check for way in request.ways for check in way.checks if not check.of_any):
            word = WORD_OF_TYPE[check.resource_type]
            if check.operation in OPERATIONS_OF_TYPE[check.resource_type]:
                yield word if check.resource_type == "CLUSTER" else f"{word}:NAME"


def _plain(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")


_ALIKE: Final = 0.75
_BY_NAME: Final = grouped((request.name.lower(), request) for request in REQUESTS)
