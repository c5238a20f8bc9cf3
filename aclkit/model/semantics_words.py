"""Semantics → in words which preset decides, and what is set otherwise on its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from aclkit.model.semantics import (
    AUTO,
    OFF,
    ON,
    PRESETS,
    REDPANDA,
    AskedReading,
    Semantics,
)

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
