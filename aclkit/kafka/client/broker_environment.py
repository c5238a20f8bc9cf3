"""Environment variables of a broker's container → the keys of its configuration. Pure.

Source: the start scripts of apache/kafka (KafkaDockerWrapper), cp-kafka and bitnami/kafka. Each
writes the value of ``KAFKA_SUPER_USERS`` unchanged after ``super.users=`` into a .properties file,
so that Java's escapes are read there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import javaproperties

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


PREFIX: Final = "KAFKA_"
_PREFIXES: Final = ("KAFKA_CFG_", PREFIX)
_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)", re.DOTALL)
_LINES: Final = re.compile(r"^[ \t]*(?:export[ \t]+)?KAFKA_\w+=", re.MULTILINE)
_VARIABLE: Final = re.compile(
    r"\$\$|\$(?:(?P<name>[A-Za-z_]\w*)|\((?P<round>[A-Za-z_][\w.-]*)\)"
    r"|\{(?P<braced>[A-Za-z_]\w*)(?=\}|:?[-?+]))",
    re.ASCII,
)
_QUOTES: Final = "\"'"


def has_variables(text: str) -> bool:
    """Whether a text has a line that sets a broker's environment variable."""
    return _LINES.search(text) is not None


def read_variables(lines: Iterable[str]) -> dict[str, str | None]:
    """Read lines such as ``NAME=VALUE``; a name without a value has None.

    >>> read_variables(["# x", "export KAFKA_A='b c'", "", "KAFKA_B"])
    {'KAFKA_A': 'b c', 'KAFKA_B': None}
    """
    found: dict[str, str | None] = {}
    for line in lines:
        if not (text := line.strip()) or text.startswith("#"):
            continue
        parts = _LINE.fullmatch(text)
        name, value = (text, None) if parts is None else (parts[1], _unquoted(parts[2]))
        found[name] = value
    return found


def keys_of(variables: Mapping[str, str | None], source: str) -> dict[str, str]:
    r"""Return what a container's start script writes into the configuration.

    A variable without a value comes from elsewhere, so its value is a placeholder.

    Raises:
        UsageError: two variables set one key to different values.

    >>> keys_of({"KAFKA_CFG_SUPER_USERS": r"User:a\,b", "KAFKA_LOG4J": None, "X": "1"}, "f")
    {'super.users': 'User:a,b', 'log4j': '${KAFKA_LOG4J}'}
    """
    keys: dict[str, str] = {}
    for name, key in _named(variables):
        value = variables[name]
        text = f"${{{name}}}" if value is None else _unescaped(value, source)
        if keys.setdefault(key, text) != text:
            raise UsageError(f"{source}: two variables set {key} to different values")
    return keys


def with_placeholders(value: str) -> str:
    """Write the variables of compose, a shell and Kubernetes in a value as ``${NAME}``.

    Their defaults are dropped, because the environment may set another value. A variable of a
    config provider stays, and so does a variable that is escaped by a dollar sign before it.

    >>> with_placeholders("$A;${B:-User:x;${C}};$(D);${file:/x:y};$$E;$1")
    '${A};${B};${D};${file:/x:y};$$E;$1'
    """
    written: list[str] = []
    position = 0
    while found := _VARIABLE.search(value, position):
        end = found.end() if found["braced"] is None else _closing_brace(value, found.end())
        name = found["name"] or found["round"] or found["braced"]
        shown = found[0] if name is None else f"${{{name}}}"
        written += (value[position : found.start()], shown)
        position = end
    return "".join([*written, value[position:]])


def _closing_brace(value: str, start: int) -> int:
    """Return the place after a variable's closing brace; the end of the value without one."""
    depth = 1
    for position in range(start, len(value)):
        depth += {"{": 1, "}": -1}.get(value[position], 0)
        if not depth:
            return position + 1
    return len(value)


def _named(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                plain = name[len(prefix) :].lower().replace("___", "-")
                yield name, plain.replace("__", "\0").replace("_", ".").replace("\0", "_")
                break


def _unescaped(value: str, source: str) -> str:
    try:
        return javaproperties.unescape(value.lstrip(" \t\f"))
    except javaproperties.InvalidUEscapeError:
        raise UsageError(rf"{source}: expected four hexadecimal digits after \u") from None


def _unquoted(value: str) -> str:
    value = value.strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES
    return value[1:-1] if is_quoted else value
