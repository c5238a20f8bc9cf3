"""Two states → whether ACLs hold globs, and how the next run reads them. Pure."""

from __future__ import annotations

from dataclasses import replace

from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.semantics import KIP_1042
from aclkit.questions.difference.change import Change
from aclkit.questions.state import State
from aclkit.rules.patterns.match import GLOB, has_wildcard, names_exactly


def holds_globs(change: Change) -> bool:
    """Whether an ACL of either state is a GLOB, or a glob as a principal or host to KIP-1042."""
    acls = [*change.before.acls.values(), *change.after.acls.values()]
    return (
        any(acl.pattern_type == GLOB for acl in acls)
        or any(map(has_wildcard, {acl.host for acl in acls} - {"*"}))
        or not all(
            names_exactly(text, KIP_1042) or ":" not in text
            for text in {acl.principal for acl in acls} - {WILDCARD_PRINCIPAL}
        )
    )


def to_next_run(before: State, after: State) -> Change:
    """Return the change from what is published to what the next run will publish.

    It reads ACLs as ``before.after_glob`` once there is a GLOB, and under the same settings.
    """
    has_glob = any(acl.pattern_type == GLOB for acl in after.acls.values())
    then = before.after_glob if has_glob else None
    after = replace(after, settings=before.settings, semantics=then or before.semantics)
    return Change(before=before, after=after)
