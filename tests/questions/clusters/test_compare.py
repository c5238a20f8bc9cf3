"""Two clusters differ where the pure rule decides a name and its counterpart differently."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.questions.clusters.answer import clusters_sentence, setting_lines
from aclkit.questions.clusters.compare import compare_clusters
from aclkit.questions.clusters.mapped_acls import FIRST, SECOND, Maps
from aclkit.questions.clusters.name_map import NameMap, Rule
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from tests import strategies as small
from tests.factories import acl
from tests.questions.clusters.world import STAGE_TO_PROD, cluster, decision, grants, maps

NAMES = ["".join(letters) for size in range(4) for letters in product("ab*", repeat=size)]
PRINCIPALS = ("User:a", "User:b", "User:ab", "User:z")
OPERATIONS = ("READ", "DESCRIBE")
HOST = "10.0.0.1"
PREFIXES = st.sampled_from(["", "a", "b", "aa", "ab", "ba"])
USERS = st.sampled_from(["User:a", "User:b", "User:ab"])


def rules(prefixes):
    return st.lists(st.tuples(prefixes, prefixes).map(lambda pair: Rule(*pair)), max_size=2)


def name_map(given_rules):
    try:
        return NameMap.of(given_rules)
    except UsageError:
        return NameMap()


@st.composite
def worlds(draw):
    """Two clusters that know every name of a small universe, and rules."""
    found = Maps(names=name_map(draw(rules(PREFIXES))), principals=name_map(draw(rules(USERS))))
    clusters = [
        cluster(label, draw(small.acl_sets(5)), groups=NAMES, principals=PRINCIPALS,
                allow_everyone=draw(st.booleans()), semantics=draw(small.semantics))
        for label in ("one", "two")
    ]  # fmt: skip
    return *clusters, found


def brute(one, two, found):
    """Decide every name and its counterpart by the pure rule; return the kinds that differ."""
    kinds = set()
    for name, who, operation in product(NAMES, PRINCIPALS, OPERATIONS):
        image, whom = found.names.there(name), found.principals.there(who)
        if image is None or whom is None:
            continue
        then = decision(one, who, HOST, operation, Resource("GROUP", name))
        now = decision(two, whom, HOST, operation, Resource("GROUP", image))
        if then != now:
            kinds.add(GAINED if now == "ALLOWED" else LOST)
    return kinds


@settings(max_examples=80, deadline=None)
@given(worlds())
def test_what_the_pure_rule_decides_differently_is_found(world):
    one, two, found = world
    difference = compare_clusters(one, two, found)
    assert brute(one, two, found) <= {kind for kind in (GAINED, LOST) if difference.has(kind)}


@settings(max_examples=80, deadline=None)
@given(worlds())
def test_what_is_found_the_pure_rule_decides_differently(world):
    one, two, found = world
    for line in compare_clusters(one, two, found).lines:
        asked = line.example
        kind, image = asked.resource
        own = found.of_type(kind).back(image)
        who = found.principals.back(asked.principal)
        assert own is not None
        assert who is not None
        then = decision(one, who, asked.host, asked.operation, Resource(kind, own))
        now = decision(two, asked.principal, asked.host, asked.operation, asked.resource)
        assert (then, now) == tuple(cause.decision for cause in line.causes)
        assert then != now
        assert line.kind == (GAINED if now == "ALLOWED" else LOST)


def texts(found):
    return [(line.kind, [each.name for each in line.principals], line.operations, line.names)
            for line in found.lines]  # fmt: skip


def stage_and_prod(stage, prod, **more):
    return compare_clusters(
        cluster("stage", grants(*stage)), cluster("prod", grants(*prod)), STAGE_TO_PROD, **more
    )


def test_the_same_roles_in_two_clusters_are_no_difference():
    found = stage_and_prod(
        [("User:stage-a", "READ", "stage.a."), ("User:stage-a", "WRITE", "stage.*"),
         ("User:*", "DESCRIBE", "*")],
        [("User:prod-a", "READ", "prod.a."), ("User:prod-a", "WRITE", "prod.*"),
         ("User:*", "DESCRIBE", "*")],
    )  # fmt: skip
    assert found.lines == ()
    assert not found.is_partial
    assert found.comparison.difference.is_known


def test_a_missing_acl_is_one_line_with_the_acl_of_the_cluster_that_has_it():
    found = stage_and_prod(
        [("User:stage-a", "READ", "stage.a.*"), ("User:stage-b", "READ", "stage.b")],
        [("User:prod-a", "READ", "prod.a.*")],
    )
    (line,) = found.lines
    assert texts(found) == [(LOST, ["User:prod-b"], ("READ", "DESCRIBE"), "topic prod.b")]
    assert line.causes[0].acl.resource_name == "stage.b"
    assert line.causes[1].acl is None


def test_a_prefix_that_is_shorter_than_the_rule_applies_to_mapped_and_to_other_names():
    found = stage_and_prod(
        [("User:stage-a", "READ", "sta*")],
        [("User:prod-a", "READ", "prod.*"), ("User:prod-a", "READ", "sta*")],
    )
    assert found.lines == ()


def test_a_wildcard_is_every_name_in_both_clusters():
    assert (
        stage_and_prod([("User:stage-a", "READ", "*")], [("User:prod-a", "READ", "*")]).lines == ()
    )


def test_a_prefix_of_the_new_beginning_limits_the_answer_to_known_names():
    one = cluster("stage", grants(("User:stage-a", "READ", "pro*")), topics=["project"])
    two = cluster("prod", grants(("User:prod-a", "READ", "project")), topics=["prod.x"])
    found = compare_clusters(one, two, STAGE_TO_PROD)
    assert found.is_partial
    assert [each.resource_name for each in found.inexact] == ["pro"]
    assert found.lines == ()


def test_known_names_with_one_difference_are_one_line():
    one = cluster("stage", grants(("User:stage-a", "READ", "pro*")), topics=["project", "props"],
                  principals=["User:stage-a"])  # fmt: skip
    found = compare_clusters(one, cluster("prod"), STAGE_TO_PROD)
    assert texts(found) == [
        (LOST, ["User:prod-a"], ("READ", "DESCRIBE"), "topic:project, topic:props")
    ]


def test_names_without_a_counterpart_are_not_compared():
    found = stage_and_prod(
        [("User:stage-a", "READ", "prod.a")], [("User:prod-a", "READ", "stage.b")]
    )
    assert found.lines == ()


def test_a_principal_without_a_counterpart_is_not_compared_but_counts_for_the_default():
    mine = [("User:prod-x", "READ", "stage.a")]
    theirs = [("User:stage-x", "READ", "prod.a")]
    one, two = (
        cluster(label, grants(*rows), allow_everyone=True)
        for label, rows in (("stage", mine), ("prod", theirs))
    )
    assert compare_clusters(one, two, STAGE_TO_PROD).lines == ()
    without = cluster("prod", allow_everyone=True)
    assert compare_clusters(one, without, STAGE_TO_PROD).has(GAINED)


def test_a_topic_of_one_cluster_alone_is_told_apart():
    one = cluster(
        "stage", grants(("User:stage-a", "READ", "stage.a")), exist=["stage.a", "stage.b"]
    )
    two = cluster("prod", grants(("User:prod-a", "READ", "prod.new")), exist=["prod.b", "prod.new"])
    found = compare_clusters(one, two, STAGE_TO_PROD)
    assert found.shared == ()
    assert [line.only_in for line in found.apart] == [SECOND, FIRST]
    assert found.only_topics == (("stage.a",), ("prod.new",))
    assert not found.has(GAINED)
    assert not found.has(LOST)


def test_a_name_that_neither_source_lists_is_a_difference_of_access():
    one = cluster("stage", grants(("User:stage-a", "READ", "stage.a")), exist=["stage.b"])
    found = compare_clusters(one, cluster("prod", exist=["prod.b"]), STAGE_TO_PROD)
    assert len(found.shared) == 1


def test_super_users_of_one_cluster_are_named_and_no_line_is_about_them():
    one = cluster("stage", super_users=["User:stage-root", "User:ops"])
    two = cluster("prod", super_users=["User:prod-root", "User:eve"])
    found = compare_clusters(one, two, STAGE_TO_PROD)
    assert found.supers == (("User:ops",), ("User:eve",))
    assert found.who(GAINED) == {"User:eve"}
    assert found.who(LOST) == {"User:ops"}
    assert found.lines == ()


def test_a_default_that_allows_is_a_difference_for_every_principal():
    found = compare_clusters(cluster("a"), cluster("b", allow_everyone=True), maps())
    assert found.has(GAINED)
    assert not found.has(LOST)


def test_a_glob_is_read_by_each_cluster_in_its_own_way():
    glob = [acl("a?", pattern_type="GLOB", acl_id="1")]
    found = compare_clusters(
        cluster("a", glob, semantics=KIP_1042), cluster("b", glob, semantics=KAFKA), maps()
    )
    assert found.has(LOST)


@pytest.mark.parametrize(
    ("rule", "glob", "is_partial"),
    [("stage.=prod.", "stage.*.log", False), ("stage.=prod.", "*.log", True),
     ("stage.=prod.", "other-*", False), ("stage.=stage.", "*.log", False)],
)  # fmt: skip
def test_a_glob_is_mapped_where_its_beginning_tells_the_rule(rule, glob, is_partial):
    one = cluster("a", [acl(glob, pattern_type="GLOB")], semantics=KIP_1042)
    assert (
        compare_clusters(one, cluster("b", semantics=KIP_1042), maps(rule)).is_partial is is_partial
    )


def test_a_rule_within_another_one_limits_the_answer_to_known_names():
    found = compare_clusters(cluster("a"), cluster("b"), maps("stage.=stage.eu."))
    assert found.is_partial


def test_every_name_may_get_a_beginning():
    one = cluster("a", grants(("User:a", "READ", "*"), ("User:b", "READ", "orders*")))
    two = cluster("b", grants(("User:a", "READ", "prod.*"), ("User:b", "READ", "prod.orders*"),
                              ("User:c", "READ", "other*")))  # fmt: skip
    found = compare_clusters(one, two, maps("=prod."))
    assert found.lines == ()
    assert not found.is_partial
    assert found.comparison.difference.is_known


def test_a_principal_that_one_cluster_alone_knows_is_marked():
    mine = grants(("User:stage-a", "READ", "stage.b"), ("User:stage-c", "READ", "x"))
    one = cluster("stage", mine, principals=["User:stage-a", "User:stage-c"])
    two = cluster("prod", principals=["User:prod-a"])
    found = compare_clusters(one, two, STAGE_TO_PROD)
    marks = {line.principals[0].name: found.unknown_in(line) for line in found.lines}
    assert marks == {"User:prod-a": None, "User:prod-c": SECOND}


def test_two_clusters_of_one_name_are_told_apart():
    found = compare_clusters(cluster("a"), cluster("a"), maps())
    assert [each.label for each in found.clusters] == ["a (first)", "a (second)"]


def test_a_search_limit_leaves_the_answer_open():
    hard = [acl(f"*{letter}????????", pattern_type="GLOB", acl_id=letter) for letter in "ab"]
    found = compare_clusters(
        cluster("a", hard[:1], semantics=KIP_1042), cluster("b", hard, semantics=KIP_1042), maps(),
        Budget(per_question=10),
    )  # fmt: skip
    assert not found.is_known
    assert "the search limit was reached" in clusters_sentence(found)


def test_settings_that_differ_are_each_a_line():
    one = cluster("a", versions="1 broker up to metadata.version 27 (4.1-IV1)", authorizers=["A"])
    two = cluster("b", versions="1 broker up to metadata.version 32 (4.4-IV1)", authorizers=["B"],
                  allow_everyone=True, semantics=KIP_1042, super_users=["User:root"])  # fmt: skip
    lines = list(setting_lines(compare_clusters(one, two, maps())))
    starts = [
        "User:root is a super user in b only, not in a.",
        "allow.everyone.if.no.acl.found is false in a.",
        "allow.everyone.if.no.acl.found is true in b.",
        "ACLs are read differently in b: ",
        "a has authorizer A.",
        "b has authorizer B.",
        "Brokers differ: a has 1 broker up to metadata.version 27 (4.1-IV1); b has ",
    ]
    assert len(lines) == len(starts)
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True))


@pytest.mark.parametrize(
    ("mine", "theirs", "sentence"),
    [
        ([], [("User:a", "READ", "t"), ("User:b", "READ", "t")],
         "2 principals can do more in b than in a."),
        ([("User:a", "READ", "t")], [("User:b", "READ", "t")],
         "1 principal can do more in b than in a, 1 less."),
        ([("User:a", "READ", "t")], [("User:a", "WRITE", "t")],
         "1 principal can do some more and some less in b than in a."),
        ([], [("User:*", "READ", "t")],
         "Any principal that no ACL names can do more in b than in a."),
        ([("User:a", "READ", "t")], [("User:*", "READ", "*")],
         "1 principal and any other one can do more in b than in a."),
        ([], [], "b allows the same as a. Proven for every name."),
    ],
)  # fmt: skip
def test_the_first_sentence_counts_principals(mine, theirs, sentence):
    found = compare_clusters(cluster("a", grants(*mine)), cluster("b", grants(*theirs)), maps())
    assert clusters_sentence(found) == sentence


def test_the_cluster_keeps_its_name_and_users_follow_the_rules_for_principals():
    one, two = (
        cluster(label, [
            acl("kafka-cluster", resource_type="CLUSTER", operation="CREATE", acl_id="1"),
            acl(f"User:{label}-", resource_type="USER", pattern_type="PREFIXED",
                operation="CREATE_TOKENS", acl_id="2"),
        ])
        for label in ("stage", "prod")
    )  # fmt: skip
    found = compare_clusters(one, two, maps("=prod.", principals=["User:stage-=User:prod-"]))
    assert found.lines == ()
    assert not found.is_partial
    assert found.comparison.difference.is_known


def test_an_acl_for_principals_that_are_not_known_still_takes_the_default():
    glob = [acl("t", principal="User:*-etl", acl_id="1")]
    rules_ = maps(principals=["User:stage-=User:prod-"])
    one = cluster("stage", glob, semantics=KIP_1042, topics=["t"], allow_everyone=True)
    two = cluster("prod", semantics=KIP_1042, principals=["User:a"], allow_everyone=True)
    found = compare_clusters(one, two, rules_)
    assert found.is_partial
    assert found.who(GAINED) == {"User:a"}
