"""A cluster, or the files of a team, at one moment: all that decides, and what is unknown. Pure.

``read_state`` makes one of a warehouse or of files. Questions change and compare it as a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.model.symbol import RESOURCES, is_symbol
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.identity import asked_host
from aclkit.rules.patterns.match import LITERAL, names_one

if TYPE_CHECKING:
    from datetime import datetime

    from aclkit.answer.masked import Hidden
    from aclkit.kafka.desired.model import Place
    from aclkit.kafka.desired.plan_effect import PlanEffect
    from aclkit.rules.names.moments import Doing
    from aclkit.warehouse.published import AsOf

WAREHOUSE: Final = "warehouse"
LISTING: Final = "listing"
FILES: Final = "files"
RECORDS: Final = "records"

UNKNOWN_SETTINGS: Final = BrokerSettings(unknown=frozenset({SUPER_USERS, ALLOW_EVERYONE}))
"""Those of files: nothing in them is of the brokers."""

Binding = tuple[str, ...]
"""The seven fields of an ACL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Known names.

    Attributes:
        principals: who.
        hosts: from where.
        resources: on what.
        topics: the topics that exist; None if the source does not list topics.
        attributes: of the principals and resources that have some.
    """

    principals: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    topics: frozenset[str] | None = None
    attributes: Mapping[str | Resource, Mapping[str, str]] = field(default_factory=dict)

    @property
    def has_names(self) -> bool:
        """Whether any name is known; of files none is."""
        return bool(self.principals or self.resources)

    def with_more(
        self,
        principals: Iterable[str] = (),
        hosts: Iterable[str] = (),
        resources: Iterable[Resource] = (),
    ) -> Inventory:
        """Return these and others, each once."""
        return replace(
            self,
            principals=tuple(dict.fromkeys((*self.principals, *principals))),
            hosts=tuple(dict.fromkeys((*self.hosts, *hosts))),
            resources=tuple(dict.fromkeys((*self.resources, *resources))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What decides at one moment, and what is known of it.

    Attributes:
        acls: those in force, by id, in the order of ids.
        settings: of the brokers; of files unknown, until ``read_by`` tells whose they are.
        semantics: how ACLs are read; the same.
        read_by: where settings and semantics are from; empty for files, which have neither.
        inventory: the known names.
        place: the warehouse or the files, without secrets.
        form: a warehouse, a listing, records, or files of other formats.
        label: what answers call it where there are two.
        cluster_id: of a warehouse; empty for files.
        run_id: of a warehouse, the run whose state this is.
        run_number: the same.
        offset: the state is as of it (exclusive), where it is known.
        as_of: how old it is; None for files.
        notes: what is uncertain or unknown about it.
        level: the metadata.version in force, where it is known.
        after_glob: how the next run reads ACLs once there is a GLOB; None is in the same way.
        versions: what the registered brokers are, in words.
        authorizers: those that the brokers report.
        applied: of files that were applied to another state: how they lead to this state.
        fresh: principals that a plan creates: their names are not known yet.
        hidden: sensitive values of files, which people must not see.
    """

    acls: Mapping[str, Acl] = field(default_factory=dict)
    settings: BrokerSettings = UNKNOWN_SETTINGS
    semantics: Semantics = KAFKA
    read_by: str = ""
    inventory: Inventory = Inventory()
    place: str = ""
    form: str = WAREHOUSE
    label: str = ""
    cluster_id: str = ""
    run_id: str = ""
    run_number: int = 0
    offset: int | None = None
    as_of: AsOf | None = None
    notes: Sequence[str] = ()
    level: int | None = None
    after_glob: Semantics | None = None
    versions: str = ""
    authorizers: tuple[str, ...] = ()
    applied: Applied | None = None
    fresh: frozenset[str] = frozenset()
    hidden: Sequence[Hidden] = ()

    @property
    def time(self) -> datetime | None:
        """When the sources were read, where it is known."""
        return None if self.as_of is None else self.as_of.time

    def with_only(self, acls: Iterable[Acl]) -> State:
        """Return the state with these ACLs in the place of its own."""
        return replace(self, acls={acl.acl_id: acl for acl in acls})

    def with_acls(self, added: Iterable[Acl]) -> State:
        """Return the state with more ACLs."""
        return self.with_only((*self.acls.values(), *added))

    def without(self, ids: Iterable[str]) -> State:
        """Return the state without some ACLs."""
        gone = set(ids)
        return self.with_only(acl for name, acl in self.acls.items() if name not in gone)

    def read_as(self, semantics: Semantics) -> State:
        """Return the state with its ACLs read so."""
        return replace(self, semantics=semantics)

    def read_like(self, other: State) -> State:
        """Return the state under the settings of another one, with its ACLs read as there."""
        return replace(
            self, settings=other.settings, semantics=other.semantics, read_by=other.read_by
        )

    @property
    def rules(self) -> Rules:
        """All of it that decides."""
        return self._rules(self.acls.values())

    @property
    def most(self) -> Rules:
        """The most it can allow, in any open order and with any name of fresh principals."""
        ends = self.applied and self.applied.ends
        acls = ends.most.acls if ends else self.acls
        return self._rules((*acls.values(), *self._for_any("ALLOW")))

    @property
    def least(self) -> Rules:
        """The least that it must allow: a DENY for a fresh principal may deny any name."""
        ends = self.applied and self.applied.ends
        acls = ends.least.acls if ends else self.acls
        return self._rules((*acls.values(), *self._for_any("DENY")))

    @property
    def is_exact(self) -> bool:
        """Whether all of it is known: its principals, and which ACLs are there at the end."""
        return not self.fresh and not (self.applied and self.applied.ends)

    def _for_any(self, permission_type: str) -> Iterator[Acl]:
        for acl in self.acls.values():
            if acl.principal in self.fresh and acl.permission_type == permission_type:
                yield replace(acl, acl_id=f"{acl.acl_id} (any name)", principal="User:*")

    def _rules(self, acls: Iterable[Acl]) -> Rules:
        return Rules(acls=tuple(acls), settings=self.settings, semantics=self.semantics)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """States that bound every state of some ACLs whose presence is not known.

    Attributes:
        most: nothing more is ever allowed: every ALLOW in question exists, and no DENY.
        least: nothing less is ever allowed: every DENY in question exists, and no ALLOW; and no
            resource that one of the ACLs reaches is open to everyone.
        bare: none of the ACLs in question exists; it matters where a resource without ACLs is
            open to everyone.
    """

    most: State
    least: State
    bare: State


