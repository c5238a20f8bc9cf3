"""Assertions proven for every name: by example, and against the rule on every short name."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from aclkit.model.acl import Request
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.assertions.proof import Proof, prove
from aclkit.rules.names.question import Budget
from tests.questions.assertions.short_names import (
    World,
    check_example,
    random_assertion,
    shortest_of_brute_force,
)
from tests.rules.names.world import acl, random_texts


def prove_text(text: str, acls: Sequence[str], **settings: object) -> Proof:
    (assertion,) = parse_assertions(text, "a.toml")
    world = World(
        [acl(each, n) for n, each in enumerate(acls)],
        BrokerSettings(**settings),  # type: ignore[arg-type]  # whatever a test says
    )
    return prove(assertion, world.rules, Budget())


READ = '\noperations="READ"\nsuper_users=false\n'


def never(**keys: str) -> str:
    return '[[never]]\nname="n"' + READ + "".join(f'{key}="{keys[key]}"\n' for key in keys)


def only(**keys: str) -> str:
    return never(**keys).replace("never", "only")


def always(**keys: str) -> str:
    return never(**keys).replace("never", "always") + "inventory_only=false\n"


def at_most(limit: int, **keys: str) -> str:
    return never(**keys).replace("never", "at_most") + f"limit={limit}\n"


def shown(acls: Sequence[str], text: str, **settings: object) -> Request:
    proof = prove_text(text, acls, **settings)
    assert proof.request is not None, proof
    return proof.request


def holds(acls: Sequence[str], text: str, **settings: object) -> bool:
    return prove_text(text, acls, **settings).verdict == "pass"


def test_a_resource_to_come_is_one_that_no_exception_leaves_out() -> None:
    text = never(resources="topic:secret.*", except_resources="topic:*.any*")
    assert shown(["ALLOW User:a READ PREFIXED secret."], text).resource_name == "secret."


def test_the_empty_rest_of_a_prefix_is_a_name_to_come_too() -> None:
    text = never(resources="topic:secret*", except_resources="topic:secret?*")
    assert shown(["ALLOW User:a READ PREFIXED secret"], text).resource_name == "secret"


def test_names_that_three_patterns_leave_over_are_found() -> None:
    acls = ["ALLOW User:a READ GLOB *pii*", "DENY User:a READ GLOB *eu*"]
    assert shown(acls, never(resources="topic:*", except_resources="topic:pii")).resource_name in {
        "zpii", "piiz",
    }  # fmt: skip
    assert holds(acls, never(resources="topic:*eu*"))


def test_a_principal_to_come_is_one_that_only_does_not_name() -> None:
    principal = shown(["ALLOW User:*-etl READ LITERAL p"], only(principals="User:a*")).principal
    assert principal.endswith("-etl")
    assert not principal.startswith("User:a")


def test_a_principal_that_two_globs_share_is_found() -> None:
    text = never(principals="User:svc-*", except_principals="User:svc-a*")
    assert shown(["ALLOW User:*-etl READ LITERAL p"], text).principal == "User:svc-etl"


@pytest.mark.parametrize("left_out", ["User:eve", "User:e*"])
def test_who_is_taken_from_those_that_only_names_is_forbidden(left_out: str) -> None:
    text = only(principals="User:*", except_principals=left_out)
    found = {shown(["ALLOW User:* READ LITERAL p"], text + f'resources="topic:{n}"').principal
             for n in "p"}  # fmt: skip
    assert all(not name.startswith("User:") or name.startswith("User:e") for name in found)


@pytest.mark.parametrize("text", [only(principals="User:*"), never(except_principals="User:*")])
def test_principals_of_other_types_are_meant(text: str) -> None:
    found = shown(["ALLOW User:* READ LITERAL p"], text)
    assert not found.principal.startswith("User:")


@pytest.mark.parametrize(
    ("host", "asked"),
    [("10.*", "*.7.1"), ("8193:d*", "*:7"), ("8193:d*", "8193:*"), ("2?.*", "*")],
)
def test_a_host_that_a_pattern_shares_with_that_of_an_acl_breaks_never(
    host: str, asked: str
) -> None:
    assert shown([f"ALLOW User:a READ LITERAL p {host}"], never(hosts=asked)).resource_name == "p"


def test_a_host_that_is_no_address_is_nobodys() -> None:
    assert holds(["ALLOW User:a READ LITERAL p ::1"], never())
    assert holds(["ALLOW User:a READ LITERAL p"], never(hosts="x*"))


def test_everybody_is_denied_what_no_acl_allows() -> None:
    assert shown(["ALLOW User:a READ PREFIXED p"], always(resources="topic:p*"))
    assert holds(["ALLOW User:* READ PREFIXED p"], always(resources="topic:p*"))
    denied = ["ALLOW User:* READ PREFIXED p", "DENY User:eve READ GLOB p*q"]
    found = shown(denied, always(resources="topic:p*"))
    assert (found.principal, found.resource_name) == ("User:eve", "pq")


def test_where_the_default_allows_only_what_an_acl_reaches_is_denied() -> None:
    acls = ["ALLOW User:a READ GLOB ?x"]
    assert shown(acls, always(principals="User:b"), allow_everyone=True).resource_name == "zx"
    assert shown(acls, never(resources="topic:*"), allow_everyone=True).resource_name == "z"
    assert holds(acls, always(principals="User:a"), allow_everyone=True)


def test_a_super_user_speaks_against_never_but_not_against_always() -> None:
    root = {"super_users": frozenset({"User:root"})}
    meant = never(principals="User:root").replace("super_users=false", "super_users=true")
    assert shown([], meant, **root).principal == "User:root"
    assert holds([], never(principals="User:root"), **root)
    everybody = always(principals="User:root").replace("super_users=false", "super_users=true")
    assert holds(["DENY User:root READ LITERAL p"], everybody, **root)


def test_three_globs_that_meet_in_one_name_are_too_many_for_two() -> None:
    acls = [f"ALLOW User:{name} WRITE GLOB *{name}1*" for name in "xyz"]
    text = at_most(2, resources="topic:*").replace("READ", "WRITE")
    proof = prove_text(text, acls)
    assert proof.request is not None
    assert proof.request.resource_name == "x1y1z1"
    assert [member.principal for member in proof.members] == ["User:x", "User:y", "User:z"]
    assert proof.detail == "3 principals, expected at most 2"
    assert holds(acls, text.replace("limit=2", "limit=3"))
    assert holds([*acls, "DENY User:x ALL GLOB *z*"], text)


def test_a_principal_counts_once_from_however_many_hosts() -> None:
    acls = [
        "ALLOW User:x READ PREFIXED a 10.0.0.1",
        "ALLOW User:x READ PREFIXED a 10.0.0.2",
        "DENY User:x READ GLOB a*c 10.0.0.1",
        "ALLOW User:y READ GLOB a*b 10.0.0.3",
    ]
    assert holds(acls, at_most(2))
    assert shown(acls, at_most(1)).resource_name == "ab"


def test_a_glob_of_principals_is_any_number_of_them() -> None:
    proof = prove_text(at_most(1000), ["ALLOW User:svc-* READ LITERAL p"])
    assert proof.detail == "any number of principals, expected at most 1,000"


def test_what_globs_leave_over_of_principals_may_be_one() -> None:
    acls = ["ALLOW User:* READ LITERAL p", "DENY User:?* READ LITERAL p"]
    text = at_most(1, principals="User:*")
    assert holds(acls, text)
    assert shown(acls, text.replace("limit=1", "limit=0")).principal == "User:"


def test_separate_shows_a_name_of_each_duty() -> None:
    text = (
        '[[separate]]\nname="n"\nduties=[{operations="WRITE", resources="topic:pay*"}, '
        '{operations="READ", resources="group:*"}]\n'
    )
    acls = [acl("ALLOW User:svc-* WRITE GLOB *roll", 1),
            acl("ALLOW User:*-x READ PREFIXED g", 2, "GROUP")]  # fmt: skip
    (assertion,) = parse_assertions(text, "a.toml")
    proof = prove(assertion, World(acls, BrokerSettings()).rules, Budget())
    assert [(m.principal, m.resource_name) for m in proof.members] == [
        ("User:svc-x", "payroll"), ("User:svc-x", "g"),
    ]  # fmt: skip
    assert prove(assertion, World(acls[:1], BrokerSettings()).rules, Budget()).verdict == "pass"


def test_names_to_come_have_no_attributes() -> None:
    acls = ["ALLOW User:* READ LITERAL p"]
    of_team = '\nprincipal_attributes={team="a"}\n'
    assert holds(acls, never() + of_team)
    assert holds(acls, never() + of_team.replace("principal", "resource"))
    assert shown(acls, only() + of_team).resource_name == "p"


def test_what_is_about_the_inventory_only_is_not_proven() -> None:
    proof = prove_text(never() + "inventory_only=true\n", [])
    assert (proof.verdict, proof.request) == ("unknown", None)
    assert "known names only" in (proof.detail or "")


def test_hostile_texts_of_acls_are_no_names() -> None:
    acls = ["ALLOW User:<any-other> READ PREFIXED a", "ALLOW User:b READ LITERAL <any-other>",
            "ALLOW nocolon READ PREFIXED a"]  # fmt: skip
    assert holds(acls, never())
    of_groups = [acl("ALLOW User:b READ LITERAL <any-other>", 1, "GROUP")]
    (assertion,) = parse_assertions(never(), "a.toml")
    assert prove(assertion, World(of_groups, BrokerSettings()).rules, Budget()).verdict == "pass"


HARD = ["ALLOW User:x READ GLOB *a????????", "DENY User:x READ GLOB *b*a????????"]


def test_what_is_beyond_the_budget_is_unknown_with_the_patterns_that_make_it_hard() -> None:
    (assertion,) = parse_assertions(never(resources="topic:*b*"), "a.toml")
    state = World([acl(text, n) for n, text in enumerate(HARD)], BrokerSettings()).rules
    proof = prove(assertion, state, Budget(per_question=150))
    assert (proof.verdict, proof.request) == ("unknown", None)
    assert proof.detail == "one question took 150 states; to raise the search limit: --budget"
    assert len(proof.hard) >= 2
    proof = prove(assertion, state, Budget(total=150))
    assert proof.detail == (
        "all questions together took 150 states; to raise the search limit: --budget-total"
    )
    assert prove(assertion, state, Budget()).verdict == "fail"


def test_a_hostile_at_most_ends_in_bounded_states() -> None:
    acls = [f"ALLOW User:p{n} READ GLOB *{chr(97 + n % 26)}*{chr(97 + n // 26)}*{n}*"
            for n in range(60)]  # fmt: skip
    (assertion,) = parse_assertions(at_most(50), "a.toml")
    state = World([acl(text, n) for n, text in enumerate(acls)], BrokerSettings()).rules
    budget = Budget(per_question=2_000)
    assert prove(assertion, state, budget).verdict == "unknown"
    assert budget.states <= 2_000 * 3


@pytest.mark.parametrize("seed", range(500))
def test_no_short_name_is_missed_and_no_example_invented(seed: int) -> None:
    chance = random.Random(seed)
    texts = random_texts(chance, 1, 6)
    acls = [acl(t, n, chance.choice(["TOPIC", "TOPIC", "GROUP"])) for n, t in enumerate(texts)]
    settings = BrokerSettings(
        super_users=frozenset(chance.sample(["User:svc-a", "Group:root"], chance.randint(0, 2))),
        allow_everyone=seed % 3 == 0,
    )
    world = World(acls, settings, KIP_1042 if seed % 4 else KAFKA)
    assertion = random_assertion(chance)
    proof = prove(assertion, world.rules, Budget())
    least = shortest_of_brute_force(world, assertion)
    assert proof.verdict in ("pass", "fail")
    if proof.verdict == "pass":
        assert least is None
    else:
        length = check_example(world, assertion, proof)
        assert least is None or length <= least


def test_an_example_is_no_super_user_where_an_acl_grants_the_access_too():
    text = only(principals="User:etl", resources="topic:pii.*").replace(
        "super_users=false", "super_users=true"
    )
    known = {"super_users": frozenset(("User:admin",))}
    assert shown(["ALLOW User:* READ PREFIXED pii."], text, **known).principal != "User:admin"
    assert shown([], text, **known).principal == "User:admin"
