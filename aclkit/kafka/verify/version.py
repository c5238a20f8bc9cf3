"""ACLs and how a run reads their hosts → which Kafka is asked, and a note on it. Pure.

Kafka 4.4 reads a host that holds a ``/`` as a range of addresses (KIP-1276), whatever the cluster's
metadata.version is; before, no client's address is equal to such a text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aclkit.kafka.verify.jars import NEWEST, VERSIONS
from aclkit.model.acl import Acl

RANGES_SINCE: Final = "4.4.0"
"""The first version that reads ranges."""


def choose_version(
    given: str | None, acls: Iterable[Acl], *, reads_ranges: bool
) -> tuple[str, str | None]:
    """Return the version that is asked, and a sentence where ranges matter for that.

    It is the newest that reads the hosts of these ACLs as the run does, or the one that is given.

    Args:
        given: the version that a person named, one of those known.
        acls: all that Kafka will have.
        reads_ranges: whether the run reads ranges too.
    """
    host = next((acl.host for acl in acls if "/" in acl.host), None)
    if host is None:
        return given or NEWEST, None
    since = VERSIONS.index(RANGES_SINCE)
    alike = VERSIONS[since:] if reads_ranges else VERSIONS[:since]
    version = given or alike[-1]
    kafkas, ours = ("text", "ranges") if reads_ranges else ("ranges", "text")
    if version not in alike:
        return version, (
            f"Kafka {version} reads hosts such as {host} as {kafkas}, but the run as {ours}. "
            "Decisions that depend on it differ."
        )
    if given or version == NEWEST:
        return version, None
    return version, (
        f"Kafka {version} is compared, because {NEWEST} reads hosts such as {host} as "
        f"{kafkas}, but the run as {ours}."
    )
