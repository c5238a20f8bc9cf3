"""What a user says of the brokers' settings × what the brokers say → the settings that decide.

Source: org.apache.kafka.metadata.authorizer.StandardAuthorizer.configure. A broker that sets
neither key has no super users and denies what no ACL allows; Kafka's own brokers keep both values
back, for the keys are not theirs but the authorizer's, and tell only that they are set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import BrokerSettings

SUPER_USERS: Final = "super.users"
ALLOW_EVERYONE: Final = "allow.everyone.if.no.acl.found"
AUTHORIZER: Final = "authorizer.class.name"
AUTHORIZERS: Final = (
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # Of clusters on ZooKeeper, up to Kafka 3.9; the same rule.
    "kafka.security.authorizer.AclAuthorizer",
    "kafka.security.auth.SimpleAclAuthorizer",
)
BROKER_KEYS: Final = (SUPER_USERS, ALLOW_EVERYONE, AUTHORIZER)
"""The keys of a broker's configuration under which ACLs are decided."""


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """What a broker says of ``BROKER_KEYS``.

    Attributes:
        node_id: the broker.
        values: a key that is set, with its value, or None where the broker keeps it back; a key
            that is not there is not set.
    """

    node_id: int
    values: Mapping[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSettings:
    """What the user says; None is nothing."""

    super_users: frozenset[str] | None = None
    allow_everyone: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSettings:
    """The settings that decide.

    Attributes:
        settings: the user's words, else the brokers', else Kafka's defaults.
        differences: (what differs, one plain sentence) where the brokers differ from the user, or
            among each other.
        notes: what the brokers do not tell.
    """

    settings: BrokerSettings
    differences: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def require_known_authorizer(brokers: Iterable[BrokerConfig]) -> None:
    """Insist that brokers decide by the rule that is known here, as far as they tell.

    Raises:
        DataError: a broker runs another authorizer than Kafka's own.
    """
    for broker in brokers:
        name = (broker.values.get(AUTHORIZER) or "").strip()
        if name and name not in AUTHORIZERS:
            raise DataError(
                f"broker {broker.node_id} decides by {name}, whose rule is not known here; "
                f"expected {AUTHORIZERS[0]}. Where it decides as that one does, list its ACLs with "
                "kafka-acls --list and give --source acls-list:FILE"
            )


def resolve(given: GivenSettings, brokers: tuple[BrokerConfig, ...] = ()) -> ResolvedSettings:
    """Choose the settings that decide: what the user gives wins, what differs is said."""
    users = _resolve_one(SUPER_USERS, _shown_users(given.super_users), brokers)
    everyone = _resolve_one(ALLOW_EVERYONE, _shown_bool(value=given.allow_everyone), brokers)
    authorizers = {broker.values.get(AUTHORIZER) or "none" for broker in brokers}
    differences = [*users.differences, *everyone.differences]
    if len(authorizers) > 1:
        found = ", ".join(sorted(authorizers))
        differences.append((AUTHORIZER, f"The brokers run different authorizers: {found}."))
    super_users = given.super_users
    if super_users is None:
        super_users = _users_of(users.value) or frozenset()
    return ResolvedSettings(
        settings=BrokerSettings(super_users=super_users, allow_everyone=everyone.value == "true"),
        differences=tuple(differences),
        notes=(*users.notes, *everyone.notes, *_old(authorizers)),
    )


def _old(authorizers: set[str]) -> Iterator[str]:
    for name in sorted(authorizers & set(AUTHORIZERS[1:])):
        yield f"the brokers decide by {name}, of ZooKeeper's time, whose rule is the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resolved:
    value: str
    differences: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _resolve_one(key: str, given: str | None, brokers: tuple[BrokerConfig, ...]) -> _Resolved:
    """Settle one key; values are compared in one form, so that an order makes no difference."""
    told = {broker.node_id: _plain(key, broker) for broker in brokers}
    resolved = _Resolved(value=given or "")
    if given is None:
        known = [value for value in told.values() if value is not None]
        resolved = _Resolved(value=known[0] if known else "")
    if len(set(told.values())) > 1:
        who = "; ".join(f"broker {node}: {_quoted(value)}" for node, value in told.items())
        resolved.differences.append((key, f"The brokers differ in {key}: {who[:400]}."))
    elif given is not None and set(told.values()) - {given, None}:
        (other,) = set(told.values())
        said = f"was given as {_quoted(given)}, and the brokers have {_quoted(other)}"
        resolved.differences.append((key, f"{key} {said}."))
    hidden = [node for node, value in told.items() if value is None]
    if hidden and given is None:
        resolved.notes.append(
            f"{key} is set on broker {', '.join(map(str, hidden))} and kept back: taken is "
            f"{_quoted(resolved.value)}; say it with {_OPTIONS[key]} or --server-properties"
        )
    return resolved


def _plain(key: str, broker: BrokerConfig) -> str | None:
    """Return what a broker says in a form that can be compared; None where it keeps it back."""
    value = broker.values.get(key, "")
    if value is None:
        return None
    if key == ALLOW_EVERYONE:
        return _shown_bool(value=value.strip().lower() == "true")
    return _shown_users(_users_of(value)) if _users_of(value) is not None else value


def _users_of(value: str) -> frozenset[str] | None:
    try:
        return parse_super_users(value)
    except UsageError:
        return None


def _shown_users(users: frozenset[str] | None) -> str | None:
    return None if users is None else ";".join(sorted(users))


def _shown_bool(*, value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


def _quoted(value: str | None) -> str:
    return "a value kept back" if value is None else repr(value[:200])


_OPTIONS: Final = {SUPER_USERS: "--super-users", ALLOW_EVERYONE: "--allow-everyone"}
