"""Keys of a configuration → whether they are a broker's. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.broker_settings import ALLOW_EVERYONE, AUTHORIZER, MAPPING_RULES, SUPER_USERS

DECIDING: Final = (SUPER_USERS, ALLOW_EVERYONE, AUTHORIZER, MAPPING_RULES)
"""The keys that affect decisions."""

FORMS: Final = (
    "a broker's .properties file, lines such as KAFKA_SUPER_USERS=User:admin, a compose file, a "
    "Kubernetes resource with env, a ConfigMap with a .properties file, or Strimzi's Kafka resource"
)

_NUMBERS: Final = ("broker.id", "node.id")
_BROKER: Final = (
    *_NUMBERS, "process.roles", "listeners", "advertised.listeners", "zookeeper.connect",
    "log.dirs",
)  # fmt: skip
_IGNORED: Final = "ignored"
"""What helpers that run from a broker's image set its variables to, for its start script."""


def has_broker_key(keys: Mapping[str, str]) -> bool:
    """Whether some key is a broker's own with a real value, or one that affects decisions."""
    has_own = any(keys.get(key, "").strip() not in ("", _IGNORED) for key in _BROKER)
    return has_own or any(key in keys for key in DECIDING)


def is_broker(keys: Mapping[str, str]) -> bool:
    """Whether a container is a broker; Kafka starts none whose number is a word.

    >>> is_broker({"broker.id": "ignored", "zookeeper.connect": "z"}), is_broker({"node.id": "1"})
    (False, True)
    """
    is_word = any(keys.get(key, "").strip().isalpha() for key in _NUMBERS)
    return has_broker_key(keys) and not is_word


WITHOUT_FILE: Final = (
    "Instead of the file, pass --super-users (or --no-super-users) and --allow-everyone (or "
    "--no-allow-everyone)."
)


def unknown_form(source: str, *found: str) -> UsageError:
    """Return the error about a file that holds nothing of a broker."""
    return UsageError(" ".join([f"{source}: expected {FORMS}.", *found, WITHOUT_FILE]))
