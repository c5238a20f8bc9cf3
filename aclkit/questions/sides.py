"""The options and the settings of a warehouse → the settings for reading each side. Pure.

A warehouse is read under the settings of its decisions. A file has no settings: it is read like
the other side, or as the options set. Sides that are read in different ways are compared only on
request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aclkit.errors import UsageError
from aclkit.model.acl import Acl, acl_words
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, GivenSettings, caveats_on_list
from aclkit.model.brokers import ranges_by_broker, require_known_reading
from aclkit.model.redpanda import authorizer_of
from aclkit.model.semantics import KIP_1042, PRESETS, AskedReading, BrokerSettings, Semantics
from aclkit.model.super_users import has_placeholder
from aclkit.questions.state import RECORDS, WAREHOUSE, State
from aclkit.questions.state_words import said
from aclkit.rules.patterns.match import GLOB


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

    def over(self, base: State) -> State:
        """Return a state with the settings that are given, and its own for the rest."""
        given = self.settings
        users, everyone = given.super_users, given.allow_everyone
        is_given = users is not None or everyone is not None or self.preset or self.own
        return replace(
            base,
            settings=BrokerSettings(
                super_users=base.settings.super_users if users is None else users,
                allow_everyone=base.settings.allow_everyone if everyone is None else everyone,
                unknown=self._unknown_over(base.settings.unknown),
            ),
            semantics=replace(PRESETS[self.preset] if self.preset else base.semantics, **self.own),
            read_by="the options" if is_given else base.read_by,
        )

    def after_glob(self, read: Semantics) -> Semantics | None:
        """Return how a run with these options reads ACLs once there is a GLOB; None is as before.

        Args:
            read: how they are read without one.
        """
        if self.preset is not None:
            return None
        return replace(KIP_1042, **{"authorizer": read.authorizer, **self.own})

    def confirming(self, own: State) -> State:
        """Return how a warehouse is read: a setting unknown there is known if this confirms it."""
        read = self.over(own)
        is_same = (read.settings, read.semantics) == (own.settings, own.semantics)
        return replace(own, settings=read.settings) if is_same else own

    def _unknown_over(self, unknown: frozenset[str]) -> frozenset[str]:
        users, everyone = self.settings.super_users, self.settings.allow_everyone
        said = {SUPER_USERS: users is not None, ALLOW_EVERYONE: everyone is not None}
        left = {key for key in unknown if not said[key]} | self.settings.unresolved
        return frozenset(left | ({SUPER_USERS} if has_placeholder(users or ()) else set()))


def read_alike(
    sides: Sequence[State], given: GivenReading, *, each_own: bool = False
) -> tuple[State, ...]:
    """Return the sides with their settings.

    Args:
        sides: A, and B where there is one.
        given: the values of the options.
        each_own: sides may be read under different settings.

    Raises:
        UsageError: they differ from each other or from the options.
        DataError: only files have a range as a host, and nothing sets how brokers read it.
    """
    if "cidr_hosts" not in given.own and not any(side.read_by for side in sides):
        nobody = ranges_by_broker(())
        require_known_reading(nobody, {acl.host for side in sides for acl in side.acls.values()})
    base = next((side for side in sides if side.read_by), _by_default(sides))
    read = tuple(
        given.confirming(side) if side.read_by else given.over(side.read_like(base))
        for side in sides
    )
    if not each_own:
        _refuse_different(read, given)
    return read


def _by_default(sides: Sequence[State]) -> State:
    """Return how files are read alike: by KIP-1042 where one of them has a GLOB ACL."""
    acls = [acl for side in sides for acl in side.acls.values()]
    semantics = AskedReading().taken(has_glob=any(acl.pattern_type == GLOB for acl in acls))
    whose = authorizer_of(acl.principal for acl in acls)
    return State(semantics=replace(semantics, authorizer=whose), read_by="the defaults")


def first_glob_note(
    before: tuple[str, Collection[Acl]], after: tuple[str, Collection[Acl]], semantics: Semantics
) -> str | None:
    """Write that one of two sides has GLOB ACLs and the other none; None where that is not so.

    A cluster's first GLOB makes all its ACLs read by KIP-1042 under ``--semantics auto``, but what
    is compared is read alike on both sides.

    Args:
        before: the one, by its name.
        after: the other.
        semantics: how both are read.
    """
    sides = [(name, _first_glob(acls)) for name, acls in (before, after)]
    having = [(name, glob) for name, glob in sides if glob is not None]
    if len(having) != 1:
        return None
    ((name, glob),) = having
    brings = f"warning: {name} brings the first GLOB ACL: {acl_words(glob)}. "
    if semantics.glob_patterns:
        return (
            f"{brings}Both sides are read by KIP-1042 here. Without a GLOB ACL in its history, a "
            "cluster is read as Kafka does (--semantics auto)."
        )
    return (
        f"{brings}Both sides are read as Kafka does here, so that GLOB is a prefix. After it, a "
        "run with --semantics auto reads all ACLs by KIP-1042."
    )


def _first_glob(acls: Iterable[Acl]) -> Acl | None:
    globs = (acl for acl in acls if acl.pattern_type == GLOB)
    return min(globs, key=lambda acl: acl.acl_id, default=None)


def first_glob_notes(read: Sequence[State]) -> list[str]:
    """Return the warning that one of two sides brings the first GLOB ACL, where it does."""
    if len(read) != len("AB"):
        return []
    one, other = ((name, each.acls.values()) for name, each in zip("AB", read, strict=True))
    note = first_glob_note(one, other, read[0].semantics)
    return [note] if note else []


def notes_of(read: Sequence[State]) -> list[str]:
    """Return what a reader of a proof must know about its sides."""
    notes = [note for side in read for note in side.notes]
    notes += (
        f"{side.place}: these records are replayed from an empty cluster. To see what they change "
        "in a warehouse, use aclkit preview apply."
        for side in read
        if side.form == RECORDS and any(other.form == WAREHOUSE for other in read)
    )
    return [*notes, *first_glob_notes(read), *caveats(read)]


def caveats(read: Sequence[State]) -> list[str]:
    """Return what a proof lacks where the brokers' settings of one side are unknown."""
    unknown = frozenset[str]().union(*(each.settings.unknown for each in read))
    return [*caveats_on_list(BrokerSettings(unknown=unknown))]


def _refuse_different(read: Sequence[State], given: GivenReading) -> None:
    found = [
        f"{what}: A has {one!r}, B has {other!r}"
        for what, one, other in _differences(read[0], read[-1])
    ] or [
        f"{what}: {name} has {one!r}, but {other!r} was passed"
        for name, each in zip("AB", read, strict=False)
        for what, one, other in _differences(each, given.over(each))
    ]
    if found:
        way_out = " To read each side with its own: --compare-settings" if len(read) > 1 else ""
        raise UsageError(f"The settings differ: {', '.join(found)}.{way_out}")


def _differences(one: State, other: State) -> Iterable[tuple[str, str, str]]:
    ours, theirs = dict(said(one)), dict(said(other))
    for what in ours | theirs:
        then, now = (each.get(what, "false") for each in (ours, theirs))
        if then != now:
            yield what, then, now
