"""ACLs and lifetimes of topics → ``inherited-access``: what a re-created topic took over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.groups import grouped
from aclkit.rules.patterns.match import LITERAL

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput, Life

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
        lives = lives_of(acl)
        if lives is not None:
            yield _finding(acl, audit.added_offsets[acl.acl_id], *lives)


def inherited_lives(audit: AuditInput) -> Callable[[Acl], tuple[Life, Life] | None]:
    """Return what finds the two lives of the topic whose access a later one inherited, or None."""
    born_again = dict(_born_again(audit))

    def lives_of(acl: Acl) -> tuple[Life, Life] | None:
        lives = born_again.get(acl.resource_name) if _names_a_topic(acl) else None
        added = audit.added_offsets.get(acl.acl_id)
        is_older = lives is not None and added is not None and added < _end(lives[0])
        return lives if is_older else None

    return lives_of


def _born_again(audit: AuditInput) -> Iterator[tuple[str, tuple[Life, Life]]]:
    """Yield the topics alive that had a life before, with the last two of their lives."""
    lives = grouped((life.name, life) for life in audit.topics)
    for name, rows in lives.items():
        if len(rows) > 1:
            *_, before, now = sorted(rows, key=lambda life: life.first_offset)
            is_same = bool(now.topic_id) and now.topic_id == before.topic_id
            if now.last_offset is None and before.last_offset is not None and not is_same:
                yield name, (before, now)


def _names_a_topic(acl: Acl) -> bool:
    return (acl.resource_type, acl.pattern_type) == ("TOPIC", LITERAL)


def _end(life: Life) -> int:
    return -1 if life.last_offset is None else life.last_offset


def _finding(acl: Acl, added: int, before: Life, now: Life) -> Finding:
    return INHERITED_ACCESS.about(
        str(acl),
        f"{acl_words(acl)} applies to a re-created topic. The ACL was added at offset {added}. "
        f"The topic was deleted at offset {before.last_offset} and created again at offset "
        f"{now.first_offset}.",
        acls=(acl,),
        evidence=(
            f"the ACL was added at offset {added}",
            f"topic deleted at offset {before.last_offset}, created again at {now.first_offset}",
        ),
    )
