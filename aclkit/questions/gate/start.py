"""A warehouse, or files → the state from which a change starts, and the names to ask about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.model.symbol import RESOURCES, is_symbol
from aclkit.questions.preview.state import Asked, State
from aclkit.rules.patterns.identity import asked_host
from aclkit.rules.patterns.match import LITERAL, names_one


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The state from which a change starts.

    Attributes:
        state: its ACLs and settings.
        semantics: how ACLs are read.
        inventory: the names that are asked about.
        where: what it is the state of, in words.
        principals: the attributes of known principals.
        resources: the attributes of known resources.
        notes: what is uncertain about it.
        after_glob: how the next run reads ACLs once there is a GLOB; None is in the same way.
    """

    state: State
    semantics: Semantics
    inventory: Asked
    where: str
    principals: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    resources: Mapping[Resource, Mapping[str, str]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    after_glob: Semantics | None = None


def names_in(acls: Iterable[Acl], semantics: Semantics) -> Asked:
    """Return the names that ACLs spell out: without a warehouse these are the known ones.

    As in an inventory, any other principal, host and resource is asked about too. Without a host
    nothing would be asked about where no ACL names one.
    """
    acls = list(acls)
    hosts = (asked_host(acl.host, semantics) for acl in acls)
    return Asked(
        principals=(
            *dict.fromkeys(acl.principal for acl in acls if names_one(acl.principal, semantics)),
            ANY_OTHER_PRINCIPAL,
        ),
        hosts=(*dict.fromkeys(host for host in hosts if host is not None), ANY_OTHER),
        resources=(
            *dict.fromkeys(
                Resource(acl.resource_type, acl.resource_name)
                for acl in acls
                if acl.pattern_type == LITERAL
                and acl.resource_name != "*"
                and acl.resource_type in OPERATIONS_OF_TYPE
                and not is_symbol(RESOURCES, acl.resource_name)
            ),
            *(Resource(kind, ANY_OTHER) for kind in OPERATIONS_OF_TYPE if kind != "CLUSTER"),
        ),
    )
