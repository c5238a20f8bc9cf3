"""The settings under which ACLs are read, the presets of ``--semantics``, and words for both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.model.symbol import PRINCIPALS, is_symbol
from aclkit.model.values import dataclass

MOST_SPECIFIC: Final = "most-specific"
OWN, REDPANDA = "kafka", "redpanda"
"""Whose authorizer decides: Kafka's own, or Redpanda's."""
BROKER: Final = "broker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Semantics:
    """How an ACL's text is read and which matching ACL is named as the deciding one.

    Attributes:
        glob_patterns: pattern code 5 is a glob; otherwise a prefix, as today's brokers take it.
        identity_globs: an ACL's principal type, principal name and host are globs where they
            hold ``*`` or ``?``, and an empty part is ``*``; otherwise they are compared as text.
        deciding_acl: ``most-specific`` (KIP-1042) or ``broker`` (what Kafka's audit log names).
        wildcard_defect: LITERAL ``*`` misses longer names that begin with ``*``, as in Kafka
            (seen up to 4.3.1; the source of 4.4.0 is the same).
        cidr_hosts: an ACL's host such as ``10.0.0.0/8`` is a range of addresses, as in Kafka from
            4.4 on (KIP-1276); otherwise it is compared as text.
        authorizer: whose it is that decides, ``OWN`` or ``REDPANDA``. With Redpanda's the members
            of roles and groups are unknown, see ``model.redpanda``.
    """

    glob_patterns: bool = True
    identity_globs: bool = True
    deciding_acl: str = MOST_SPECIFIC
    wildcard_defect: bool = False
    cidr_hosts: bool = False
    authorizer: str = OWN

    def said(self) -> dict[str, Any]:
        """Return the settings by name; newer ones only where they are set, for files as of old."""
        said = asdict(self)
        if not self.cidr_hosts:
            del said["cidr_hosts"]
        if self.authorizer == OWN:
            del said["authorizer"]
        return said


KIP_1042: Final = Semantics()
KAFKA: Final = Semantics(
    glob_patterns=False, identity_globs=False, deciding_acl=BROKER, wildcard_defect=True
)
PRESETS: Final[dict[str, Semantics]] = {"kip-1042": KIP_1042, "kafka": KAFKA}

AUTO, ON, OFF = "auto", "on", "off"
"""The values of ``--cidr-hosts``; ``auto`` reads ranges as the known brokers do."""


def auto_preset(*, has_glob: bool) -> str:
    """Return the preset of ``--semantics auto``: Kafka's reading, until a cluster has had a GLOB.

    No release of Kafka writes GLOB, so a cluster that has one decides by KIP-1042.
    """
    return "kip-1042" if has_glob else "kafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedReading:
    """How ACLs are to be read, according to the options.

    Attributes:
        preset: one of ``PRESETS``, or ``AUTO``.
        own: settings that were given on their own, by name; they win over the preset.
    """

    preset: str = AUTO
    own: Mapping[str, Any] = field(default_factory=dict)

    def preset_taken(self, *, has_glob: bool) -> str:
        """Return the preset that holds for a cluster that has had a GLOB, or never had one."""
        return auto_preset(has_glob=has_glob) if self.preset == AUTO else self.preset

    def taken(self, *, has_glob: bool) -> Semantics:
        """Return how ACLs are read there."""
        return replace(PRESETS[self.preset_taken(has_glob=has_glob)], **self.own)


def other_reading(semantics: Semantics) -> Semantics:
    """Return the preset's reading that these settings are furthest from.

    Which ACL is named, whether ranges decide, and whose authorizer it is, stays.
    """
    preset = KAFKA if semantics.glob_patterns or semantics.identity_globs else KIP_1042
    return replace(
        preset,
        deciding_acl=semantics.deciding_acl,
        cidr_hosts=semantics.cidr_hosts,
        authorizer=semantics.authorizer,
    )


RANGES_SINCE: Final = (4, 4)
"""Whether ranges decide is all that the versions of Kafka differ in."""

_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(\.[0-9]{1,4})?")
_SWITCHES: Final = {
    name.replace("_", "-"): name
    for name in ("glob_patterns", "identity_globs", "wildcard_defect", "cidr_hosts")
}


def read_as(text: str, base: Semantics) -> Semantics:
    """Return how ACLs are read where a person names the differences from a base.

    Args:
        text: words separated by commas: a version of Kafka, which sets whether ranges decide;
            a preset, which sets everything else; or a single setting.
        base: the values of all other settings.

    Raises:
        UsageError: a word is none of these.

    >>> read_as("kafka,4.4", KIP_1042) == replace(KAFKA, cidr_hosts=True)
    True
    >>> read_as("no-wildcard-defect,cidr-hosts=off", KAFKA) == replace(KAFKA, wildcard_defect=False)
    True
    """
    for word in text.split(","):
        base = _read_word(word.strip(), base)
    return base


def _read_word(word: str, base: Semantics) -> Semantics:
    if word in PRESETS:
        return replace(PRESETS[word], cidr_hosts=base.cidr_hosts, authorizer=base.authorizer)
    if version := _VERSION.fullmatch(word):
        return replace(base, cidr_hosts=(int(version[1]), int(version[2])) >= RANGES_SINCE)
    name, _, value = word.partition("=")
    if name == "deciding-acl" and value in (MOST_SPECIFIC, BROKER):
        return replace(base, deciding_acl=value)
    positive = name.removeprefix("no-")
    if positive in _SWITCHES and (not value or (value in (ON, OFF) and name == positive)):
        is_on = value == ON if value else name == positive
        said: dict[str, Any] = {_SWITCHES[positive]: is_on}
        return replace(base, **said)
    raise UsageError(
        f"Unknown way of reading ACLs {word!r}. Expected a version of Kafka such as 4.3 or "
        f"4.4, {' or '.join(PRESETS)}, deciding-acl={MOST_SPECIFIC}, deciding-acl={BROKER}, or "
        f"a setting: {', '.join(_SWITCHES)}. To switch a setting off, write no-SETTING or "
        "SETTING=off."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """What the brokers' configuration adds to the ACLs; it is in no metadata log.

    Attributes:
        super_users: principals that are always allowed, compared as text. To ask about a
            principal, see ``makes_super``.
        allow_everyone: ``allow.everyone.if.no.acl.found``.
        unknown: which of those two keys have an unknown value on the brokers. The values here
            decide nevertheless, so two settings that differ only in ``unknown`` are equal.
    """

    super_users: frozenset[str] = frozenset()
    allow_everyone: bool = False
    unknown: frozenset[str] = field(default=frozenset(), compare=False)

    def makes_super(self, principal: str) -> bool:
        """Whether a principal that is asked about is a super user.

        A symbol is none: a super user of this very name is one client, and the symbol stands for
        all others.
        """
        return principal in self.super_users and not is_symbol(PRINCIPALS, principal)


_MEANING: Final = {"kip-1042": "globs are wildcards", "kafka": "as current brokers do"}


def preset_words(semantics: Semantics) -> str:
    """Describe which preset decides, and what differs from it; ranges belong to no preset.

    >>> preset_words(Semantics(wildcard_defect=True))
    'ACLs are read with the preset kip-1042 (globs are wildcards), but wildcard_defect is on'
    """
    own = {name: _differing(semantics, preset) for name, preset in PRESETS.items()}
    name = min(own, key=lambda each: len(own[each]))
    but = f", but {' and '.join(own[name])}" if own[name] else ""
    return f"ACLs are read with the preset {name} ({_MEANING[name]}){but}"


def asked_words(asked: AskedReading) -> str:
    """Describe how the user wants ACLs to be read, before the cluster is known.

    >>> asked_words(AskedReading(preset="kafka"))
    'ACLs are read with the preset kafka (as current brokers do)'
    """
    if asked.preset != AUTO:
        return preset_words(asked.taken(has_glob=False))
    return (
        "ACLs are read as Kafka's brokers do, or by KIP-1042 if the cluster has ever had a GLOB ACL"
    )


def semantics_words(semantics: Semantics) -> str:
    """Describe the preset as ``preset_words`` does, and whether ranges decide.

    >>> semantics_words(PRESETS["kafka"]).partition("; ")[2]
    'hosts such as 10.0.0.0/8 are compared as text'
    """
    ranges = "match as address ranges" if semantics.cidr_hosts else "are compared as text"
    whose = "; Redpanda's authorizer decides" if semantics.authorizer == REDPANDA else ""
    return f"{preset_words(semantics)}; hosts such as 10.0.0.0/8 {ranges}{whose}"


def changed_settings(before: Semantics, after: Semantics) -> list[str]:
    """Return in words each setting that two readings differ in.

    >>> changed_settings(Semantics(), Semantics(cidr_hosts=True))
    ['cidr_hosts: off, now on']
    """
    then, now = asdict(before), asdict(after)
    return [
        f"{name}: {_said(then[name])}, now {_said(now[name])}"
        for name in then
        if then[name] != now[name]
    ]


def _said(value: object) -> str:
    return (ON if value else OFF) if isinstance(value, bool) else str(value)


def _differing(semantics: Semantics, preset: Semantics) -> list[str]:
    ours, theirs = asdict(semantics), asdict(preset)
    of_none = ("cidr_hosts", "authorizer")
    names = (name for name in ours if name not in of_none and ours[name] != theirs[name])
    return [f"{name} is {_said(ours[name])}" for name in names]
