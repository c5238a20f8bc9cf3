"""ACLs and settings → ``open-to-everyone``: what no ACL reaches while that means access for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.model.acl import ANY_OTHER
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import CLUSTER_NAME, Resource

OPEN_TO_EVERYONE: Final = Kind(
    id="open-to-everyone",
    severity="high",
    meaning=(
        "allow.everyone.if.no.acl.found is true and no ACL of anybody reaches the topic, or the "
        "cluster itself: every client may do everything with it, delete it too. topic:<any-other> "
        "stands for all topics to come: only an ACL that reaches every name takes them out."
    ),
    fix=(
        "Set allow.everyone.if.no.acl.found=false when every client has its ACLs; until then add "
        "an ACL that reaches the resource."
    ),
    holds_for=INVENTORY,
)


def find_open_to_everyone(audit: AuditInput) -> Iterator[Finding]:
    """Yield the topics, and the cluster, that no ACL reaches while that means ALLOWED."""
    if not audit.settings.allow_everyone:
        return
    names = [("TOPIC", name) for name in (*audit.topics_alive, ANY_OTHER)]
    for resource_type, name in (("CLUSTER", CLUSTER_NAME), *names):
        if not audit.index.matches(resource_type, name):
            operations = ", ".join(OPERATIONS_OF_TYPE[resource_type])
            what = f"{resource_type} {name}"
            if name == ANY_OTHER:
                what = "a topic that no ACL names, one created tomorrow for example"
            yield OPEN_TO_EVERYONE.about(
                str(Resource(resource_type, name)),
                f"No ACL reaches {what}, so every client may do everything with it.",
                evidence=(
                    "allow.everyone.if.no.acl.found is true",
                    f"rule DefaultAllow gives {operations}",
                ),
            )
