"""An access × the brokers of a log → who decides how, where that depends on the broker. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from aclkit.model.acl import ANY_OTHER
from aclkit.model.brokers import DIFFER, Broker, ranges_by_broker
from aclkit.rules.decide.counterfactual import Case
from aclkit.rules.decide.rules import Ruling
from aclkit.rules.patterns.ranges import asked_host


@dataclass(frozen=True, slots=True, kw_only=True)
class ByBroker:
    """How an access from some hosts is decided by brokers that read hosts alike.

    Attributes:
        hosts: from where.
        brokers: their numbers.
        ruling: what they decide.
    """

    hosts: tuple[str, ...]
    brokers: tuple[int, ...]
    ruling: Ruling


def rulings_by_broker(
    case: Case, hosts: Iterable[str], brokers: Iterable[Broker], offset: int
) -> Iterator[tuple[ByBroker, ByBroker]]:
    """Yield decisions of brokers that treat ranges as text and of the others, where they differ.

    Args:
        case: the access, and what decides it.
        hosts: those of the inventory, which count where the access is from any host.
        brokers: the newest ones in the log.
        offset: the state asked about; where it had other brokers, nothing is known.
    """
    known = list(brokers)
    ranges = ranges_by_broker(known)
    if ranges.state != DIFFER or any(broker.since_offset >= offset for broker in known):
        return
    ways = [replace(case, semantics=replace(case.semantics, cidr_hosts=on)) for on in (False, True)]
    found: dict[tuple[Ruling, Ruling], list[str]] = {}
    for host in _asked(ways[1], hosts):
        then, now = (replace(w, request=replace(w.request, host=host)).decide() for w in ways)
        if then.decision != now.decision:
            found.setdefault((then, now), []).append(host)
    for (then, now), names in found.items():
        alike = tuple(names)
        yield (
            ByBroker(hosts=alike, brokers=ranges.without, ruling=then),
            ByBroker(hosts=alike, brokers=ranges.with_ranges, ruling=now),
        )


def _asked(case: Case, hosts: Iterable[str]) -> list[str]:
    """Return the host of an access; of one from any host those of the inventory and of ACLs."""
    if case.request.host != ANY_OTHER:
        return [case.request.host]
    named = (asked_host(acl.host, case.semantics) for acl in case.reaching)
    return sorted({*hosts, *(host for host in named if host is not None)} - {ANY_OTHER})
