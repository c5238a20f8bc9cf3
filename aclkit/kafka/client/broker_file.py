"""A file with a broker's settings, in a form that people have → the settings that decide.

The content determines the form: a .properties file, lines of environment variables, or YAML.

YAML is a compose file or a part of one, a Kubernetes resource with ``env``, a ConfigMap with a
.properties file, or Strimzi's ``Kafka``.
Source of the last: io.strimzi.operator.cluster.model.KafkaBrokerConfigurationBuilder.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.kafka.client.broker_environment import (
    DECIDING,
    PREFIX,
    WITHOUT_FILE,
    has_broker_key,
    has_variables,
    is_broker,
    keys_of,
    read_variables,
    unknown_form,
    with_placeholders,
)
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
from aclkit.runtime.notation import Value, parse_yaml
from aclkit.runtime.safe_read import LARGEST_TEXT, decode, read_file

_BEGINNING: Final = re.compile(
    r"^(?:---|%YAML|(?:apiVersion|kind|services|environment|env|items):|- )"
    r"|^[ \t]*(?:- )?[\"']?KAFKA_\w+[\"']?:(?:\s|$)|^[ \t]*- [\"']?KAFKA_\w+=",
    re.MULTILINE,
)
_STRIMZI: Final = "kafka.strimzi.io/"
_OWN_USERS: Final = (
    "kafka", "entity-topic-operator", "entity-user-operator", "kafka-exporter", "cruise-control",
)  # fmt: skip


def is_yaml(text: str) -> bool:
    """Whether a text is YAML that starts a broker, and not a .properties file."""
    return _BEGINNING.search(text) is not None or text.lstrip().startswith("{")


def read_broker_yaml(text: str, source: str) -> dict[str, str]:
    """Return the keys that a broker has by the YAML that starts it.

    Raises:
        UsageError: no YAML, none of the forms, or brokers that differ in a key that decides.
    """
    documents = [*_resources(parse_yaml(text, source))]
    clusters = [each for each in documents if _is_strimzi(each)]
    if len(clusters) > 1:
        raise UsageError(f"{source}: expected one Kafka resource, found {len(clusters)}")
    if clusters:
        return _of_strimzi(clusters[0], source)
    found = [(name, keys) for name, keys in _brokers(documents, source) if keys]
    if not found:
        raise unknown_form(
            source, "It contains no variables of a broker (KAFKA_…).", *_hint(documents)
        )
    _refuse_different(found, source)
    return found[0][1]


def _resources(documents: Sequence[Value]) -> Iterator[Value]:
    """Yield documents, and in the place of a Kubernetes list what it holds."""
    for document in documents:
        items = document.get("items") if isinstance(document, dict) else None
        yield from items if isinstance(items, list) else [document]


def _is_strimzi(document: Value) -> bool:
    return (
        isinstance(document, dict)
        and document.get("kind") == "Kafka"
        and str(document.get("apiVersion")).startswith(_STRIMZI)
    )


def _of_strimzi(resource: Value, source: str) -> dict[str, str]:
    """Return what Strimzi's operator writes into the configuration of the brokers."""
    kafka = _at(resource, "spec", "kafka")
    if not isinstance(kafka, dict):
        raise UsageError(f"{source}: expected spec.kafka in the Kafka resource")
    config = kafka.get("config")
    keys = {
        key: value
        for key, value in (config.items() if isinstance(config, dict) else ())
        # The operator drops the others that decide, and sets them itself.
        if key in (ALLOW_EVERYONE, MAPPING_RULES) and isinstance(value, str)
    }
    authorization = kafka.get("authorization")
    if isinstance(authorization, dict):
        keys[AUTHORIZER] = _authorizer(authorization)
        users = [*_own_users(resource), *_users_of_cluster(authorization, source)]
        keys[SUPER_USERS] = ";".join(users)
    return keys


def _authorizer(authorization: Mapping[str, Value]) -> str:
    """Return the class that a type of authorization stands for; of a type without one its name."""
    kind, name = authorization.get("type"), authorization.get("authorizerClass")
    if kind == "simple":
        return AUTHORIZERS[0]
    return str(name) if kind == "custom" and name else f"{kind} (authorization.type)"


def _users_of_cluster(authorization: Mapping[str, Value], source: str) -> Iterator[str]:
    users = authorization.get("superUsers") or []
    if not isinstance(users, list) or not all(isinstance(user, str) for user in users):
        raise UsageError(f"{source}: expected a list of names in authorization.superUsers")
    return (f"User:{user}" for user in users)


