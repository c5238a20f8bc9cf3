"""Terraform's order of operations on a broker, played through: every order that it can take.

It reads a plan by itself, knows nothing of the package, and is as simple as the rule: a resource
does its operations in the order of its actions, resources do theirs whenever they like, creating
what exists is nothing, and deleting what does not exist is nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FIELDS = (
    ("resource_type",),
    ("resource_pattern_type_filter", "pattern_type"),
    ("resource_name",),
    ("acl_principal", "principal"),
    ("acl_host", "host"),
    ("acl_operation", "operation"),
    ("acl_permission_type", "permission"),
)
"""In the order of the columns of the TSVs."""
NAMES = (2, 3, 4)


@dataclass
class Outcomes:
    """What can be on the broker after a plan, and what was off at any moment of any order."""

    finals: set = field(default_factory=set)
    ever_absent: set = field(default_factory=set)


def word(text):
    """Write a word of the provider as Kafka does: TransactionalID as TRANSACTIONAL_ID."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).upper()


def acl_of(attributes, made_by=None):
    texts = [
        next((attributes[name] for name in names if name in attributes), None) for names in FIELDS
    ]
    if texts[3] is None:
        texts[3] = f"User:<known after apply: {made_by}>"
    return tuple(text if at in NAMES else word(text) for at, text in enumerate(texts))


def sequences(plan, made_by=None):
    """Return what each resource of a plan does, in its order: (operation, ACL)."""
    found = []
    for resource in plan["resource_changes"]:
        change = resource["change"]
        if not resource["type"].endswith("kafka_acl") or "read" in change["actions"]:
            continue
        sides = {"delete": change["before"], "create": change["after"]}
        steps = [
            (action, acl_of(sides[action], (made_by or {}).get(resource["address"])))
            for action in change["actions"]
            if action in sides
        ]
        found.append(tuple(steps))
    return found


def before(plan):
    """Return the ACLs that the resources of a plan hold before it."""
    return frozenset(
        acl_of(resource["change"]["before"])
        for resource in plan["resource_changes"]
        if resource["type"].endswith("kafka_acl") and resource["change"]["before"]
    )


def play(steps_of, initial):
    """Play every order of the operations from the ACLs that exist."""
    outcomes = Outcomes()
    every = frozenset(initial).union(acl for steps in steps_of for _, acl in steps)
    todo, seen = [((0,) * len(steps_of), frozenset(initial))], set()
    while todo:
        moment = todo.pop()
        if moment in seen:
            continue
        seen.add(moment)
        done, present = moment
        outcomes.ever_absent |= every - present
        later = [at for at, steps in enumerate(steps_of) if done[at] < len(steps)]
        if not later:
            outcomes.finals.add(present)
        for at in later:
            operation, acl = steps_of[at][done[at]]
            after = present | {acl} if operation == "create" else present - {acl}
            todo.append(((*done[:at], done[at] + 1, *done[at + 1 :]), after))
    return outcomes


def judge(steps_of, initial):
    """Return the effect on each ACL as the simulator sees it."""
    outcomes = play(steps_of, initial)
    found = {}
    for acl in frozenset().union(initial, *outcomes.finals):
        can_stay = any(acl in final for final in outcomes.finals)
        can_go = any(acl not in final for final in outcomes.finals)
        if can_stay and can_go:
            found[acl] = {"undefined-order"}
        elif can_go:
            found[acl] = {
                "removed",
                "removed-though-kept-by-another",
                "removed-by-its-own-replacement",
            }
        elif acl not in initial:
            found[acl] = {"added"}
        elif acl in outcomes.ever_absent:
            found[acl] = {"gap"}
    return found, outcomes
