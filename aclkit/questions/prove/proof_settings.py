"""The options and the settings of a warehouse → the settings for reading each side. Pure.

A warehouse is read under the settings of its decisions. A file has no settings: it is read like
the other side, or as the options set. Sides that are read in different ways are compared only on
request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from aclkit.errors import UsageError
from aclkit.model.acl import Acl
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, GivenSettings
from aclkit.model.brokers import ranges_by_broker, require_known_reading
from aclkit.model.redpanda import authorizer_of
from aclkit.model.semantics import (
    KAFKA,
    KIP_1042,
    PRESETS,
    AskedReading,
    BrokerSettings,
    Semantics,
)
from aclkit.model.super_users import has_placeholder
from aclkit.model.unknown_settings import caveats_on_list
from aclkit.questions.preview.globs import first_glob_note
from aclkit.questions.preview.state import State
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import GLOB

if TYPE_CHECKING:
    from aclkit.answer.masked import Hidden
    from aclkit.questions.preview.desired import Applied
    from aclkit.warehouse.published import AsOf

WAREHOUSE: Final = "warehouse"
LISTING: Final = "listing"
FILES: Final = "files"
RECORDS: Final = "records"
_NOBODY_KNOWS: Final = BrokerSettings(unknown=frozenset({SUPER_USERS, ALLOW_EVERYONE}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The settings that decide, how ACLs are read, and the source of both."""

    settings: BrokerSettings = _NOBODY_KNOWS
    semantics: Semantics = KAFKA
    source: str = "the defaults"

    def equals(self, other: Reading) -> bool:
        """Whether both decide alike, whatever their sources, and whether or not it is known."""
        return (self.settings, self.semantics) == (other.settings, other.semantics)

    def said(self) -> Iterator[tuple[str, str]]:
        """Yield each setting and the value that decides."""
        yield SUPER_USERS, ";".join(sorted(self.settings.super_users)) or "none"
        yield ALLOW_EVERYONE, _text(self.settings.allow_everyone)
        yield from ((name, _text(value)) for name, value in self.semantics.said().items())

    def shown(self) -> Iterator[tuple[str, str]]:
        """Yield each setting and its value for people; an unknown setting is marked as such."""
        for name, value in self.said():
            is_unknown = name in self.settings.unknown
            yield name, f"unknown, taken as {value}" if is_unknown else value


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenReading:
    """The values of the options; None or a missing value means that it was not passed.

    Attributes:
        settings: of the brokers.
        preset: of semantics; None where it is chosen by itself.
        own: single settings of semantics.
    """

    settings: GivenSettings = field(default_factory=GivenSettings)
    preset: str | None = None
    own: Mapping[str, Any] = field(default_factory=dict)

    def over(self, base: Reading) -> Reading:
        """Return what is given, and for the rest a base."""
        given = self.settings
        users, everyone = given.super_users, given.allow_everyone
        read = replace(
            base,
            settings=BrokerSettings(
                super_users=base.settings.super_users if users is None else users,
                allow_everyone=base.settings.allow_everyone if everyone is None else everyone,
                unknown=self._unknown_over(base.settings.unknown),
            ),
            semantics=replace(PRESETS[self.preset] if self.preset else base.semantics, **self.own),
        )
        is_given = users is not None or everyone is not None or self.preset or self.own
        return replace(read, source="the options") if is_given else read

    def after_glob(self, read: Semantics) -> Semantics | None:
        """Return how a run with these options reads ACLs once there is a GLOB; None is as before.

        Args:
            read: how they are read without one.
        """
        if self.preset is not None:
            return None
        return replace(KIP_1042, **{"authorizer": read.authorizer, **self.own})

    def confirming(self, own: Reading) -> Reading:
        """Return how a warehouse is read: a setting unknown there is known if this confirms it."""
        read = self.over(own)
        return replace(own, settings=read.settings) if read.equals(own) else own

    def _unknown_over(self, unknown: frozenset[str]) -> frozenset[str]:
        users, everyone = self.settings.super_users, self.settings.allow_everyone
        said = {SUPER_USERS: users is not None, ALLOW_EVERYONE: everyone is not None}
        left = {key for key in unknown if not said[key]} | self.settings.unresolved
        return frozenset(left | ({SUPER_USERS} if has_placeholder(users or ()) else set()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One state that something is proven about.

    Attributes:
        path: where it was read from, without secrets.
        form: a warehouse, a listing, records or files of other formats.
        acls: those in force in it.
        own: how a warehouse reads them; None for a file.
        cluster_id: of a warehouse.
        offset: of a warehouse, where it is known: the state of all records below.
        notes: what else a reader must know.
        as_of: what a warehouse's state is based on.
        fresh: principals that a plan creates: their names are not known yet.
        applied: of files that were applied to the other side: how they lead to this state.
        hidden: sensitive values of files, which people must not see.
    """

    path: str
    form: str
    acls: tuple[Acl, ...]
    own: Reading | None = None
    cluster_id: str | None = None
    offset: int | None = None
    notes: tuple[str, ...] = ()
    as_of: AsOf | None = None
    fresh: frozenset[str] = frozenset()
    applied: Applied | None = None
    hidden: tuple[Hidden, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadSide:
    """A side, and the settings under which it is read."""

    side: Side
    reading: Reading

    @property
    def rules(self) -> Rules:
        """All of it that decides."""
        return self._rules(self.side.acls)

    @property
    def state(self) -> State:
        """Its ACLs and the settings."""
        acls = {acl.acl_id: acl for acl in self.side.acls}
        return State(acls=acls, settings=self.reading.settings)

    @property
    def most(self) -> Rules:
        """The most it can allow, in any open order and with any name of fresh principals."""
        ends = self.side.applied and self.side.applied.ends
        acls = ends.most.acls.values() if ends else self.side.acls
        return self._rules((*acls, *self._for_any("ALLOW")))

    @property
    def least(self) -> Rules:
        """The least that it must allow: a DENY for a fresh principal may deny any name."""
        ends = self.side.applied and self.side.applied.ends
        acls = ends.least.acls.values() if ends else self.side.acls
        return self._rules((*acls, *self._for_any("DENY")))

    @property
    def is_exact(self) -> bool:
        """Whether all of it is known: its principals, and which ACLs are there at the end."""
        return not self.side.fresh and not (self.side.applied and self.side.applied.ends)

    def _for_any(self, permission_type: str) -> Iterator[Acl]:
        for acl in self.side.acls:
            if acl.principal in self.side.fresh and acl.permission_type == permission_type:
                yield replace(acl, acl_id=f"{acl.acl_id} (any name)", principal="User:*")

    def _rules(self, acls: Sequence[Acl]) -> Rules:
        reading = self.reading
        return Rules(acls=acls, settings=reading.settings, semantics=reading.semantics)


def read_alike(
    sides: Sequence[Side], given: GivenReading, *, each_own: bool = False
) -> tuple[ReadSide, ...]:
    """Return the sides with their settings.

    Args:
        sides: A, and B where there is one.
        given: the values of the options.
        each_own: sides may be read under different settings.

    Raises:
        UsageError: they differ from each other or from the options.
        DataError: only files have a range as a host, and nothing sets how brokers read it.
    """
    if "cidr_hosts" not in given.own and not any(side.own for side in sides):
        nobody = ranges_by_broker(())
        require_known_reading(nobody, {acl.host for side in sides for acl in side.acls})
    base = next((side.own for side in sides if side.own), _by_default(sides))
    read = tuple(
        ReadSide(side, given.confirming(side.own) if side.own else given.over(base))
        for side in sides
    )
    if not each_own:
        _refuse_different(read, given)
    return read


def _by_default(sides: Sequence[Side]) -> Reading:
    """Return how files are read alike: by KIP-1042 where one of them has a GLOB ACL."""
    has_glob = any(acl.pattern_type == GLOB for side in sides for acl in side.acls)
    semantics = AskedReading().taken(has_glob=has_glob)
    whose = authorizer_of(acl.principal for side in sides for acl in side.acls)
    return Reading(semantics=replace(semantics, authorizer=whose))


def first_glob_notes(read: Sequence[ReadSide]) -> list[str]:
    """Return the warning that one of two sides brings the first GLOB ACL, where it does."""
    if len(read) != len("AB"):
        return []
    one, other = ((name, each.side.acls) for name, each in zip("AB", read, strict=True))
    note = first_glob_note(one, other, read[0].reading.semantics)
    return [note] if note else []


def notes_of(read: Sequence[ReadSide]) -> list[str]:
    """Return what a reader of a proof must know about its sides."""
    sides = [each.side for each in read]
    notes = [note for side in sides for note in side.notes]
    notes += (
        f"{side.path}: these records are replayed from an empty cluster. To see what they change "
        "in a warehouse, use aclkit preview apply."
        for side in sides
        if side.form == RECORDS and any(other.own for other in sides)
    )
    return [*notes, *first_glob_notes(read), *caveats(read)]


def caveats(read: Sequence[ReadSide]) -> list[str]:
    """Return what a proof lacks where the brokers' settings of one side are unknown."""
    unknown = frozenset[str]().union(*(each.reading.settings.unknown for each in read))
    return [*caveats_on_list(BrokerSettings(unknown=unknown))]


def _refuse_different(read: Sequence[ReadSide], given: GivenReading) -> None:
    found = [
        f"{what}: A has {one!r}, B has {other!r}"
        for what, one, other in _differences(read[0].reading, read[-1].reading)
    ] or [
        f"{what}: {name} has {one!r}, but {other!r} was passed"
        for name, each in zip("AB", read, strict=False)
        for what, one, other in _differences(each.reading, given.over(each.reading))
    ]
    if found:
        way_out = " To read each side with its own: --compare-settings" if len(read) > 1 else ""
        raise UsageError(f"The settings differ: {', '.join(found)}.{way_out}")


def _differences(one: Reading, other: Reading) -> Iterable[tuple[str, str, str]]:
    ours, theirs = dict(one.said()), dict(other.said())
    for what in ours | theirs:
        then, now = (said.get(what, _text(value=False)) for said in (ours, theirs))
        if then != now:
            yield what, then, now


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
