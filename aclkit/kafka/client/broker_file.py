"""A file with a broker's settings, in a form that people have → the settings that decide.

The form is told by the content: a .properties file, lines of environment variables, or YAML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.kafka.client.broker_environment import has_variables, keys_of, read_variables
from aclkit.kafka.client.properties import parse_properties
from aclkit.kafka.client.providers import resolve_variables
from aclkit.model.broker_settings import (
    ALLOW_EVERYONE,
    ALLOWS_EVERYTHING,
    AUTHORIZER,
    AUTHORIZERS,
    MAPPING_RULES,
    SUPER_USERS,
    GivenSettings,
    old_authorizer_note,
    other_authorizer,
)
from aclkit.model.principal import java_trim, parse_super_users
from aclkit.model.super_users import PLACEHOLDER
from aclkit.runtime.user_file import LARGEST_TEXT, decode, read_file

WAY_OUT: Final = (
    "If the file holds only a part of the broker's settings, pass --super-users (or "
    "--no-super-users) and --allow-everyone (or --no-allow-everyone)."
)
_DECIDING: Final = (SUPER_USERS, ALLOW_EVERYONE, AUTHORIZER, MAPPING_RULES)
_ALIKE: Final = 0.8


def read_broker_file(path: str, *, is_part: bool = False) -> GivenSettings:
    """Read the settings that decide from a broker's file.

    Args:
        path: the file.
        is_part: the options say super users and the default themselves, so the file need not name
            an authorizer.

    Raises:
        UsageError: no such file, or one that cannot be read as one of the forms.
        DataError: the broker has no authorizer, or another one than Kafka's own.
    """
    keys = _read_keys(path)
    values = {key: value for key, value in keys.items() if key in _DECIDING}
    notes = [*_misspelt(keys)]
    _require_authorizer(path, values.get(AUTHORIZER, ""), notes, is_part=is_part)
    values, unresolved = _resolved(path, values, keys, notes)
    name = java_trim(values.get(AUTHORIZER, ""))
    return GivenSettings(
        super_users=None if is_part else _super_users(values.get(SUPER_USERS, "")),
        allow_everyone=java_trim(values.get(ALLOW_EVERYONE, "")).lower() == "true",
        mapping_rules=values.get(MAPPING_RULES),
        unresolved=unresolved & {SUPER_USERS, ALLOW_EVERYONE},
        notes=(*notes, *filter(None, [old_authorizer_note(name)])),
    )


def _read_keys(path: str) -> dict[str, str]:
    """Read the keys of a configuration in whatever form it is."""
    try:
        data = read_file(path, LARGEST_TEXT)
    except UsageError as error:
        raise UsageError(f"{error}; expected a file with a broker's settings") from None
    # As Java reads a .properties file; the other forms are looked for in it all the same.
    text = data.decode("latin-1")
    # Here, so that nobody waits for YAML who has none.
    from aclkit.kafka.client.broker_yaml import is_yaml, read_broker_yaml

    if is_yaml(text):
        return read_broker_yaml(decode(data, path), path)
    keys = parse_properties(text, path)
    if has_variables(text) and not any(key in keys for key in _DECIDING):
        return keys_of(read_variables(decode(data, path).splitlines()), path)
    return keys


def _require_authorizer(path: str, name: str, notes: list[str], *, is_part: bool) -> None:
    """Insist that the broker decides by ACLs as Kafka's own authorizer does.

    Raises:
        DataError: it does not.
    """
    if not java_trim(name):
        if not is_part:
            raise DataError(" ".join([f"{path}: the broker {ALLOWS_EVERYTHING}", *notes, WAY_OUT]))
    elif java_trim(name) not in AUTHORIZERS:
        raise DataError(f"{path}: the broker {other_authorizer(name)}")


def _misspelt(keys: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys that look like one that decides, where that one is missing."""
    for right in _DECIDING:
        if right not in keys:
            for wrong in get_close_matches(right, [*keys], 1, _ALIKE):
                yield f"The file sets {wrong!r}, which Kafka ignores; the right key is {right}."


def _resolved(
    path: str, values: Mapping[str, str], keys: Mapping[str, str], notes: list[str]
) -> tuple[dict[str, str], frozenset[str]]:
    """Let Kafka's config providers fill in values; return the keys that nothing fills in."""
    providers = {k: v for k, v in keys.items() if k.startswith("config.providers")}
    found, unresolved = dict(values), set()
    for key, value in values.items():
        try:
            found |= resolve_variables({key: value, **providers})
        except UsageError as error:
            notes.append(f"{path}: {error}")
            unresolved.add(key)
        if PLACEHOLDER in found[key] and key != MAPPING_RULES:
            unresolved.add(key)
            notes.append(f"{path}: nothing resolves the placeholder in {key}: {value!r}.")
    return found, frozenset(unresolved)


def _super_users(text: str) -> frozenset[str]:
    """Read super users, but for those that are still to be filled in."""
    return parse_super_users(";".join(p for p in text.split(";") if PLACEHOLDER not in p))
