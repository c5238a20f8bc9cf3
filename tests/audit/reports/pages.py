"""Pages that several tests open."""

from __future__ import annotations

from dataclasses import replace

from aclkit.model.operation import OPERATIONS_OF_TYPE
from tests.audit.reports.made import CHANGE, HEAT, estate, explorer, finding, principal, report


def small_report():
    """Four findings, and 20 principals × 10 topics."""
    found = (
        finding(1), finding(2, subject="topic:needle"), finding(3, severity="low", kind="b"),
        finding(4, severity="low", kind="b", message="Another."),
    )  # fmt: skip
    return report(*found, explorer=explorer(20, 10))


def company():
    """59 services of 30 teams, each with one topic; one of them is DENIED what everyone has."""
    people = estate(60, 30)
    topic = OPERATIONS_OF_TYPE["TOPIC"]
    nothing = tuple((operation, -1, False, 0, -1) for operation in topic)
    mine = len(people.rulesets)
    return replace(
        people,
        rulesets=(*people.rulesets, ()),
        rulings=(*people.rulings, nothing),
        pairs=(
            *(pair for pair in people.pairs if pair[0] != 59),
            *((59, r, mine) for r in range(30)),
        ),
    )


def full():
    """A page with as much as it ever shows before anything is opened."""
    found = [
        finding(number, kind=f"kind-{number % 9}", severity=severity, message="A long one. " * 40)
        for severity in ("high", "low")
        for number in range(300)
    ]
    wide = replace(
        HEAT,
        prefixes=tuple((f"prefix-{n}.", 3) for n in range(30)),
        principals=tuple(f"User:{n:04}" for n in range(50)),
        allowed=dict.fromkeys(HEAT.allowed, ((1,) * 30,) * 50),
        possible=dict.fromkeys(HEAT.possible, (2,) * 30),
        more_principals=3,
        more_prefixes=4,
    )
    made = report(*found, changes=(CHANGE,) * 300, access_changes=900, explorer=explorer(60, 40))
    people = tuple(principal(name) for name in wide.principals * 6)
    return replace(made, heat=wide, principals=people)
