"""A review ↔ its object of JSON: what it is pinned to, its items, and what is known of each. Pure.

``digest`` is over items and their ACLs alone, so that a warehouse can reproduce it. ``seal`` is
over the whole review, and begins the chain of decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from aclkit.audit.review.decisions import hash_of
from aclkit.audit.review.items import ID_MARK, AlsoBy, Item, key_of
from aclkit.model.acl import BINDING, Acl
from aclkit.model.semantics import BrokerSettings, Semantics

_VERSION: Final = 1
NO_OWNER: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What a review is about, for ever.

    Attributes:
        cluster_id: the cluster.
        log_offset: the state is as of it (exclusive).
        run_id: the run whose decisions were published.
        run_number: its number.
        as_of: when its sources were read, ISO 8601; None where it is not known.
        settings: of the brokers.
        semantics: how ACLs were read.
    """

    cluster_id: str
    log_offset: int
    run_id: str
    run_number: int
    as_of: str | None
    settings: BrokerSettings
    semantics: Semantics


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOff:
    """A decision of an earlier review on the same item."""

    review: str
    decision: str
    reason: str
    by: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of an item beyond the decision: from owners' files, the snapshot, the past.

    Attributes:
        owner: who decides on it; empty where no file names an owner.
        purpose: the business need.
        account: the class of the account: person, third-party, application, system.
        contact: of the owner.
        logins: of the users who can decide in the browser; without any, all who come in can.
        today: how many known names the pattern matches.
        names: the first of these.
        usage: when the authorizer log last shows its use, as far as ``aclkit usage`` knows.
        until: until when it is needed, as far as runs were told.
        carried: it was signed off with ``keep`` before, and allows no more since.
        again: it was to be removed by an earlier review, and is still there.
        outgrown: it was signed off with ``keep`` before, and is asked again.
        why: why it is asked again; empty where it is not ``outgrown``.
    """

    owner: str = NO_OWNER
    purpose: str = ""
    account: str = ""
    contact: str = ""
    today: int = 0
    names: tuple[str, ...] = ()
    usage: str = ""
    until: str = ""
    carried: SignedOff | None = None
    again: SignedOff | None = None
    outgrown: SignedOff | None = None
    why: str = ""
    logins: tuple[str, ...] = ()

    def may_decide(self, login: str) -> bool:
        """Whether a user of the browser can decide the item."""
        return not self.logins or login in self.logins


@dataclass(frozen=True, kw_only=True)
class Review:
    """A review as it was started; only decisions are added later.

    Attributes:
        name: of its folder.
        started_at: ISO 8601 in UTC.
        started_by: who started it.
        pins: what it is about.
        items: the accesses, sorted.
        about: what is known of each, by id.
        template: a standard whose fields it has; empty if none.
        frequency_days: how often application and system accounts are reviewed, where it is said.
        risk_analysis: the document that this frequency comes from.
        since: name and hash of the evidence of the review that it goes on from; empty if none.
        notes: what is uncertain.
    """

    name: str
    started_at: str
    started_by: str
    pins: Pins
    items: tuple[Item, ...]
    about: Mapping[str, About]
    template: str = ""
    frequency_days: int | None = None
    risk_analysis: str = ""
    since: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    by_id: Mapping[str, Item] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Index the items."""
        object.__setattr__(self, "by_id", {item.item_id: item for item in self.items})

    def find(self, item_id: str) -> Item | None:
        """Return the item of an id, also if it is written as another version writes it."""
        key = key_of(item_id)
        return self.by_id.get(key) or self.by_id.get(f"{ID_MARK}{key}")

    @property
    def mark(self) -> str:
        """What its ids begin with."""
        return self.items[0].mark if self.items else ID_MARK

    @property
    def asked(self) -> tuple[Item, ...]:
        """The items that wait for a decision: those that were not carried over."""
        return tuple(item for item in self.items if self.about[item.item_id].carried is None)

    @cached_property
    def content(self) -> dict[str, Any]:
        """The items and their ACLs, as objects of JSON: what a warehouse reproduces."""
        return content_of(self.items)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 over ``content``."""
        return hash_of(self.content)

    @cached_property
    def said(self) -> dict[str, Any]:
        """The review as an object of JSON."""
        pins = asdict(self.pins)
        settings, semantics = self.pins.settings, self.pins.semantics
        pins["settings"] = {
            "super_users": sorted(settings.super_users),
            "allow_everyone": settings.allow_everyone,
            "unknown": sorted(settings.unknown),
        }
        pins["semantics"] = semantics.said()
        return {
            "aclkit_review": _VERSION, "name": self.name, "started_at": self.started_at,
            "started_by": self.started_by, "pins": pins, "template": self.template,
            "frequency_days": self.frequency_days, "risk_analysis": self.risk_analysis,
            "since": list(self.since), "notes": list(self.notes), "digest": self.digest,
            "about": {item_id: _said(asdict(about)) for item_id, about in self.about.items()},
            **self.content,
        }  # fmt: skip

    @cached_property
    def seal(self) -> str:
        """The SHA-256 over all of it: the chain of decisions begins with it."""
        return hash_of(self.said)

    def with_about(self, about: Mapping[str, About]) -> Review:
        """Return it with other knowledge of the items."""
        return replace(self, about=about)


def content_of(items: Iterable[Item]) -> dict[str, Any]:
    """Return items and the ACLs behind them, each ACL once."""
    acls: dict[str, Acl] = {}
    told: list[dict[str, Any]] = []
    for item in items:
        acls |= {acl.acl_id: acl for acl in (*item.acls, *item.limited_by)}
        told.append({
            "id": item.item_id, "kind": item.kind, "principal": item.principal, "host": item.host,
            "operations": list(item.operations), "resource_type": item.resource_type,
            "pattern_type": item.pattern_type, "resource_name": item.resource_name,
            "acls": [acl.acl_id for acl in item.acls],
            "limited_by": [acl.acl_id for acl in item.limited_by],
            "uncertain": list(item.uncertain),
            "also": [[each.item, list(each.operations)] for each in item.also],
        })  # fmt: skip
    bindings = {name: list(acl.binding) for name, acl in sorted(acls.items())}
    return {"items": told, "acls": bindings}


def read_review(said: Mapping[str, Any]) -> Review:
    """Read a review from its object of JSON.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is none, or of another version.
    """
    if said["aclkit_review"] != _VERSION:
        raise ValueError(f"version {said['aclkit_review']!r}, expected {_VERSION}")
    acls = {
        name: Acl(acl_id=name, **dict(zip(BINDING, binding, strict=True)))
        for name, binding in said["acls"].items()
    }
    found = Review(
        name=said["name"],
        started_at=said["started_at"],
        started_by=said["started_by"],
        pins=_read_pins(said["pins"]),
        items=tuple(_read_item(each, acls) for each in said["items"]),
        about={name: _read_about(each) for name, each in said["about"].items()},
        template=said["template"],
        frequency_days=said["frequency_days"],
        risk_analysis=said["risk_analysis"],
        since=tuple(said["since"]),
        notes=tuple(said["notes"]),
    )
    if found.said != said:
        raise ValueError("fields were changed, left out or added")
    return found


def _read_pins(said: Mapping[str, Any]) -> Pins:
    settings = said["settings"]
    broker = BrokerSettings(
        super_users=frozenset(settings["super_users"]),
        allow_everyone=settings["allow_everyone"],
        unknown=frozenset(settings["unknown"]),
    )
    semantics = Semantics(**said["semantics"])
    rest = {name: value for name, value in said.items() if name not in ("settings", "semantics")}
    return Pins(settings=broker, semantics=semantics, **rest)


def _read_item(said: Mapping[str, Any], acls: Mapping[str, Acl]) -> Item:
    same = ("kind", "principal", "host", "resource_type", "pattern_type", "resource_name")
    return Item(
        mark=said["id"][: -len(key_of(said["id"]))],
        **{name: said[name] for name in same},
        operations=tuple(said["operations"]),
        acls=_picked(said["acls"], acls),
        limited_by=_picked(said["limited_by"], acls),
        uncertain=tuple(said["uncertain"]),
        also=tuple(AlsoBy(item, tuple(operations)) for item, operations in said["also"]),
    )


def _picked(ids: Sequence[str], acls: Mapping[str, Acl]) -> tuple[Acl, ...]:
    return tuple(acls[name] for name in ids)


def _read_about(said: Mapping[str, Any]) -> About:
    signs = {name: SignedOff(**said[name]) if said.get(name) else None for name in _SIGNS}
    texts = {name: tuple(said.get(name, ())) for name in _TEXTS}
    return About(**{**said, **texts, **signs})


_SIGNS: Final = ("carried", "again", "outgrown")
_TEXTS: Final = ("names", "logins")
_LATER: Final = ("outgrown", "why", "logins")
"""Fields that reviews of older versions do not have: left out where they are empty."""


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in fields.items() if value or name not in _LATER}
    return {**told, **{name: list(told[name]) for name in _TEXTS if name in told}}
