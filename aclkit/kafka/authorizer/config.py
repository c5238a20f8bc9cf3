"""A broker's configuration → what an authorizer takes from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import BrokerSettings

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
