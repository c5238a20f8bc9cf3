"""Resources as people write them: ``topic:NAME``, ``group:NAME``, …, ``cluster``."""

from __future__ import annotations

from typing import Final, NamedTuple

from aclkit.errors import UsageError
from aclkit.model.phrases import most_like
from aclkit.model.visible import visible

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
        likely = visible(likely_resource(text))
        wrong = f"{text!r} has no {'name' if likely.endswith(':NAME') else 'resource type'}"
        if colon:
            wrong = f"{word!r} is not a resource type"
        if likely == "cluster":
            wrong = f"{text!r} is not a resource"
        raise UsageError(f"{wrong}. Did you mean {likely}?")
    return Resource(resource_type, name)


def likely_resource(text: str) -> str:
    """Return the resource that was most likely meant.

    >>> [likely_resource(text) for text in ("payments", "Topic:x", "topcis:x", "txn:t")]
    ['topic:payments', 'topic:x', 'topic:x', 'transactional-id:t']
    """
    word, colon, name = text.partition(":")
    plain = word.lower().replace("_", "-")
    if plain == "cluster":
        return plain
    if not colon:
        kind = _type_like(plain)
        return f"topic:{text or 'NAME'}" if kind is None else f"{kind}:NAME"
    return f"{_type_like(plain) or 'topic'}:{name}"


def _type_like(word: str) -> str | None:
    """Return the type that a word is most like, None if it is like none."""
    if word in _OTHER_WORDS:
        return _OTHER_WORDS[word]
    names = [name for name in TYPE_OF_WORD if name != "cluster"]
    return most_like(word, names)


_OTHER_WORDS: Final = {
    "consumer-group": "group", "consumergroup": "group", "consumer": "group",
    "txn": "transactional-id", "transaction": "transactional-id",
    "transactionalid": "transactional-id",
    "token": "delegation-token", "principal": "user",
}  # fmt: skip
"""What others call them."""