@dataclass(frozen=True, slots=True)
class Depends:
    """On what it depends which ACLs exist at the end.

    Attributes:
        words: what follows "depends on".
        acls: those that may or may not exist, by their seven fields; None where they are unknown.
        is_unread: they stand in a part of a file that aclkit does not read.
    """

    words: str
    acls: Mapping[Binding, Acl] | None = None
    is_unread: bool = False


@dataclass(frozen=True, kw_only=True)
class Applied:
    """What files come to on top of a state.

    Attributes:
        after: the state at the end, in the worst case.
        ends: other states at the end, where it depends on something; they bound what it allows.
        moments: states on the way that bound what can be allowed for a time.
        effects: of plans, what they do to each ACL.
        notes: what has no effect, where plan and cluster disagree, and what was left alone.
        places: where files hold an ACL, by its seven fields.
        doings: what is done step by step; none where it is not known how files are applied.
        depends: on what it depends which ACLs exist at the end.
    """

    after: State
    ends: Bounds | None = None
    moments: Bounds | None = None
    effects: Sequence[PlanEffect] = ()
    notes: Sequence[str] = ()
    places: Mapping[Binding, Sequence[Place]] = field(default_factory=dict)
    doings: Sequence[Doing] = ()
    depends: Sequence[Depends] = ()


def names_in(acls: Iterable[Acl], semantics: Semantics) -> Inventory:
    """Return the names that ACLs spell out: without a warehouse these are the known ones.

    As in an inventory, any other principal, host and resource is asked about too. Without a host
    nothing would be asked about where no ACL names one.
    """
    acls = list(acls)
    hosts = (asked_host(acl.host, semantics) for acl in acls)
    return Inventory(
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
                and domain_of(acl.resource_type).holds(acl.resource_name)
            ),
            *(Resource(kind, ANY_OTHER) for kind in OPERATIONS_OF_TYPE if kind != "CLUSTER"),
        ),
    )
