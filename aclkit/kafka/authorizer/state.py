"""What answers of an authorizer depend on, where its ACLs come from, and where they are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from aclkit.kafka.acls.creation import CreationRules
from aclkit.kafka.authorizer.requests import AuthorizerNotReadyError
from aclkit.model.acl import Acl, Request
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import Ruling

EARLY_START_LISTENERS: Final = "early.start.listeners"
NODE_ID: Final = "node.id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings passed to ``configure``; one that was not passed is None.

    Attributes:
        super_users: principals that are always allowed.
        allow_everyone: the answer for resources without any ACL.
        early_start_listeners: listeners that open before the ACLs are loaded.
        node_id: the broker's number, for log lines; -1 where it is none.
    """

    super_users: frozenset[str] | None = None
    allow_everyone: bool | None = None
    early_start_listeners: frozenset[str] = frozenset()
    node_id: int = -1

    def over(self, settings: BrokerSettings) -> BrokerSettings:
        """Return settings, with the configured values in place of theirs."""
        if self.super_users is not None:
            settings = replace(settings, super_users=self.super_users)
        if self.allow_everyone is not None:
            settings = replace(settings, allow_everyone=self.allow_everyone)
        return settings


def parse_config(configs: Mapping[str, object]) -> Config:
    """Read a configuration as StandardAuthorizer does; other keys do not matter.

    Raises:
        UsageError: a super user without a colon.

    >>> parse_config({"super.users": "User:a; User:b", "node.id": "x"}).node_id
    -1
    """
    super_users, everyone = configs.get(SUPER_USERS), configs.get(ALLOW_EVERYONE)
    listeners = str(configs.get(EARLY_START_LISTENERS) or "").split(",")
    node_id = str(configs.get(NODE_ID, "")).strip()
    return Config(
        super_users=None if super_users is None else parse_super_users(str(super_users)),
        allow_everyone=None if everyone is None else str(everyone).strip().lower() == "true",
        early_start_listeners=frozenset(name.strip() for name in listeners) - {""},
        node_id=int(node_id) if node_id.isascii() and node_id.isdigit() else -1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerState:
    """One state of an authorizer.

    Attributes:
        index: the ACLs.
        config: the settings passed to ``configure``.
        known: the brokers' settings as the source of the ACLs knows them.
        level: the metadata.version in force, where the source knows it.
        is_loaded: the ACLs are replayed to the high watermark.
    """

    index: AclIndex
    config: Config
    known: BrokerSettings
    level: int | None = None
    is_loaded: bool = False

    @property
    def settings(self) -> BrokerSettings:
        """The settings in force: what was configured, else what the source knows."""
        return self.config.over(self.known)

    @property
    def creation_rules(self) -> CreationRules:
        """By what a new ACL is taken or refused."""
        return CreationRules.of(self.level, self.index.semantics)

    def decide(self, request: Request) -> Ruling:
        """Decide a request; super users are answered before the ACLs are loaded (KIP-801).

        Raises:
            AuthorizerNotReadyError: they are not loaded.
        """
        self.check_loaded(request.principal)
        return self.index.decide(request, self.settings)

    def check_loaded(self, who: str) -> None:
        """Refuse all principals but super users until the ACLs are loaded.

        Raises:
            AuthorizerNotReadyError: they are not loaded.
        """
        if not self.is_loaded and not self.settings.makes_super(who):
            raise AuthorizerNotReadyError(
                "AUTHORIZER_NOT_READY: the ACLs are not yet replayed to the high watermark, "
                f"so {who} has to wait. The futures of the endpoints complete when they are."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One state of a source.

    Attributes:
        acls: all ACLs alive.
        offset: as of which offset, exclusive; None where there are no offsets.
        high_watermark: up to where the log is known to be committed; None where it is unknown.
        settings: the brokers', where the source knows them.
        semantics: how the source's decisions read ACLs; None is as ``auto`` does, see
            ``model.semantics.AskedReading``.
        level: the metadata.version in force, where the source knows it.
    """

    acls: Sequence[Acl]
    offset: int | None = None
    high_watermark: int | None = None
    settings: BrokerSettings = field(default_factory=BrokerSettings)
    semantics: Semantics | None = None
    level: int | None = None

    @property
    def is_caught_up(self) -> bool:
        """Whether everything up to the high watermark has been replayed."""
        if self.offset is None or self.high_watermark is None:
            return True
        return self.offset >= self.high_watermark


class AclSource(Protocol):
    """Gives the newest state each time it is asked; it is asked from one thread at a time."""

    def load(self) -> Loaded:
        """Read the newest state."""


class AclStore(Protocol):
    """Keeps ACLs: a log, a table, or nothing but this process (Kafka's AclMutator).

    - ``commit`` is called with all changes of one request, from one thread at a time.
    - Either all of them are kept or, when it raises, none.
    """

    def commit(self, adds: Sequence[Acl], removes: Sequence[Acl]) -> None:
        """Keep the added ACLs, forget the removed ones, both at once."""


class MemoryStore:
    """Keeps ACLs nowhere but in the authorizer itself."""

    def commit(self, adds: Sequence[Acl], removes: Sequence[Acl]) -> None:
        """Do nothing: the authorizer's own state is all there is."""
