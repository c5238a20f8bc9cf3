"""ACLs and lifetimes of topics and users → ACLs on what does not exist, or was created anew.

``inherited-access``, ``orphan-resource`` and ``orphan-principal``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.public_access import ANONYMOUS
from aclkit.audit.findings.sentences import acls_words
from aclkit.model.acl import Acl, acl_words, quoted
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.model.principal import split_principal
from aclkit.model.unread import TOPICS, USERS
from aclkit.rules.patterns.match import LITERAL, names_exactly

INHERITED_ACCESS: Final = Kind(
    id="inherited-access",
    severity="medium",
    summary="ALLOW ACLs that re-created topics inherited",
    meaning=(
        "A topic was deleted and created again, and an ALLOW from before the deletion still "
        "exists. So every principal that had access to the old topic has access to the new one. "
        "The new topic can hold other data and belong to another team. Kafka does not remove ACLs "
        "when it deletes a topic."
    ),
    fix=(
        "Ask the current owner of the topic, then remove the ACL. If the access is intended, add "
        "the ACL again, so that it is newer than the topic."
    ),
    holds_for=INVENTORY,
)


def find_inherited_access(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW on a topic by name that is older than the end of the topic before it."""
    lives_of = inherited_lives(audit)
    for acl in audit.allows:
        if lives := lives_of(acl):
            added, (deleted, created) = audit.added_offsets[acl.acl_id], lives
            yield INHERITED_ACCESS.about(
                acl,
                f"{acl_words(acl)} applies to a re-created topic. The ACL was added at offset "
                f"{added}. The topic was deleted at offset {deleted} and created again at offset "
                f"{created}.",
                evidence=(
                    f"the ACL was added at offset {added}",
                    f"topic deleted at offset {deleted}, created again at {created}",
                ),
            )


def inherited_lives(audit: AuditInput) -> Callable[[Acl], tuple[int, int] | None]:
    """Return what finds where a topic was deleted and created again with an ACL's access, if so."""
    born_again = dict(_born_again(audit))

    def lives_of(acl: Acl) -> tuple[int, int] | None:
        is_one = (acl.resource_type, acl.pattern_type) == ("TOPIC", LITERAL)
        lives = born_again.get(acl.resource_name) if is_one else None
        added = audit.added_offsets.get(acl.acl_id)
        return lives if lives is not None and added is not None and added < lives[0] else None

    return lives_of


def _born_again(audit: AuditInput) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the topics alive that had a life before, where that ended and where this one began."""
    lives = grouped((life.name, life) for life in audit.topics)
    for name, rows in lives.items():
        if len(rows) > 1:
            *_, before, now = sorted(rows, key=lambda life: life.first_offset)
            is_same = bool(now.topic_id) and now.topic_id == before.topic_id
            if now.last_offset is None and before.last_offset is not None and not is_same:
                yield name, (before.last_offset, now.first_offset)


ORPHAN_RESOURCE: Final = Kind(
    id="orphan-resource",
    severity="low",
    summary="ACLs on topics that do not exist",
    meaning=(
        "A LITERAL ACL names a topic that does not exist. The topic was deleted, or the log never "
        "had it. Kafka keeps the ACLs of a deleted topic, and a new topic with that name inherits "
        "them. An ALLOW of CREATE on a topic that the log never had is no finding. Such an ACL "
        "precedes its topic. If no topics are known, aclkit reports nothing."
    ),
    fix="Remove the ACL, or create the topic.",
    holds_for=INVENTORY,
)


def find_orphan_resources(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL on a topic by name that is not among the topics alive."""
    lives = audit.topics
    ends = grouped((life.name, life.last_offset) for life in lives if life.last_offset is not None)
    for acl in filter(orphaned_resources(audit), audit.acls):
        name = quoted(acl.resource_name)
        if offsets := ends.get(acl.resource_name):
            what = f"topic {name} was deleted at offset {max(offsets)}"
        elif acl.is_allow and acl.operation == "CREATE":
            continue
        else:
            what = f"the log never had topic {name}"
        message = f"{acl_words(acl)} applies to no topic: {what}."
        yield ORPHAN_RESOURCE.about(acl, message, evidence=(what,))


def orphaned_resources(audit: AuditInput) -> Callable[[Acl], bool]:
    """Return what tells whether an ACL is on a topic by name that does not exist."""
    known = {"*", *audit.topics_alive}
    are_known = bool(audit.topics or audit.listed_topics)
    if TOPICS in audit.unread:
        # Only those are known to be gone that a run saw come and go.
        known |= {acl.resource_name for acl in audit.acls} - {life.name for life in audit.topics}

    def is_orphaned(acl: Acl) -> bool:
        is_literal = (acl.resource_type, acl.pattern_type) == ("TOPIC", LITERAL)
        return are_known and is_literal and acl.resource_name not in known

    return is_orphaned


ORPHAN_PRINCIPAL: Final = Kind(
    id="orphan-principal",
    severity="medium",
    summary="ACLs of users without a SCRAM credential",
    depends="medium for a deleted user, info for a user that the log never had",
    meaning=(
        "ACLs name a user that has no SCRAM credential. If the log shows that the credential was "
        "deleted, the next user with that name gets the ACLs. If the log never had such a "
        "credential, the user perhaps authenticates with TLS, Kerberos or OAuth. List such users "
        "in the file of --principals. If no users are known, aclkit reports nothing. It never "
        "reports distinguished names and super users."
    ),
    fix=(
        "Remove the ACLs of the principal. If the principal exists, add it to the file of "
        "--principals."
    ),
    holds_for=INVENTORY,
)


def find_orphan_principals(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal that ACLs name and that is neither a user alive nor listed."""
    lives = grouped((life.name, life) for life in audit.users)
    orphaned = filter(orphaned_principals(audit), audit.acls)
    for principal, acls in grouped((acl.principal, acl) for acl in orphaned).items():
        what, severity = "the log never had one", "info"
        if own := lives.get(principal):
            end = max(life.last_offset or 0 for life in own)
            what, severity = f"the last one was deleted at offset {end}", "medium"
        yield ORPHAN_PRINCIPAL.about(
            principal,
            f"{quoted(principal)} has no SCRAM credential ({what}), but has "
            f"{number_of(len(acls), 'ACL')}: {acls_words(acls, principal)}.",
            severity=severity,
            acls=acls,
            evidence=(f"no SCRAM credential: {what}",),
        )


def orphaned_principals(audit: AuditInput) -> Callable[[Acl], bool]:
    """Return what tells whether an ACL names a principal that is neither alive nor listed."""
    alive = {life.name for life in audit.users if life.last_offset is None}
    known = alive | audit.listed_principals | audit.settings.super_users | {ANONYMOUS}
    if USERS in audit.unread:
        known |= {acl.principal for acl in audit.acls} - {life.name for life in audit.users}

    def is_orphaned(acl: Acl) -> bool:
        is_known = not audit.users or acl.principal in known
        return not is_known and _may_be_scram(acl.principal, audit)

    return is_orphaned


def _may_be_scram(principal: str, audit: AuditInput) -> bool:
    """Whether it is one user by name, and not a distinguished name of TLS."""
    parts = split_principal(principal)
    if parts is None or not names_exactly(principal, audit.semantics):
        return False
    return parts[0] == "User" and "=" not in parts[1]
