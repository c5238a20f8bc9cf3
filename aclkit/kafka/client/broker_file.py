"""A file with a broker's settings, in a form that people have → the settings that decide.

The content determines the form: a .properties file, lines of environment variables, or YAML.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.kafka.client.broker_environment import (
    has_variables,
    keys_of,
    read_variables,
    with_placeholders,
)
from aclkit.kafka.client.broker_keys import DECIDING, has_broker_key, unknown_form
from aclkit.kafka.client.properties import parse_properties, properties_text, resolve_variables
from aclkit.model.broker_settings import (
    ALLOW_EVERYONE,
    ALLOWS_EVERYTHING,
    AUTHORIZER,
    AUTHORIZERS,
    MAPPING_RULES,
    OPTIONS,
    SUPER_USERS,
    GivenSettings,
    old_authorizer_note,
    other_authorizer,
)
from aclkit.model.principal import java_trim, parse_super_users
from aclkit.model.super_users import PLACEHOLDER
from aclkit.runtime.safe_read import LARGEST_TEXT, decode, read_file

WAY_OUT: Final = (
    "If the file holds only a part of the broker's settings, pass --super-users (or "
    "--no-super-users) and --allow-everyone (or --no-allow-everyone)."
)
_ALIKE: Final = 0.8


def read_broker_file(path: str, *, is_part: bool = False) -> GivenSettings:
    """Read the settings that decide from a broker's file.

    Args:
        path: the file.
        is_part: the options set super users and the default themselves, so the file need not name
            an authorizer.

    Raises:
        UsageError: no such file, or one that cannot be read as one of the forms.
        DataError: the broker has no authorizer, or another one than Kafka's own.
    """
    keys, notes = _read_keys(path)
    said = OPTIONS if is_part else ()
    values = {key: value for key, value in keys.items() if key in DECIDING and key not in said}
    _require_authorizer(path, values.get(AUTHORIZER, ""), notes, is_part=is_part)
    values, unresolved = _resolved(path, values, keys, notes)
    name = java_trim(values.get(AUTHORIZER, ""))
    return GivenSettings(
        super_users=None if is_part else _super_users(path, values.get(SUPER_USERS, "")),
        allow_everyone=java_trim(values.get(ALLOW_EVERYONE, "")).lower() == "true",
        mapping_rules=values.get(MAPPING_RULES),
        unresolved=unresolved & {SUPER_USERS, ALLOW_EVERYONE},
        notes=(*notes, *filter(None, [old_authorizer_note(name)])),
    )


def _read_keys(path: str) -> tuple[dict[str, str], list[str]]:
    """Read the keys of a configuration in whatever form it is, and notes on them."""
    try:
        data = read_file(path, LARGEST_TEXT)
    except UsageError as error:
        raise UsageError(f"{error}. Expected a file with a broker's settings.") from None
    # The other forms are looked for in it all the same.
    text = properties_text(data, path)
    # Imported here, so that only files in YAML wait for it.
    from aclkit.kafka.client.broker_yaml import is_yaml, read_broker_yaml

    if is_yaml(text):
        keys = read_broker_yaml(decode(data, path), path)
        return keys, [*_misspelt(keys)]
    keys = parse_properties(text, path)
    if has_variables(text) and not any(key in keys for key in DECIDING):
        variables = read_variables(decode(data, path).splitlines())
        keys = keys_of({n: v and with_placeholders(v) for n, v in variables.items()}, path)
    notes = [*_misspelt(keys), *_marked(data, path)]
    if not has_broker_key(keys):
        raise unknown_form(path, "It contains no key of a broker.", *notes)
    return keys, notes


def _marked(data: bytes, path: str) -> Iterator[str]:
    """Yield that Kafka does not know a key in front of which a byte order mark stands."""
    if data.startswith(codecs.BOM_UTF8):
        mark = codecs.BOM_UTF8.decode("latin-1")
        for key in parse_properties(data.decode("latin-1"), path):
            if key.startswith(mark) and (right := key.removeprefix(mark)) in DECIDING:
                yield (
                    f"{path} begins with a byte order mark. Kafka reads the mark as a part of the "
                    f"key {right}, and ignores the key."
                )


def _require_authorizer(path: str, name: str, notes: list[str], *, is_part: bool) -> None:
    """Insist that the broker decides by ACLs as Kafka's own authorizer does.

    Raises:
        DataError: it does not, or that is not known.
    """
    if PLACEHOLDER in name:
        if not is_part:
            said = f"the placeholder in {AUTHORIZER} cannot be resolved: {name!r}."
            raise DataError(" ".join([f"{path}: {said}", *notes, WAY_OUT]))
    elif not java_trim(name):
        if not is_part:
            raise DataError(" ".join([f"{path}: the broker {ALLOWS_EVERYTHING}", *notes, WAY_OUT]))
    elif java_trim(name) not in AUTHORIZERS:
        raise DataError(f"{path}: the broker {other_authorizer(name)}")


def _misspelt(keys: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys that look like one that decides, where that one is missing."""
    for right in DECIDING:
        if right not in keys:
            for wrong in get_close_matches(right, [*keys], 1, _ALIKE):
                yield (f"The file sets {wrong!r}, which Kafka ignores. The right key is {right}.")


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
        if PLACEHOLDER in found[key] and key in OPTIONS:
            unresolved.add(key)
            ways = " or ".join(OPTIONS[key])
            notes.append(
                f"{path}: the placeholder in {key} cannot be resolved: {value!r}. Pass {ways}."
            )
    return found, frozenset(unresolved)


def _super_users(path: str, text: str) -> frozenset[str]:
    """Read super users, but for those that are still to be filled in."""
    try:
        return parse_super_users(";".join(p for p in text.split(";") if PLACEHOLDER not in p))
    except UsageError as error:
        raise UsageError(f"{path}: {SUPER_USERS}: {error}") from None
