"""A .properties file, its variables ``${provider:path:key}`` too → keys and values as in Java.

Source: java.util.Properties; KIP-297 and org.apache.kafka.common.config.{AbstractConfig,
ConfigTransformer} and provider.{FileConfigProvider, DirectoryConfigProvider, EnvVarConfigProvider}
of Kafka 4.1. Where Kafka would go on with the text of a variable that nothing resolves, this
refuses: such a text must never travel as a password.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import javaproperties

from aclkit.errors import UsageError
from aclkit.runtime.safe_read import LARGEST_TEXT, UTF_16_MARKS, decode, read_file


def read_properties(path: str | Path) -> dict[str, str]:
    """Read a .properties file; its text as in ``properties_text``.

    Raises:
        UsageError: as in ``safe_read.read_file``, or it holds an escape that is none.
        SurroundingsError: it cannot be read.
    """
    try:
        data = read_file(str(path), LARGEST_TEXT)
    except UsageError as error:
        raise UsageError(f"{error}. Expected a .properties file.") from None
    return parse_properties(properties_text(data, str(path)), str(path))


def properties_text(data: bytes, path: str) -> str:
    """Return the text of a .properties file, without a byte order mark.

    It is Latin-1, as for ``java.util.Properties.load``, unless the mark is UTF-16's: Java reads no
    such file, so it is a copy that was saved on Windows.

    Raises:
        UsageError: it has the mark of UTF-16 and other bytes.
    """
    if data.startswith(UTF_16_MARKS):
        return decode(data, path)
    return data.removeprefix(codecs.BOM_UTF8).decode("latin-1")


def parse_properties(text: str, source: str = "properties") -> dict[str, str]:
    r"""Read the text of a .properties file; of a key given twice the last value holds.

    Raises:
        UsageError: a ``\u`` that four hexadecimal digits do not follow. The message quotes
            nothing, because the value may be a password.

    >>> parse_properties("# comment\nacks = all\na\\ b: c\\\n   d\nempty")
    {'acks': 'all', 'a b': 'cd', 'empty': ''}
    """
    try:
        found = dict(javaproperties.loads(text))
    except javaproperties.InvalidUEscapeError:
        raise UsageError(f"{source}: expected four hexadecimal digits after \\u") from None
    return {_in_unicode(key): _in_unicode(value) for key, value in found.items()}


def _in_unicode(text: str) -> str:
    """Put a question mark in the place of half a surrogate pair, which no text can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_VARIABLE: Final = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")
_MOST: Final = 1 << 20
_PACKAGE: Final = "org.apache.kafka.common.config.provider."


def resolve_variables(properties: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration without its ``config.providers`` keys, every variable resolved.

    What a provider returns is not looked at again, as in Kafka.

    Raises:
        UsageError: a variable of a provider that is not named or not supported here, outside of
            what the provider may read, or without a value.
    """
    return {
        key: _VARIABLE.sub(partial(_value_of, properties, key), value)
        for key, value in properties.items()
        if key != "config.providers" and not key.startswith("config.providers.")
    }


def _value_of(properties: Mapping[str, str], key: str, found: re.Match[str]) -> str:
    """Return the value of one variable that stands in the value of ``key``."""
    name, path, variable = found.groups()
    named = [part.strip() for part in properties.get("config.providers", "").split(",")]
    if name not in named or not name:
        raise UsageError(
            f"{key}: its value names the config provider {name[:40]!r}, which is not in "
            "config.providers"
        )
    class_name = properties.get(f"config.providers.{name}.class", "")
    find = _FINDERS.get(class_name.removeprefix(_PACKAGE).strip())
    if find is None:
        raise UsageError(
            f"config.providers.{name}.class: expected one of "
            f"{', '.join(_PACKAGE + known for known in _FINDERS)}, found {class_name!r}"
        )
    prefix = f"config.providers.{name}.param."
    given = {k[len(prefix) :]: v for k, v in properties.items() if k.startswith(prefix)}
    try:
        return find((path or "").strip(), variable.strip(), given)
    except UsageError as error:
        raise UsageError(f"{key}: config provider {name}: {error}") from None


def _from_file(path: str, variable: str, given: Mapping[str, str]) -> str:
    """Read a key of a .properties file (FileConfigProvider)."""
    values = read_properties(_allowed(path, given))
    if variable not in values:
        raise UsageError(f"{path} has no key {variable!r}")
    return values[variable]


def _from_directory(path: str, variable: str, given: Mapping[str, str]) -> str:
    """Read a file of a folder as it is, its last newline too (DirectoryConfigProvider)."""
    file = _allowed(path, given) / variable
    if not variable or "/" in variable or variable in (".", ".."):
        raise UsageError(f"expected the name of a file of {path}, found {variable!r}")
    content = read_file(str(file), _MOST)
    return content.decode(errors="replace")


def _from_environment(path: str, variable: str, given: Mapping[str, str]) -> str:
    """Read a variable of the environment (EnvVarConfigProvider)."""
    if path:
        raise UsageError(f"expected no path for a variable of the environment, found {path!r}")
    pattern = given.get("allowlist.pattern", ".*")
    try:
        is_allowed = re.fullmatch(pattern, variable) is not None
    except re.error as error:
        raise UsageError(f"allowlist.pattern: not a regular expression: {error}") from None
    if not is_allowed:
        raise UsageError(f"allowlist.pattern does not allow {variable!r}")
    if variable not in os.environ:
        raise UsageError(f"the environment has no {variable!r}")
    return os.environ[variable]


def _allowed(path: str, given: Mapping[str, str]) -> Path:
    """Insist that a path lies within ``allowed.paths``, where there are any."""
    if not path:
        raise UsageError("expected a path")
    allowed = given.get("allowed.paths")
    # As Kafka does: dots are taken out by name, links are not followed.
    normal = Path(os.path.normpath(path))
    if allowed is not None and not any(
        normal.is_relative_to(os.path.normpath(part.strip()))
        for part in allowed.split(",")
        if part.strip()
    ):
        raise UsageError(f"allowed.paths does not allow {path}")
    return normal if allowed is not None else Path(path)


_FINDERS: Final[dict[str, Callable[[str, str, Mapping[str, str]], str]]] = {
    "FileConfigProvider": _from_file,
    "DirectoryConfigProvider": _from_directory,
    "EnvVarConfigProvider": _from_environment,
}
