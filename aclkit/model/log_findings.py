"""The kinds of findings that a replay or a log of requests shows; an audit's stand with it."""

from __future__ import annotations

from typing import Final

from aclkit.model.findings import Kind

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
