"""Resources as people write them: ``topic:NAME``, ``group:NAME``, …, ``cluster``."""

from __future__ import annotations

from typing import Final, NamedTuple

from aclkit.errors import UsageError

CLUSTER_NAME: Final = "kafka-cluster"
"""The only name a CLUSTER resource has (Resource.CLUSTER_NAME)."""

TYPE_OF_WORD: Final[dict[str, str]] = {
    "topic": "TOPIC",
    "group": "GROUP",
    "cluster": "CLUSTER",
    "transactional-id": "TRANSACTIONAL_ID",
    "delegation-token": "DELEGATION_TOKEN",
    "user": "USER",
}
WORD_OF_TYPE: Final[dict[str, str]] = {name: word for word, name in TYPE_OF_WORD.items()}


class Resource(NamedTuple):
    """A thing that is asked about: a resource type and a name."""

    resource_type: str
    resource_name: str

    def __str__(self) -> str:
        """Write the resource as people do."""
        word = WORD_OF_TYPE[self.resource_type]
        return word if self.resource_type == "CLUSTER" else f"{word}:{self.resource_name}"


def parse_resource(text: str) -> Resource:
    """Read ``topic:NAME`` and its like; the name may be empty or hold colons.

    Raises:
        UsageError: the type is unknown or the name is missing.

    >>> parse_resource("topic:a:b"), parse_resource("cluster").resource_name
    (Resource(resource_type='TOPIC', resource_name='a:b'), 'kafka-cluster')
    """
    word, colon, name = text.partition(":")
    resource_type = TYPE_OF_WORD.get(word)
    if resource_type == "CLUSTER" and (not colon or name == CLUSTER_NAME):
        return Resource("CLUSTER", CLUSTER_NAME)
    if resource_type is None or resource_type == "CLUSTER" or not colon:
        forms = ", ".join(f"{w}:NAME" for w in TYPE_OF_WORD if w != "cluster")
        raise UsageError(f"bad resource {text!r}: expected cluster or one of {forms}")
    return Resource(resource_type, name)
