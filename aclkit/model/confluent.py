"""Principals of Confluent Cloud → what a reader of ACLs must know of them. Pure.

Source: Confluent Cloud's documentation of service accounts, identity pools and its REST API ("List
ACLs": without a filter, service accounts are returned as integer ids). A service account logs in as
``User:sa-…``, while its ACLs can be listed under an integer such as ``User:12345``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.phrases import few, number_of

_ACCOUNT: Final = re.compile(r"User:(sa|u|pool)-(?P<id>[A-Za-z0-9]{4,16})")
_INTEGER: Final = re.compile(r"User:[0-9]{3,18}")
_KINDS: Final = {"sa": "service account", "u": "user account", "pool": "identity pool"}
_CLUSTER: Final = "lkc-"
"""How the id of a Kafka cluster of Confluent Cloud begins."""


def account_kind(principal: str, cluster_id: str) -> str | None:
    """Return which kind of account a principal is; None where its name is of another form.

    Of another cluster an id must have a digit, for teams call users ``sa-orders`` too.

    >>> account_kind("User:sa-abc123", "prod"), account_kind("User:sa-orders", "prod")
    ('service account', None)
    >>> account_kind("User:pool-Awpq", "lkc-1"), account_kind("User:sam", "lkc-1")
    ('identity pool', None)
    """
    found = _ACCOUNT.fullmatch(principal)
    if found is None:
        return None
    is_id = _is_cloud(cluster_id) or any(map(str.isdigit, found["id"]))
    return _KINDS[found[1]] if is_id else None


def caveats_on_roles(principals: Iterable[str], cluster_id: str) -> Iterator[str]:
    """Yield once that role bindings are not ACLs, where one of the principals is an account.

    For access that no DENY denies: a DENY of an ACL wins over a role.
    """
    for principal in principals:
        if kind := account_kind(principal, cluster_id):
            yield (
                f"{principal} has the name of a {kind} of Confluent Cloud. RBAC role bindings "
                "are not ACLs, so a role can allow what no ACL allows."
            )
            return


def _is_cloud(cluster_id: str) -> bool:
    return cluster_id.startswith(_CLUSTER)


def integer_hint(principal: str, known: Iterable[str], cluster_id: str) -> str:
    """Write that an account's ACLs can stand under an integer id; empty where none is known.

    >>> integer_hint("User:sa-abc123", ["User:alice", "User:12345"], "lkc-1")
    'ACLs here name User:12345: such an integer id of Confluent Cloud can be this account.'
    """
    if account_kind(principal, cluster_id) is None:
        return ""
    integers = sorted(filter(_INTEGER.fullmatch, known))
    if not integers:
        return ""
    return (
        f"ACLs here name {few(integers)}: such an integer id of Confluent Cloud can be this "
        "account."
    )


def notes_on_accounts(cluster_id: str, principals: Iterable[str]) -> Iterator[str]:
    """Yield what a run notes about the principals of a listing's ACLs."""
    names = {*principals}
    accounts = [name for name in names if account_kind(name, cluster_id)]
    integers = sorted(filter(_INTEGER.fullmatch, names))
    is_cloud = _is_cloud(cluster_id)
    if accounts or is_cloud:
        yield (
            f"ACLs name {number_of(len(accounts), 'account')} of Confluent Cloud. RBAC role "
            "bindings are not ACLs and are not read, so a role can allow what no ACL allows."
        )
    if integers and (accounts or is_cloud):
        yield (
            f"ACLs name {number_of(len(integers), 'integer id')} of Confluent Cloud: "
            f"{few(integers)}. The same account logs in as User:sa-…, a name that these ACLs do "
            "not match as text. Ask about the integer id."
        )