def _own_users(resource: Value) -> Iterator[str]:
    """Yield the super users that the operator adds: the cluster's own components."""
    if name := _at(resource, "metadata", "name"):
        yield from (f"User:CN={name}-{own},O=io.strimzi" for own in _OWN_USERS)
    yield "User:CN=cluster-operator,O=io.strimzi"


def _at(value: Value, *path: str) -> Value:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _brokers(documents: Sequence[Value], source: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each broker and its keys; controllers only where there is no broker."""
    found = [*_of_config_maps(documents, source)]
    for document in documents:
        services = _at(document, "services")
        for name, variables in _environments(document if services is None else services, ""):
            keys = keys_of({n: _dollars(v) for n, v in variables.items()}, source)
            if is_broker(keys):
                elsewhere = _PERHAPS_ELSEWHERE if _ENV_FILE in variables else {}
                found.append((name, elsewhere | keys))
    brokers = [each for each in found if each[1].get("process.roles", "").strip() != "controller"]
    yield from brokers or found


def _of_config_maps(
    documents: Sequence[Value], source: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the .properties files of brokers that ConfigMaps hold."""
    for document in documents:
        data = _at(document, "data") if _at(document, "kind") == "ConfigMap" else None
        for name, text in data.items() if isinstance(data, dict) else ():
            if name.endswith(".properties") and isinstance(text, str):
                keys = parse_properties(text, f"{source}: {name}")
                if is_broker(keys):
                    yield name, keys


def _environments(value: Value, name: str) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Yield the sets of environment variables in a value, each with the name of what has it.

    A set is marked by ``_ENV_FILE`` where a file or a ConfigMap may hold more of its variables.
    """
    if variables := _variables(value):
        yield name, variables
    elif isinstance(value, dict):
        own = value.get("name")
        name = own if isinstance(own, str) else name
        has_more: dict[str, str | None] = (
            {_ENV_FILE: None} if value.get(_ENV_FILE) or value.get("envFrom") else {}
        )
        for key, inner in value.items():
            for named, found in _environments(inner, name if key in _NAMELESS else key):
                yield named, found | has_more
    elif isinstance(value, list):
        for inner in value:
            yield from _environments(inner, name)


def _variables(value: Value) -> dict[str, str | None]:
    """Return environment variables of a broker in one of their three forms; empty if none."""
    found: dict[str, str | None] = {}
    if isinstance(value, dict):
        found = {name: inner for name, inner in value.items() if isinstance(inner, str | None)}
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        found = read_variables(value)
    elif isinstance(value, list) and all(isinstance(_at(each, "name"), str) for each in value):
        found = {str(_at(each, "name")): _text(_at(each, "value")) for each in value}
    return {name: text for name, text in found.items() if name.startswith(PREFIX)}


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _dollars(value: str | None) -> str | None:
    """Return what compose makes of ``$$``: a dollar sign that begins no variable."""
    return None if value is None else with_placeholders(value).replace("$$", "$")


def _refuse_different(found: Sequence[tuple[str, dict[str, str]]], source: str) -> None:
    first, keys = found[0]
    for name, other in found[1:]:
        for key in DECIDING:
            if keys.get(key) != other.get(key):
                raise UsageError(
                    f"{source}: {first or 'one broker'} and {name or 'another one'} differ in "
                    f"{key}. Expected one configuration of all brokers. {WITHOUT_FILE}"
                )


def _hint(documents: Sequence[Value]) -> Iterator[str]:
    """Yield how to pass a file in which a compose file's variables may be."""
    services = [_at(document, "services") for document in documents]
    for service in (each for all_ in services if isinstance(all_, dict) for each in all_.values()):
        files = _at(service, _ENV_FILE)
        for file in files if isinstance(files, list) else [files]:
            if path := _text(_at(file, "path")) or _text(file):
                yield (f"If its env_file contains them, pass that: --server-properties {path!r}.")
                return


_ENV_FILE: Final = "env_file"
_PERHAPS_ELSEWHERE: Final = dict.fromkeys((AUTHORIZER, SUPER_USERS, ALLOW_EVERYONE), "${env_file}")
_NAMELESS: Final = ("environment", "env", "spec", "template", "containers")


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
    from aclkit.kafka.client.broker_file import is_yaml, read_broker_yaml

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
