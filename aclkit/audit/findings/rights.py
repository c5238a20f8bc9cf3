"""Parts of a live cluster that aclkit's user cannot read → the rights that it lacks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.broker_settings import SUPER_USERS
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.phrases import listed
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.unread import (
    ANY_USER,
    COSTS,
    HIDDEN,
    RIGHT,
    TOKENS,
    TRANSACTIONAL_IDS,
    right_acl,
    right_words,
)
from aclkit.rules.decide.rules import ALLOWED, decide

MISSING_RIGHT: Final = Kind(
    id="missing-right",
    severity="low",
    summary="rights that aclkit's own user lacks",
    meaning=(
        "The user that aclkit logs in as is not allowed to read a part of the live cluster. aclkit "
        "uses what it can read. What it cannot read is missing from answers, and each answer that "
        "lacks it reports it. aclkit needs rights to DESCRIBE only, and changes nothing."
    ),
    fix="Grant the right to the user that aclkit logs in as, or accept the finding.",
)


def find_missing_rights(unread: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding for each right that is missing.

    Args:
        unread: part of the cluster that was not read whole → the cause, see ``model.unread``.
    """
    lacking = (
        (right_words(part), part) for part, why in sorted(unread.items()) if why in (RIGHT, HIDDEN)
    )
    for right, parts in grouped(lacking).items():
        costs = " ".join(COSTS[part] for part in parts)
        yield MISSING_RIGHT.about(
            right,
            f"aclkit's user lacks {right}, so {listed(parts)} were not all read. {costs}",
            fix=f"Run {kafka_acls_command(right_acl(parts[0]))} with aclkit's user as User:NAME.",
        )


def hidden_parts(
    filtered: Iterable[str],
    asked_by: str,
    acls: Collection[Acl],
    settings: BrokerSettings,
    semantics: Semantics,
) -> Iterator[str]:
    """Yield the parts of which the brokers may have left names out for the user who asked.

    They say nothing of it (ListTransactions, DescribeDelegationToken). A user sees all names if it
    can DESCRIBE a name that no ACL names and no DENY applies to the type. Of tokens, the right to
    DESCRIBE_TOKENS on users is enough. Nothing is yielded where the user or the super users are
    unknown.

    Args:
        filtered: the parts in which brokers leave names out.
        asked_by: who asked.
        acls: the ACLs in force.
        settings: the brokers'.
        semantics: how ACLs are read.
    """
    if asked_by == ANY_USER or settings.makes_super(asked_by) or SUPER_USERS in settings.unknown:
        return
    for part in filtered:
        if not any(
            _sees_all(
                Request.of(asked_by, ANY_OTHER, operation, Resource(kind, ANY_OTHER)),
                acls,
                settings,
                semantics,
            )
            for operation, kind in _SHOWN_BY[part]
        ):
            yield part


def _sees_all(
    request: Request, acls: Collection[Acl], settings: BrokerSettings, semantics: Semantics
) -> bool:
    own = [acl for acl in acls if acl.resource_type == request.resource_type]
    whom, what = (request.principal, WILDCARD_PRINCIPAL), (request.operation, "ALL")
    is_denied = any(
        not acl.is_allow and acl.operation in what and acl.principal in whom for acl in own
    )
    return not is_denied and decide(own, request, settings, semantics).decision == ALLOWED


_SHOWN_BY: Final = {
    TRANSACTIONAL_IDS: (("DESCRIBE", "TRANSACTIONAL_ID"),),
    TOKENS: (("DESCRIBE", "DELEGATION_TOKEN"), ("DESCRIBE_TOKENS", "USER")),
}
"""Part → operations and types of resources, each of which shows all of its names."""
