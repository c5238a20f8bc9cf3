"""Broker settings from the user × those the brokers report → the settings that decide.

Source: org.apache.kafka.metadata.authorizer.StandardAuthorizer.configure. A broker that sets
neither key has no super users and denies what no ACL allows. Kafka's own brokers hide both values,
because the keys belong to the authorizer; they report only that the keys are set. A broker without
an authorizer allows everything. A setting that neither source provides is unknown, and Kafka's
default decides. What follows from that for the reader of a decision is said here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from aclkit.errors import DataError, UsageError
from aclkit.model.brokers import named_brokers
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import BrokerSettings
from aclkit.model.super_users import alike, has_placeholder, near_misses
from aclkit.model.values import dataclass

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

MAPPING_RULES: Final = "ssl.principal.mapping.rules"
"""The key whose rules map a certificate's name to a principal."""


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """What a broker reports for ``BROKER_KEYS``.

    Attributes:
        node_id: the broker.
        values: each key that is set → its value, or None if the broker hides it. A missing key
            is not set, provided that the broker reports its authorizer.
    """

    node_id: int
    values: Mapping[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSettings:
    """The settings that the user passed; None means not passed.

    Attributes:
        super_users: those that the options or a file name.
        allow_everyone: the value that the options or a file set.
        mapping_rules: a file's ``ssl.principal.mapping.rules``.
        unresolved: keys with a value that holds a placeholder.
        notes: further remarks on a file.
    """

    super_users: frozenset[str] | None = None
    allow_everyone: bool | None = None
    mapping_rules: str | None = None
    unresolved: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def overridden_by(self, other: GivenSettings) -> GivenSettings:
        """Return these settings, replaced by the other's wherever it sets a value."""
        users, everyone = other.super_users, other.allow_everyone
        said = {SUPER_USERS: users is not None, ALLOW_EVERYONE: everyone is not None}
        return replace(
            self,
            super_users=self.super_users if users is None else users,
            allow_everyone=self.allow_everyone if everyone is None else everyone,
            unresolved=frozenset(key for key in self.unresolved if not said[key]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSettings:
    """The settings that decide.

    Attributes:
        settings: the user's words, else the brokers', else Kafka's defaults, which are unknown.
        differences: (what differs, one plain sentence) where the brokers differ from the user, or
            among each other.
        notes: settings that are unknown, and values that were probably meant differently.
    """

    settings: BrokerSettings
    differences: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def require_known_authorizer(brokers: Iterable[BrokerConfig]) -> None:
    """Insist that brokers decide by the rule that is known here, as far as they report it.

    Raises:
        DataError: a broker has no authorizer, or another one than Kafka's own.
    """
    for broker in brokers:
        name = broker.values.get(AUTHORIZER)
        if name is None:
            continue
        if not name.strip():
            raise DataError(f"Broker {broker.node_id} {ALLOWS_EVERYTHING}")
        if name.strip() not in AUTHORIZERS:
            raise DataError(
                f"Broker {broker.node_id} {other_authorizer(name)} If its rules are the same, "
                "list its ACLs with kafka-acls --list and pass --source acls-list:FILE"
            )


ALLOWS_EVERYTHING: Final = (
    f"has no authorizer ({AUTHORIZER}), so it allows everything and ignores ACLs."
)


def other_authorizer(name: str) -> str:
    """Write that a broker decides by an authorizer that is not Kafka's own."""
    return (
        f"uses the authorizer {name.strip()!r}, whose rules aclkit does not know. Expected "
        f"{AUTHORIZERS[0]}."
    )


def old_authorizer_note(name: str) -> str | None:
    """Write that an authorizer is of ZooKeeper's time; None of today's."""
    if name not in AUTHORIZERS[1:]:
        return None
    return f"The brokers use {name}, the authorizer of ZooKeeper clusters. Its rules are the same."


def resolve(given: GivenSettings, brokers: tuple[BrokerConfig, ...] = ()) -> ResolvedSettings:
    """Choose the settings that decide: the user's values win, and differences are reported."""
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
    unknown = frozenset(given.unresolved | {one.key for one in (users, everyone) if one.is_unknown})
    if has_placeholder(super_users):
        unknown |= {SUPER_USERS}
    old = (old_authorizer_note(name) for name in sorted(authorizers))
    return ResolvedSettings(
        settings=BrokerSettings(
            super_users=super_users, allow_everyone=everyone.value == "true", unknown=unknown
        ),
        differences=tuple(differences),
        notes=(
            *given.notes,
            *users.notes,
            *everyone.notes,
            *filter(None, old),
            *near_misses(super_users),
        ),
    )


class _Resolved(NamedTuple):
    key: str
    value: str
    is_unknown: bool
    differences: list[tuple[str, str]]
    notes: list[str]


def _resolve_one(key: str, given: str | None, brokers: tuple[BrokerConfig, ...]) -> _Resolved:
    """Settle one key; values are compared in one form, so that an order makes no difference."""
    told = {broker.node_id: _plain(key, broker) for broker in brokers}
    hidden = [node for node, value in told.items() if value is None]
    known = [value for value in (given, *told.values()) if value is not None]
    value, is_unknown = known[0] if known else "", given is None and bool(hidden or not known)
    differences: list[tuple[str, str]] = []
    notes: list[str] = []
    if len(set(told.values())) > 1:
        who = "; ".join(f"broker {node}: {_quoted(value)}" for node, value in told.items())
        differences.append((key, f"The brokers differ in {key}: {who[:400]}."))
    elif given is not None and set(told.values()) - {given, None}:
        (other,) = set(told.values())
        said = f"was passed as {_quoted(given)}, but the brokers have {_quoted(other)}"
        differences.append((key, f"{key} {said}."))
    if is_unknown and (hidden or key == ALLOW_EVERYONE):
        who = f"hidden by {named_brokers(hidden)}" if hidden else "unknown"
        taken, ways = _quoted(value or _DEFAULTS[key]), ", ".join(OPTIONS[key])
        notes.append(f"{key} is {who}, so {taken} is assumed. Pass {ways} or --server-properties.")
    return _Resolved(key, value, is_unknown, differences, notes)


def _plain(key: str, broker: BrokerConfig) -> str | None:
    """Return a broker's value in a form that can be compared; None where it hides the value.

    Kafka's own brokers always report their authorizer. A broker that does not is of another make,
    so a key that it lacks proves nothing.
    """
    value = broker.values.get(key, "" if AUTHORIZER in broker.values else None)
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
    return "a hidden value" if value is None else repr(value[:200])


_DEFAULTS: Final = {SUPER_USERS: "", ALLOW_EVERYONE: "false"}
OPTIONS: Final = {
    SUPER_USERS: ("--super-users", "--no-super-users"),
    ALLOW_EVERYONE: ("--allow-everyone", "--no-allow-everyone"),
}
"""The options that set a key in place of a file."""


WITH_USERS: Final = "Pass --super-users or --no-super-users to the next run."
WITH_EVERYONE: Final = "Pass --allow-everyone or --no-allow-everyone to the next run."


def caveats_on_denial(
    settings: BrokerSettings, principal: str, *, is_unreached: bool
) -> Iterator[str]:
    """Yield why DENIED may be wrong for a principal, and which super users it is not.

    Args:
        settings: under which it was decided.
        principal: who is denied.
        is_unreached: no ACL applies to the resource, for any principal.
    """
    if SUPER_USERS in settings.unknown:
        yield f"Super users are unknown. If {principal} is one, this is allowed. {WITH_USERS}"
    if is_unreached and ALLOW_EVERYONE in settings.unknown:
        yield f"{ALLOW_EVERYONE} is unknown. If it is true, this is allowed. {WITH_EVERYONE}"
    for user in alike(principal, settings.super_users):
        yield (f"super.users has {user!r}, which is another principal: Kafka compares whole names.")


def caveats_on_answer(
    settings: BrokerSettings, principal: str | None, *, has_denied: bool, has_unreached: bool
) -> Iterator[str]:
    """Yield what a list of who can do something, or of what somebody can do, lacks.

    Args:
        settings: under which it was decided.
        principal: whose access is listed; None where the list is of principals.
        has_denied: the list has denials.
        has_unreached: it may be about a resource that no ACL applies to.
    """
    if has_denied:
        yield from caveats_on_list(settings, has_unreached=has_unreached)
        return
    if SUPER_USERS in settings.unknown:
        whom = "They can do this, too" if principal is None else f"{principal} may be one"
        yield f"Super users are unknown. {whom}. {WITH_USERS}"
    yield from _on_default(settings, has_unreached=has_unreached)


def caveats_on_list(settings: BrokerSettings, *, has_unreached: bool = True) -> Iterator[str]:
    """Yield what may be wrong in a list of decisions under unknown settings."""
    if SUPER_USERS in settings.unknown:
        yield f"Super users are unknown. They are allowed what is denied here. {WITH_USERS}"
    yield from _on_default(settings, has_unreached=has_unreached)


def _on_default(settings: BrokerSettings, *, has_unreached: bool) -> Iterator[str]:
    if has_unreached and ALLOW_EVERYONE in settings.unknown:
        yield (
            f"{ALLOW_EVERYONE} is unknown. If it is true, everything that no ACL applies to is "
            f"allowed. {WITH_EVERYONE}"
        )
