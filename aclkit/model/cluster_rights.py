"""A right on the cluster → what it makes of a client, and what to do in its place. Pure.

Some rights on the cluster are rarely what a refused client needs. Whoever proposes one first writes
what it allows, and what to do in its place. Source: KafkaApis and ControllerApis of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from aclkit.model.acl import Acl, quoted

_MAKES: Final = {
    "CLUSTER_ACTION": (
        "makes {} a broker: it can fetch every topic as a replica does, and end the transactions "
        "of others"
    ),
    "ALTER": (
        "makes {} an administrator: it can add and remove ACLs and users, and so grant itself "
        "all access"
    ),
    "ALTER_CONFIGS": "lets {} change the configuration of every broker and the quotas of all",
    "CREATE": "lets {} create topics of any name",
}
"""Operation on the cluster → what it makes of a principal."""

_INSTEAD: Final = {
    "CLUSTER_ACTION": (
        "Only brokers and controllers need CLUSTER_ACTION. Add such a principal to super.users. A "
        "client never needs it."
    ),
    "CREATE": "CREATE on the topics that it creates is enough.",
}
_INSTEAD_OF: Final = {
    ("CLUSTER_ACTION", "AddPartitionsToTxn"): (
        "Version 4 of AddPartitionsToTxn is for brokers. Update the client so that it sends "
        "version 3, and give it WRITE on its transactional id."
    ),
    ("CLUSTER_ACTION", "FindCoordinator"): (
        "FindCoordinator of a share group's state is for brokers. Update the client."
    ),
    ("ALTER", "DescribeCluster"): (
        "Controllers ask this, brokers do not. Use --bootstrap-server in place of "
        "--bootstrap-controller."
    ),
}


def makes_of_client(acl: Acl) -> str | None:
    """Write what an ALLOW on the cluster makes of its principal; None where it needs no warning.

    >>> acl = Acl(acl_id="", resource_type="CLUSTER", resource_name="kafka-cluster", host="*",
    ...           pattern_type="LITERAL", principal="User:bob", operation="CREATE",
    ...           permission_type="ALLOW")
    >>> makes_of_client(acl)
    'CREATE on the cluster lets User:bob create topics of any name.'
    """
    if not acl.is_allow or acl.resource_type != "CLUSTER" or acl.operation not in _MAKES:
        return None
    makes = _MAKES[acl.operation].format(quoted(acl.principal))
    return f"{acl.operation} on the cluster {makes}."


def instead_of(acl: Acl, requests: Collection[str]) -> str | None:
    """Write what to do in place of such an ACL; None where there is nothing, or no warning.

    Args:
        acl: the ACL.
        requests: Kafka's names of the requests that were refused.
    """
    if makes_of_client(acl) is None:
        return None
    found = [_INSTEAD_OF[acl.operation, name] for name in requests
             if (acl.operation, name) in _INSTEAD_OF]  # fmt: skip
    return next(iter(found), _INSTEAD.get(acl.operation))
