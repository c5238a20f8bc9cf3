"""The kinds of findings that a replay or a log of requests shows; an audit's stand with it."""

from __future__ import annotations

from typing import Final

from aclkit.model.findings import Kind

LOG_DIVERGED: Final = Kind(
    id="log-diverged",
    severity="medium",
    summary="log offsets that another leader overwrote",
    meaning=(
        "aclkit read some offsets with a leader epoch that another copy or a snapshot rules out. "
        "The records read with it were never committed, so aclkit does not use them."
    ),
    fix="When you copy the log from a follower, pass --high-watermark.",
)
SNAPSHOT_CONTRADICTS_LOG: Final = Kind(
    id="snapshot-contradicts-log",
    severity="high",
    summary="snapshots that contradict the log",
    meaning=(
        "A snapshot and the complete log before it disagree on the ACLs at the snapshot's end "
        "offset. aclkit uses the log."
    ),
    fix="Compare the snapshots of all controllers at this offset. One of them is wrong.",
)
AUTHORIZER_LOG_MISMATCH: Final = Kind(
    id="authorizer-log-mismatch",
    severity="high",
    summary="broker decisions that contradict the ACLs",
    meaning=(
        "Kafka's authorizer log contains a decision that the ACLs and settings of that moment do "
        "not imply. Or the log names another rule. aclkit usage finds such lines."
    ),
    fix=(
        "Check that the log was replayed up to that time and belongs to this cluster. Check that "
        "super.users and allow.everyone.if.no.acl.found match the brokers. If all of them do, a "
        "broker uses other ACLs than those in the log."
    ),
)
UNUSED_GRANT: Final = Kind(
    id="unused-grant",
    severity="low",
    summary="ALLOW ACLs that no client uses",
    meaning=(
        "No line of the authorizer log names the ALLOW, or is about a request that it would also "
        "have allowed. The log is whole: it has the days of the window, all brokers at DEBUG, and "
        "every line. Of access that only controllers check it has the controllers' lines too. If "
        "any of this is missing, aclkit usage names it, and no ACL counts as unused."
    ),
    fix=(
        "Ask the owner, then remove the ACL if no client needs it. aclkit preview remove-acl shows "
        "who would lose access."
    ),
)
REFUSED_ACCESS: Final = Kind(
    id="refused-access",
    severity="low",
    summary="clients that brokers refuse again and again",
    meaning=(
        "Brokers refuse the client this access again and again, and the ACLs still do not allow "
        "it. The client may be configured wrongly, lack an ACL, or probe. aclkit usage finds such "
        "accesses; lines that only leave something out of an answer do not count."
    ),
    fix=(
        "aclkit denials shows since when, whether an ACL once allowed it, and the smallest ACL "
        "that would. Add that ACL, or stop the client."
    ),
)
