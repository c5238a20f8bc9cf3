"""ACLs whose host is a range, and the brokers → ``sleeping-range``: what wakes with Kafka 4.4.

Source: StandardAuthorizerData and CidrUtils of Kafka 4.4.0 (KIP-1276); what a broker's binary is,
its registration says (``aclkit.model.brokers``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.model.findings import Finding, Kind
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.reread import Reread
from aclkit.rules.names.words import reread_words

SLEEPING_RANGE: Final = Kind(
    id="sleeping-range",
    severity="high",
    depends="high where it will give access, medium where it will take some, info otherwise",
    meaning=(
        "The ACL's host is a range of addresses such as 10.0.0.0/8. Brokers up to 4.3 store it and "
        "compare it as text, so that it matches no client; from 4.4 on it is that range. It wakes "
        "with the new binary of each broker, whatever metadata.version is in force: what an ALLOW "
        "gives then nobody has seen at work, and a DENY takes what clients use today. What it will "
        "do is told together with all other ranges, which wake with it."
    ),
    fix=(
        "Decide before brokers are upgraded whether that is meant: narrow or remove the ACL where "
        "it is not. aclkit preview upgrade --from 4.3 --to 4.4 shows what all do together."
    ),
)
_NOTHING_TO_DO: Final = (
    "Nothing has to be done while the other ranges stay as they are: what it does is told together "
    "with them, so preview their removal, and its own, before."
)


def find_sleeping_ranges(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL whose host is a range where ranges do not decide on every broker.

    What is not known of it makes no finding.
    """
    for each in audit.rereads:
        if each.changes or each.is_known:
            yield SLEEPING_RANGE.about(
                str(each.acl),
                f"Host {each.acl.host} matches no client below Kafka 4.4 and is a range of "
                f"addresses from it on: once awake, this {each.acl.permission_type} "
                f"{reread_words(each)}.",
                severity=_severity(each),
                fix=None if each.changes else _NOTHING_TO_DO,
                acls=(each.acl,),
                evidence=(audit.ranges.words,),
            )


def _severity(each: Reread) -> str:
    if each.of_kind(GAINED):
        return "high"
    return "medium" if each.of_kind(LOST) else "info"
