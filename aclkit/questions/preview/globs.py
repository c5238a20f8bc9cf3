"""Two states → whether ACLs hold globs, and a warning where one brings the first GLOB. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from aclkit.model.acl import Acl, acl_words
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.questions.preview.change import Change
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


def first_glob_note(
    before: tuple[str, Collection[Acl]], after: tuple[str, Collection[Acl]], semantics: Semantics
) -> str | None:
    """Write that one of two sides has GLOB ACLs and the other none; None where that is not so.

    A cluster's first GLOB makes all its ACLs read by KIP-1042 under ``--semantics auto``, but what
    is compared is read alike on both sides.

    Args:
        before: the one, by its name.
        after: the other.
        semantics: how both are read.
    """
    sides = [(name, _first_glob(acls)) for name, acls in (before, after)]
    having = [(name, glob) for name, glob in sides if glob is not None]
    if len(having) != 1:
        return None
    ((name, glob),) = having
    brings = f"warning: {name} brings the first GLOB ACL: {acl_words(glob)}. "
    if semantics.glob_patterns:
        return (
            f"{brings}Both sides are read by KIP-1042 here. Without a GLOB ACL in its history, a "
            "cluster is read as Kafka does (--semantics auto)."
        )
    return (
        f"{brings}Both sides are read as Kafka does here, so that GLOB is a prefix. After it, a "
        "run with --semantics auto reads all ACLs by KIP-1042."
    )


def _first_glob(acls: Iterable[Acl]) -> Acl | None:
    globs = (acl for acl in acls if acl.pattern_type == GLOB)
    return min(globs, key=lambda acl: acl.acl_id, default=None)
