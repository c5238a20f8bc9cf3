"""ACLs of a cluster × the files in which the team keeps them → what differs. Pure.

What the files replace decides which ACLs of the cluster are theirs: an ACL that a file leaves
alone is no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.kafka.desired.answer import without_sensitive
from aclkit.kafka.desired.model import DesiredAcl, Part
from aclkit.kafka.desired.read import Desired
from aclkit.model.acl import Acl, acl_words
from aclkit.model.findings import DRIFT, Finding, Kind
from aclkit.model.phrases import few, number_of
from aclkit.questions.preview.desired import Scope, apply_desired
from aclkit.questions.state import State

UNMANAGED_ACL: Final = Kind(
    id="unmanaged-acl",
    severity="medium",
    summary="ACLs that no file of desired state holds",
    meaning=(
        "The cluster has the ACL, and no file passed with --desired holds it. The files replace "
        "the ACLs that it belongs to. Somebody created it by hand or with another tool, or its "
        "removal was not applied. The next apply may remove it."
    ),
    fix="Add the ACL to the file, or remove it from the cluster.",
)
MISSING_ACL: Final = Kind(
    id="missing-acl",
    severity="high",
    summary="ACLs of the desired state that do not exist",
    meaning=(
        "A file passed with --desired holds the ACL, but the cluster does not have it. It was not "
        "applied yet, or it was removed by hand or by another tool."
    ),
    fix="Apply the file, or remove the ACL from it.",
    depends="high for a DENY, medium for an ALLOW",
)
DESIRED_UNREADABLE: Final = Kind(
    id="desired-unreadable",
    severity="high",
    summary="files of desired state that cannot be read",
    meaning=(
        "The files passed with --desired cannot be used, so it is unknown which ACLs of the "
        "cluster differ from them."
    ),
    fix="Correct the files. To see all reasons: aclkit desired show PATH.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredFiles:
    """The files in which the team keeps its ACLs, as a run read them.

    Attributes:
        paths: as they were passed.
        desired: what they hold; None where they cannot be used.
        reason: why they cannot be used.
        scope: what files without a scope of their own replace.
        with_operator: Strimzi's User Operator runs.
    """

    paths: Sequence[str]
    desired: Desired | None = None
    reason: str = ""
    scope: Scope | None = None
    with_operator: bool = False

    def compared_with(self, acls: Sequence[Acl]) -> tuple[list[Finding], list[str]]:
        """Return what differs from the ACLs in force, and the notes that tell it."""
        if self.desired is None:
            return [*find_unreadable(self.paths, self.reason)], []
        found = [*find_drift(acls, self.desired, self.scope, with_operator=self.with_operator)]
        return found, [drift_sentence(acls, self.desired, found), *self.desired.notes]


def find_unreadable(paths: Sequence[str], reason: str) -> Iterator[Finding]:
    """Yield the finding that files cannot be used."""
    lines = reason.split("\n")
    message = f"What differs from the files is unknown: {lines[0]}"
    yield DESIRED_UNREADABLE.about(few(paths), message, evidence=lines)


def find_drift(
    acls: Iterable[Acl], desired: Desired, scope: Scope | None, *, with_operator: bool = False
) -> Iterator[Finding]:
    """Yield each ACL that only the cluster or only the files have.

    Args:
        acls: those in force.
        desired: what the files hold.
        scope: what files without a scope of their own replace.
        with_operator: Strimzi's User Operator runs, so ACLs of users without a file count too.
    """
    before = State().with_only(acls)
    applied = apply_desired(desired, before, scope, with_operator=with_operator)
    held = {each.binding: each for part in desired.parts for each in part.acls}
    for name, acl in sorted(before.acls.items()):
        # The worst case of a plan loses ACLs that it holds: that is no difference yet.
        if name not in applied.after.acls and acl.binding not in held:
            yield _unmanaged(acl, desired.parts)
    real = {acl.binding for acl in before.acls.values()}
    for binding, each in sorted(held.items()):
        if binding not in real:
            yield _missing(each)


def drift_sentence(acls: Iterable[Acl], desired: Desired, findings: Sequence[Finding]) -> str:
    """Write how desired and real ACLs compare."""
    real = {acl.binding for acl in acls}
    wanted = {acl.binding for acl in desired.acls}
    counts = {kind: sum(each.finding == kind for each in findings) for kind in DRIFT}
    files = number_of(len({part.document for part in desired.parts}), "file")
    return (
        f"Desired state: {number_of(len(wanted), 'ACL')} in {files}; {len(wanted & real):,} exist, "
        f"{counts[MISSING_ACL.id]:,} are missing, {counts[UNMANAGED_ACL.id]:,} exist that the "
        "files do not hold."
    )


def _unmanaged(acl: Acl, parts: Sequence[Part]) -> Finding:
    where = _file_for(acl, parts)
    file = f" {where} has the ACLs of {acl.principal}." if where else ""
    return UNMANAGED_ACL.about(
        str(acl),
        f"No file holds {acl_words(acl)}.{file}",
        fix=f"Add the ACL to {where or 'a file'}, or remove it from the cluster.",
        acls=[acl],
    )


def _missing(each: DesiredAcl) -> Finding:
    shown = without_sensitive(each)
    return MISSING_ACL.about(
        str(shown),
        f"{each.place} holds {acl_words(shown)}, which does not exist.",
        severity="medium" if each.acl.is_allow else "high",
    )


def _file_for(acl: Acl, parts: Sequence[Part]) -> str | None:
    """Return which file should hold an ACL: the one that owns its principal or has ACLs of it."""
    for part in parts:
        for owner in part.owners:
            if acl.principal in owner.principals:
                return str(owner.place)
    for part in parts:
        for each in part.acls:
            if each.acl.principal == acl.principal:
                return each.place.file
    return None
