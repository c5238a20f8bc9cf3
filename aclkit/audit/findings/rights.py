"""Parts of a live cluster that aclkit's user cannot read → the rights that it lacks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.phrases import listed
from aclkit.model.unread import COSTS, RIGHT, right_acl, right_words

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
    lacking = ((right_words(part), part) for part, why in sorted(unread.items()) if why == RIGHT)
    for right, parts in grouped(lacking).items():
        costs = " ".join(COSTS[part] for part in parts)
        yield MISSING_RIGHT.about(
            right,
            f"aclkit's user lacks {right}, so {listed(parts)} were not all read. {costs}",
            fix=f"Run {kafka_acls_command(right_acl(parts[0]))} with aclkit's user as User:NAME.",
        )
