"""Two clusters as tests write them down, and their decisions by the pure rule."""

from __future__ import annotations

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.clusters.mapped_acls import Maps
from aclkit.questions.clusters.name_map import NameMap, parse_principal_rule, parse_rule
from aclkit.questions.state import Inventory, State
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import reaches
from tests.factories import acl


def maps(*names, principals=()):
    return Maps(
        names=NameMap.of(map(parse_rule, names)),
        principals=NameMap.of(map(parse_principal_rule, principals)),
    )


STAGE_TO_PROD = maps("stage.=prod.", principals=["User:stage-=User:prod-"])


def cluster(label, acls=(), *, topics=(), groups=(), principals=(), exist=None, semantics=KAFKA,
            super_users=(), allow_everyone=False, **more):  # fmt: skip
    """A cluster; ``topics`` are in its inventory, ``exist`` are those that its log has."""
    resources = [Resource("TOPIC", name) for name in topics]
    resources += [Resource("GROUP", name) for name in groups]
    return State(
        label=label,
        acls={each.acl_id: each for each in acls},
        settings=BrokerSettings(super_users=frozenset(super_users), allow_everyone=allow_everyone),
        semantics=semantics,
        inventory=Inventory(
            principals=tuple(principals),
            hosts=("10.0.0.1", ANY_OTHER),
            resources=tuple(resources),
            topics=None if exist is None else frozenset(exist),
        ),
        **more,
    )


def grants(*rows):
    """ALLOWs, each a principal, an operation and a topic; a name that ends with * is a prefix."""
    return [
        acl(
            acl_id=f"id{number}",
            principal=principal,
            operation=operation,
            resource_name=name.removesuffix("*") if len(name) > 1 else name,
            pattern_type="PREFIXED" if name.endswith("*") and len(name) > 1 else "LITERAL",
        )
        for number, (principal, operation, name) in enumerate(rows)
    ]


def decision(of, principal, host, operation, resource):
    """Decide one request in a cluster by the pure rule."""
    acls = list(of.acls.values())
    kind, name = resource
    search = BrokerRescan.of((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    ruling = decide(
        [a for a in acls if reaches(a, kind, name, of.semantics)],
        Request.of(principal, host, operation, resource),
        of.settings,
        of.semantics,
        wildcard_is_last=search.wildcard_is_last(kind, name),
    )
    return ruling.decision
