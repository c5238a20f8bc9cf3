"""Narrower sets and the ACLs in force → the owners of ACLs that a file cannot hold whole. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from aclkit.kafka.acls.exports import owner_of
from aclkit.model.groups import grouped
from aclkit.questions.narrow.narrowing import Narrowed
from aclkit.rules.names.rows import Rules


def shared_owners(narrowed: Iterable[Narrowed], rules: Rules) -> dict[str, list[str]]:
    """Return the KafkaUsers that own several principals with ACLs: name → these, in order.

    The operator removes every ACL of ``User:NAME`` and of ``User:CN=NAME`` that the KafkaUser does
    not hold, and a KafkaUser holds those of one of them. Only owners of narrowed principals count.
    """
    after = {each.principal: each.own for each in narrowed}
    others = {acl.principal for acl in rules.acls} - after.keys()
    having = sorted({principal for principal, own in after.items() if own} | others)
    by_owner = grouped((owner, each) for each in having if (owner := owner_of(each)) is not None)
    return {
        owner: some
        for owner, some in by_owner.items()
        if len(some) > 1 and not after.keys().isdisjoint(some)
    }
