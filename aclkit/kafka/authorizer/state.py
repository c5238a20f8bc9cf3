"""Everything that one answer of an authorizer depends on, as one value that never changes."""

from __future__ import annotations

from dataclasses import dataclass

from aclkit.kafka.acls.creation import CreationRules
from aclkit.kafka.authorizer.config import Config
from aclkit.kafka.authorizer.errors import AuthorizerNotReadyError
from aclkit.model.acl import Request
from aclkit.model.semantics import BrokerSettings
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import Ruling


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
        if not self.is_loaded and who not in self.settings.super_users:
            raise AuthorizerNotReadyError(
                "AUTHORIZER_NOT_READY: the ACLs are not yet replayed to the high watermark, "
                f"so {who} has to wait. The futures of the endpoints complete when they are."
            )
