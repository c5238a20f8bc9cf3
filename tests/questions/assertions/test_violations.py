"""What violates an assertion is what the rule decides, one decision after the other."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.assertions.match import operations_on
from aclkit.questions.assertions.model import Assertion, What, Who
from aclkit.questions.assertions.violations import Hit, Indexed, Names, find_violations
from aclkit.questions.state import Inventory
from aclkit.rules.decide.rules import decide
from aclkit.rules.names.rows import Rules
from tests import strategies as world
from tests.questions.assertions.test_check import ACLS

PRINCIPALS = ["User:alice", "User:bob", "User:zed", "User:admin", ANY_OTHER_PRINCIPAL]
RESOURCES = [
    Resource("TOPIC", name) for name in ("orders", "pay", "payments", "p*s", "*", ANY_OTHER)
] + [Resource("GROUP", "pay")]
HOSTS = ["10.0.0.1", "10.0.0.2", "10.0.9.9", ANY_OTHER]


def some(of):
    return st.lists(st.sampled_from(of), unique=True)


NAMES = st.builds(Names, some(PRINCIPALS), some(RESOURCES), some(HOSTS))


def naive_hits(state, assertion, what, names):
    """Decide each request by the rule; return the hits, each once."""
    rules, found = state.rules, {}
    for principal, resource, host in product(*names):
        for operation in operations_on(what, resource.resource_type):
            request = Request.of(principal, host, operation, resource)
            ruling = decide(rules.acls, request, rules.settings, rules.semantics)
            if ruling.decision != assertion.bad_decision:
                continue
            is_known = (
                principal in state.principals
                and resource in state.resources
                and host in state.hosts
            )
            key = principal, *resource, operation
            found[key] = found.get(key, False) or is_known
    return [
        Hit(not known, ANY_OTHER in (key[2], key[0].partition(":")[2]), *key)
        for key, known in found.items()
    ]


def naive(assertion, duties):
    """Return how many violations there are, and the hits of one, as the documentation says."""
    if assertion.kind == "separate":
        least = [{h.principal: min(x for x in hits if x.principal == h.principal) for h in hits}
                 for hits in duties]  # fmt: skip
        holders = {}
        for (a, one), (b, other) in combinations(enumerate(least), 2):
            for who in one.keys() & other.keys():
                holders.setdefault(who, ((a, one[who]), (b, other[who])))
        shown = min(holders.values(), key=lambda hits: [h for _, h in hits], default=())
        return len(holders), shown
    (hits,) = duties
    if assertion.kind != "at_most":
        return len(hits), ((0, min(hits)),) if hits else ()
    worst = []
    for resource in {(hit.resource_type, hit.resource_name) for hit in hits}:
        here = [hit for hit in hits if (hit.resource_type, hit.resource_name) == resource]
        people = {hit.principal for hit in here}
        is_endless = ANY_OTHER_PRINCIPAL in people
        if is_endless or len(people) > assertion.limit:
            worst.append((not is_endless, -len(people), min(here)))
    return len(worst), ((0, min(worst)[2]),) if worst else ()


@settings(max_examples=80)
@given(
    acls=ACLS,
    kind=st.sampled_from(["never", "always", "at_most", "separate"]),
    operations=st.none() | st.just(frozenset({"READ", "CREATE"})),
    names=st.tuples(NAMES, NAMES, NAMES),
    known=NAMES,
    limit=st.integers(0, 2),
    everyone=st.booleans(),
    semantics=world.semantics,
)
def test_violations_and_the_one_shown_are_those_of_single_decisions(
    acls, kind, operations, names, known, limit, everyone, semantics
):
    broker = BrokerSettings(super_users=frozenset({"User:admin"}), allow_everyone=everyone)
    state = Indexed(
        rules=Rules(acls=tuple(acls), settings=broker, semantics=semantics),
        inventory=Inventory(
            principals=known.principals, hosts=known.hosts, resources=known.resources
        ),
    )
    names = names if kind == "separate" else names[:1]
    what = What(operations=operations)
    assertion = Assertion(kind=kind, name="n", who=Who(), duties=(what,) * len(names), limit=limit)
    found = find_violations(state, assertion, names)
    duties = [naive_hits(state, assertion, what, each) for each in names]
    assert (found.count, found.hits) == naive(assertion, duties)
