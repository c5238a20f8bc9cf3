"""Every kind of finding there is, by its id, and the page that tells of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.any_host import ANY_HOST
from aclkit.audit.findings.broker_settings_differ import BROKER_SETTINGS_DIFFER
from aclkit.audit.findings.deny_leaves_describe import DENY_LEAVES_DESCRIBE
from aclkit.audit.findings.escalation import ESCALATION
from aclkit.audit.findings.glob_lookalike import GLOB_LOOKALIKE
from aclkit.audit.findings.inherited_access import INHERITED_ACCESS
from aclkit.audit.findings.never_matches import NEVER_MATCHES
from aclkit.audit.findings.open_to_everyone import OPEN_TO_EVERYONE
from aclkit.audit.findings.orphan_principal import ORPHAN_PRINCIPAL
from aclkit.audit.findings.orphan_resource import ORPHAN_RESOURCE
from aclkit.audit.findings.over_broad import OVER_BROAD
from aclkit.audit.findings.overridden import ALLOW_OVERRIDDEN
from aclkit.audit.findings.public_access import PUBLIC_ACCESS
from aclkit.audit.findings.read_without_group import READ_WITHOUT_GROUP
from aclkit.audit.findings.readings import DUPLICATE_ACL, READS_DIFFERENTLY, UNKNOWN_CODE
from aclkit.audit.findings.redundant import REDUNDANT_ACL
from aclkit.audit.findings.shadowed import ALLOW_SHADOWED, DENY_SHADOWED
from aclkit.audit.findings.transactional_without_write import TRANSACTIONAL_WITHOUT_WRITE
from aclkit.model.findings import EVERY_NAME, Kind

LOG_DIVERGED: Final = Kind(
    id="log-diverged",
    severity="medium",
    meaning=(
        "Offsets were read again with a higher epoch: the tail that was read before was never "
        "committed, and what it held is withdrawn."
    ),
    fix="Give --high-watermark when the log is copied from a follower.",
)
SNAPSHOT_CONTRADICTS_LOG: Final = Kind(
    id="snapshot-contradicts-log",
    severity="high",
    meaning=(
        "A snapshot and the gapless log before it disagree on the ACLs at its end offset. The log "
        "is believed."
    ),
    fix="Compare the controllers' snapshots of this offset; one of them is wrong.",
)
AUTHORIZER_LOG_MISMATCH: Final = Kind(
    id="authorizer-log-mismatch",
    severity="high",
    meaning=(
        "A line of Kafka's authorizer log says that a request was decided otherwise, or by "
        "another rule, than the ACLs and settings of that moment give. Found by aclkit usage."
    ),
    fix=(
        "Check that the log was replayed up to then, that it is this cluster's, and that "
        "super.users and allow.everyone are the brokers' own; else a broker decides by other ACLs "
        "than those in the log."
    ),
)
UNUSED_GRANT: Final = Kind(
    id="unused-grant",
    severity="low",
    meaning=(
        "The authorizer log covers the whole window, and no line of it names this ALLOW, nor is "
        "of a request that this ALLOW would have let through as well. Found by aclkit usage; "
        "where ALLOWED lines are absent nothing is said."
    ),
    fix="Ask its owner, and remove it if it is needed no more.",
)

KINDS: Final[dict[str, Kind]] = {
    kind.id: kind
    for kind in (
        PUBLIC_ACCESS,
        OPEN_TO_EVERYONE,
        ESCALATION,
        INHERITED_ACCESS,
        OVER_BROAD,
        ANY_HOST,
        ALLOW_OVERRIDDEN,
        NEVER_MATCHES,
        GLOB_LOOKALIKE,
        DENY_LEAVES_DESCRIBE,
        REDUNDANT_ACL,
        ALLOW_SHADOWED,
        DENY_SHADOWED,
        ORPHAN_RESOURCE,
        ORPHAN_PRINCIPAL,
        READ_WITHOUT_GROUP,
        TRANSACTIONAL_WITHOUT_WRITE,
        READS_DIFFERENTLY,
        DUPLICATE_ACL,
        UNKNOWN_CODE,
        UNUSED_GRANT,
        AUTHORIZER_LOG_MISMATCH,
        SNAPSHOT_CONTRADICTS_LOG,
        BROKER_SETTINGS_DIFFER,
        LOG_DIVERGED,
    )
}
"""In the order of the page: too much access first, then what is of no use, then what is odd."""


def scope_words(kind: Kind) -> str:
    """Say what a finding of the kind holds for."""
    if kind.holds_for == EVERY_NAME:
        return "every possible name"
    return "the inventory: the topics, principals and resources known to the run"


def render_page(generated: str) -> str:
    """Write docs/findings.md.

    Args:
        generated: the line that says how the page is made.
    """
    return "\n".join(_page(generated)) + "\n"


def _page(generated: str) -> Iterator[str]:
    yield from (f"<!-- {generated.strip()} -->", "# Findings", "", _INTRODUCTION, "")
    yield from ("| finding | severity | holds for |", "|---|---|---|")
    for kind in KINDS.values():
        yield f"| [{kind.id}](#{kind.id}) | {kind.severity} | {kind.holds_for} |"
    for kind in KINDS.values():
        yield from ("", f"## {kind.id}", "", _text(kind.meaning), "")
        yield f"- *Severity:* {kind.severity}."
        yield f"- *Holds for:* {scope_words(kind)}."
        yield f"- *Fix:* {_text(_sentence(kind.fix))}"


_INTRODUCTION: Final = (
    "What `aclkit run` looks for and `aclkit audit` prints; `aclkit audit --explain ID` shows one "
    "of these. A finding has the ACLs behind it, each as kafka-acls prints it, its evidence, and "
    "whether it holds for every possible name (`every-name`) or for what the run knew "
    "(`inventory`). Its fingerprint is made of its id and its subject, and stays the same from "
    "run to run."
)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _text(text: str) -> str:
    """Take their meaning from the signs that mean something to Markdown."""
    return text.replace("*", r"\*").replace("<", r"\<").replace("_", r"\_")
