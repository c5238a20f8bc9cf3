"""A state → which it is and how it is read, in words and as plain values. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from aclkit.model.acl import Request
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.phrases import number_of
from aclkit.model.semantics import PRESETS
from aclkit.questions.state import FILES, LISTING, RECORDS, State
from aclkit.rules.names.question import Budget


def said(state: State) -> Iterator[tuple[str, str]]:
    """Yield each setting of a state and the value that decides."""
    yield SUPER_USERS, ";".join(sorted(state.settings.super_users)) or "none"
    yield ALLOW_EVERYONE, _text(state.settings.allow_everyone)
    yield from ((name, _text(value)) for name, value in state.semantics.said().items())


def settings_shown(state: State) -> Iterator[tuple[str, str]]:
    """Yield each setting and its value for people; an unknown setting is marked as such."""
    for name, value in said(state):
        is_unknown = name in state.settings.unknown
        yield name, f"unknown, taken as {value}" if is_unknown else value


def side_facts(sides: Sequence[State]) -> Iterator[tuple[str, str]]:
    """Yield what the sides are, and how they are read."""
    for name, side in zip("AB", sides, strict=False):
        yield name, side_words(side)
    same = len({tuple(settings_shown(side)) for side in sides}) == 1
    for name, side in zip("AB", sides[:1] if same else sides, strict=False):
        yield "settings" if same else f"settings of {name}", settings_words(side)


def side_words(side: State) -> str:
    """Write what a side is."""
    acls = number_of(len(side.acls), "ACL")
    if side.form == LISTING:
        return f"{side.place} (listing, {acls})"
    if side.form == RECORDS:
        return f"{side.place} (records, replayed from an empty cluster, {acls})"
    if side.form == FILES:
        return f"{side.place} (files, {acls})"
    offset = "" if side.offset is None else f" at offset {side.offset}"
    return f"{side.place} (warehouse, cluster {side.cluster_id}{offset}, {acls})"


def settings_words(side: State) -> str:
    """Write under which settings a side is read."""
    users, everyone, *said = settings_shown(side)
    plain = replace(side.semantics, cidr_hosts=False)
    preset = next((name for name, known in PRESETS.items() if known == plain), None)
    ranges = [each for each in said if each[0] == "cidr_hosts"]
    shown = [users, everyone, *([("semantics", preset), *ranges] if preset else said)]
    return f"{'; '.join(map(' '.join, shown))} (from {side.read_by})"


def about_sides(cost: Budget, sides: Sequence[State], notes: Sequence[str]) -> dict[str, Any]:
    """Return what an object of JSON says of a proof: its cost, its sides, how they are read."""
    named = list(zip("ab", sides, strict=False))
    return {
        "cost": {"questions": cost.questions, "states": cost.states},
        "settings": {name: _settings_object(side) for name, side in named},
        **{name: _side_object(side) for name, side in named},
        "notes": list(notes),
    }


def _side_object(side: State) -> dict[str, object]:
    return {
        "path": side.place,
        "form": side.form,
        "cluster": side.cluster_id or None,
        "offset": side.offset,
        "acls": len(side.acls),
    }


def _settings_object(side: State) -> dict[str, object]:
    return {
        "super_users": sorted(side.settings.super_users),
        "allow_everyone": side.settings.allow_everyone,
        "unknown": sorted(side.settings.unknown),
        **side.semantics.said(),
        "source": side.read_by,
    }


def request_words(asked: Request) -> str:
    """Write a request."""
    return f"{asked.operation} on {asked.resource} by {asked.principal} from {asked.host}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
