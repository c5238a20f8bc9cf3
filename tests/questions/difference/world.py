"""States, inventories and differences as tests write them down, decided by the pure rule."""

from __future__ import annotations

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.questions.difference.change import Change
from aclkit.questions.state import Inventory, State
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import reaches

PRINCIPALS = ("User:a", "User:b", "Group:a", "User:s", ANY_OTHER_PRINCIPAL)
HOSTS = ("10.0.0.1", "10.0.0.2", ANY_OTHER)
IN_RANGES = (
    *("10.9.9.9", "0.0.0.0", "0:0:0:0:0:0:0:1"),
    *(f"<any-other in {within}>" for within in ("10.0.0.0/8", "0.0.0.0/0", "::/0")),
)
NAMES = ("", "a", "ab", "b", "*a", "!a", "a?", ANY_OTHER)
ASKED = Inventory(
    principals=PRINCIPALS,
    hosts=HOSTS,
    resources=tuple(Resource(kind, name) for kind in ("TOPIC", "GROUP") for name in NAMES),
)
SUPER = frozenset({"User:s", ANY_OTHER_PRINCIPAL})


def state(acls, semantics=KIP_1042, *, allow_everyone=False, super_users=SUPER):
    return State(
        acls={a.acl_id: a for a in acls},
        settings=BrokerSettings(super_users=super_users, allow_everyone=allow_everyone),
        semantics=semantics,
    )


def change(before, after, semantics=KIP_1042, *, allow_everyone=False):
    """A change of ACLs under the same settings."""
    return Change(
        before=state(before, semantics, allow_everyone=allow_everyone),
        after=state(after, semantics, allow_everyone=allow_everyone),
    )


def topics(*names, principals=("User:a", "User:b"), hosts=("10.0.0.1", ANY_OTHER)):
    """An inventory of topics."""
    resources = tuple(Resource("TOPIC", name) for name in names)
    return Inventory(principals=principals, hosts=hosts, resources=resources)


def decisions(of, semantics, asked=ASKED):
    """Decide every cell by the pure rule."""
    acls = list(of.acls.values())
    search = BrokerRescan.of((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    decided = {}
    for resource in asked.resources:
        kind, name = resource.resource_type, resource.resource_name
        # The others of the cluster have no say, by the rule's second step.
        reaching = [a for a in acls if reaches(a, kind, name, semantics)]
        is_last = search.wildcard_is_last(kind, name)
        for principal in asked.principals:
            for operation in OPERATIONS_OF_TYPE[kind]:
                for host in asked.hosts:
                    request = Request(
                        principal=principal, host=host, operation=operation,
                        resource_type=kind, resource_name=name,
                    )  # fmt: skip
                    ruling = decide(
                        reaching, request, of.settings, semantics, wildcard_is_last=is_last
                    )
                    decided[principal, host, operation, resource] = (
                        ruling.decision, ruling.rule, ruling.acl.acl_id if ruling.acl else None,
                    )  # fmt: skip
    return decided


def differences(of, asked=ASKED):
    """Decide every cell before and after, and keep what differs."""
    before, after = (
        decisions(state, how, asked)
        for state, how in zip((of.before, of.after), of.readings, strict=True)
    )
    return {cell: (before[cell], after[cell]) for cell in before if before[cell] != after[cell]}
