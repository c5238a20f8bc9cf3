"""A warehouse → a new review of its published state, or the items of an earlier moment again.

Of each item it is said when it was last used, and until when it is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from aclkit.audit.review.attributes import OwnerRow, attributes_of
from aclkit.audit.review.carry import Earlier, IsValid, Moment, carry_over, signed_off
from aclkit.audit.review.document import About, Pins, Review, content_of
from aclkit.audit.review.evidence import Evidence
from aclkit.audit.review.items import DEFAULT, GRANT, Item, derive_items
from aclkit.errors import DataError, UsageError
from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.groups import grouped
from aclkit.model.moment import until_words
from aclkit.model.phrases import number_of
from aclkit.model.semantics import Semantics
from aclkit.questions.query.lifetimes import AclEnd, read_ends
from aclkit.questions.query.pattern_grants import matching_names
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.questions.state import State
from aclkit.questions.usage.read_use import USE_TABLES, LogOptions, read_use
from aclkit.questions.usage.use import Unknown, Used, UseOfAcls
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import LITERAL, effective_pattern_type
from aclkit.warehouse.duck import open_tables
from aclkit.warehouse.published import deciding_run, open_warehouse, run_settings


def read_item_use(warehouse: str, cluster_id: str, rules: Rules, options: LogOptions) -> UseOfAcls:
    """Read what the authorizer log shows of the use of the ACLs under review."""
    with open_tables(warehouse, {name: {} for name in USE_TABLES}) as (published, tables):
        return read_use(tables, published, deciding_run(published, cluster_id), rules, options)


def use_words(item: Item, use: UseOfAcls) -> str:
    """Write when an item was last used, that it was not, or that this is unknown, and why.

    It is unused only if each of its ALLOWs is. Nothing is written where no log was read.
    """
    found = [use.of(acl) for acl in item.acls if acl.is_allow]
    if not found or use.log.window_from is None:
        return ""
    dated = [(each.last, each.broker) for each in found if isinstance(each, Used) and each.last]
    if dated:
        last, broker = max(dated)
        return f"last used on {last:%Y-%m-%d}" + (f", log {broker}" if broker else "")
    if any(isinstance(each, Used) for each in found):
        return "used, at a time that is not known"
    missing = [more for each in found if isinstance(each, Unknown) for more in each.missing]
    if missing:
        last_known = _newest(each.last for each in found)
        before = "" if last_known is None else f" Last known use: {last_known:%Y-%m-%d}."
        return f"use unknown: {missing[0].words}{before}"
    log = use.log
    return f"not used from {log.window_from:%Y-%m-%d} to {log.window_to:%Y-%m-%d} ({log.words})"


def note_on_use(use: UseOfAcls) -> str:
    """Write what the use that items show stands on; or that it is unknown."""
    log = use.log
    if not log.missing:
        return f"Use is judged by the authorizer log: {log.words}."
    each = log.missing[0]
    return f"It is unknown what is not used. {each.words} Next: {each.next}"


def read_item_ends(warehouse: str, cluster_id: str) -> dict[str, AclEnd]:
    """Read until when ACLs are needed, by id; nothing where no run was told."""
    with open_tables(warehouse, {"acl_lease": {}}) as (_, tables):
        return read_ends(tables, cluster_id)


def end_words(item: Item, ends: Mapping[str, AclEnd]) -> str:
    """Write until when an item is needed; empty where one of its ACLs has no end."""
    known = [ends[acl.acl_id].until for acl in item.acls if acl.acl_id in ends]
    if not known or len(known) < len(item.acls):
        return ""
    return f"needed until {until_words(max(known))}"


def _newest(times: Iterable[datetime | None]) -> datetime | None:
    return max(filter(None, times), default=None)


MOST_NAMES: Final = 3
_NO_ENDS: Final[Mapping[str, AclEnd]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReview:
    """What a new review is to be.

    Attributes:
        name: of its folder.
        at: now, ISO 8601 in UTC.
        by: who starts it.
        owners: rows of the owners' file.
        template: see ``Review``, and so on.
        earlier: the review that it goes on from.
        earlier_acls: all ACLs in force at its offset; None where they are not known.
        is_valid: which of its sign-offs still hold.
    """

    name: str
    at: str
    by: str
    owners: Sequence[OwnerRow] = ()
    template: str = ""
    frequency_days: int | None = None
    risk_analysis: str = ""
    earlier: Evidence | None = None
    earlier_acls: tuple[Acl, ...] | None = None
    is_valid: IsValid = field(default=lambda *_: True)


def new_review(
    base: State,
    asked: NewReview,
    budget: Budget,
    use: UseOfAcls | None = None,
    ends: Mapping[str, AclEnd] = _NO_ENDS,
) -> Review:
    """Return a review of the published state.

    Args:
        base: the published state.
        asked: what the review is to be.
        budget: the search limit.
        use: what the authorizer log shows of the use of ACLs; None is nothing.
        ends: until when ACLs are needed, by id.

    Raises:
        DataError: the offset of the state is not known.
    """
    offset, time = base.offset, base.time
    if offset is None:
        raise DataError("The log offset of the published state is unknown. Next: aclkit run")
    derived = derive_items(base.rules, budget)
    about = _with_names(derived.items, attributes_of(derived.items, asked.owners), base)
    about = {
        item.item_id: replace(
            about[item.item_id],
            usage="" if use is None else use_words(item, use),
            until=end_words(item, ends),
        )
        for item in derived.items
    }
    since: tuple[str, ...] = ()
    if asked.earlier is not None:
        now = Moment(semantics=base.semantics, acls=tuple(base.acls.values()))
        earlier = _earlier(asked.earlier, asked.earlier_acls, base)
        about = carry_over(derived.items, about, now, earlier, asked.is_valid, budget)
        since = (asked.earlier.review.name, asked.earlier.hash)
    return Review(
        name=asked.name,
        started_at=asked.at,
        started_by=asked.by,
        pins=Pins(
            cluster_id=base.cluster_id,
            log_offset=offset,
            run_id=base.run_id,
            run_number=base.run_number,
            as_of=None if time is None else time.isoformat(timespec="seconds"),
            settings=base.settings,
            semantics=base.semantics,
        ),
        items=derived.items,
        about=about,
        template=asked.template,
        frequency_days=asked.frequency_days,
        risk_analysis=asked.risk_analysis,
        since=since,
        notes=(
            *_notes(base, derived.items, len(derived.idle)),
            *(() if use is None else (note_on_use(use),)),
        ),
    )


def _earlier(earlier: Evidence, acls: tuple[Acl, ...] | None, base: State) -> Earlier:
    review, pins = earlier.review, earlier.review.pins
    if pins.cluster_id != base.cluster_id:
        raise UsageError(
            f"The review {review.name} is about cluster {pins.cluster_id}, not "
            f"{base.cluster_id}. Pass another --since."
        )
    return Earlier(
        review=review,
        signed=signed_off(review, earlier.in_force),
        then=Moment(semantics=pins.semantics, acls=acls),
    )


def read_acls_of(warehouse: str, review: Review) -> tuple[Acl, ...] | None:
    """Read all ACLs in force at a review's offset; None where the warehouse does not know them.

    A warehouse that does not know those of the review itself has another past.
    """
    try:
        then = _read_then(warehouse, review.pins)
    except UsageError:
        return None
    own = {acl for item in review.items for acl in (*item.acls, *item.limited_by)}
    acls = tuple(then.acls.values())
    return acls if own <= set(acls) else None


def _read_then(warehouse: str, pins: Pins) -> State:
    return read_state(Warehouse(warehouse, pins.cluster_id), pins.log_offset, with_names=False)


def _notes(base: State, items: Sequence[Item], idle: int) -> Iterator[str]:
    yield from base.notes
    unknown = base.settings.unknown
    if SUPER_USERS in unknown:
        yield (
            "Super users are unknown, so this review does not ask about them. Pass --super-users "
            "to the next run."
        )
    if ALLOW_EVERYONE in unknown:
        yield f"{ALLOW_EVERYONE} is unknown. This review takes it for false, Kafka's default."
    if idle:
        words = number_of(idle, "ALLOW grants nothing and is", "ALLOWs grant nothing and are")
        yield f"{words} in no item. Next: aclkit audit, aclkit tidy"
    if number := sum(bool(item.uncertain) for item in items):
        yield (
            f"The search limit left open whether DENYs override {number_of(number, 'item')}. They "
            "are asked about."
        )


def _with_names(items: Sequence[Item], about: Mapping[str, About], base: State) -> dict[str, About]:
    """Say of each item which known names its pattern matches."""
    known = {
        kind: sorted(name for name in names if name != ANY_OTHER)
        for kind, names in grouped(base.inventory.resources).items()
    }
    return {
        item.item_id: _with_matched(about[item.item_id], _matched(item, known, base.semantics))
        for item in items
    }


def _with_matched(about: About, names: Sequence[str]) -> About:
    return replace(about, today=len(names), names=tuple(names[:MOST_NAMES]))


def _matched(item: Item, known: Mapping[str, Sequence[str]], semantics: Semantics) -> Sequence[str]:
    if item.kind != GRANT:
        return () if item.kind == DEFAULT else [name for names in known.values() for name in names]
    names, acl = known.get(item.resource_type, ()), item.acls[0]
    is_literal = effective_pattern_type(acl.pattern_type, semantics) == LITERAL
    if is_literal and acl.resource_name != "*":
        at = bisect_left(names, acl.resource_name)
        return names[at : at + 1] if names[at : at + 1] == [acl.resource_name] else ()
    return list(matching_names(acl, names, semantics))


@dataclass(frozen=True, slots=True)
class Reproduced:
    """How a warehouse's past compares with a review.

    Attributes:
        differences: sentences; none where it is the same.
        notes: what could not be compared.
    """

    differences: tuple[str, ...]
    notes: tuple[str, ...]


def reproduce(warehouse: str, review: Review, budget: Budget) -> Reproduced:
    """Derive a review's items again, from the ACLs in force at its offset.

    Raises:
        DataError: the warehouse does not know that offset of that cluster.
    """
    pins = review.pins
    try:
        then = _read_then(warehouse, pins)
        runs = open_warehouse(warehouse).runs
    except UsageError as error:
        raise DataError(
            f"{warehouse} cannot reproduce offset {pins.log_offset} of cluster {pins.cluster_id}: "
            f"{error}"
        ) from None
    rules = replace(then, settings=pins.settings, semantics=pins.semantics).rules
    again = content_of(derive_items(rules, budget, review.mark).items)
    differences = [*_compare(review.content, again)]
    run = next((each for each in runs if each.run_id == pins.run_id), None)
    notes = list(then.notes)
    if run is None:
        notes.append(
            f"Run {pins.run_number} is no longer in the warehouse, so the settings of the brokers "
            "are those that the evidence has."
        )
        if then.settings != pins.settings:
            notes.append("The warehouse knows other settings of the brokers for that time.")
    else:
        settings, semantics = run_settings(run)
        if (settings, settings.unknown) != (pins.settings, pins.settings.unknown):
            differences.append(f"Run {pins.run_number} had other settings of the brokers.")
        if semantics != pins.semantics:
            differences.append(f"Run {pins.run_number} read ACLs in another way.")
    return Reproduced(tuple(differences), tuple(notes))


def _compare(expected: Mapping[str, object], found: Mapping[str, object]) -> Iterator[str]:
    """Yield the first item, or ACL, that differs."""
    if expected == found:
        return
    then, now = (_by_id(each) for each in (expected, found))
    for name in (*then, *now):
        if then.get(name) != now.get(name):
            what = "is not in" if name not in now else "is only in" if name not in then else ""
            verb = f"{what} the warehouse's past" if what else "differs in the warehouse's past"
            yield f"{name} {verb}."
            return
    yield "The order of items differs in the warehouse's past."


def _by_id(content: Mapping[str, object]) -> dict[str, object]:
    items, acls = content["items"], content["acls"]
    found: dict[str, object] = {}
    if isinstance(items, list) and isinstance(acls, dict):
        found |= {f"Item {item['id']}": item for item in items}
        found |= {f"ACL {name}": binding for name, binding in acls.items()}
    return found
