"""Access of names without a counterpart is a difference, and nothing is "the same" without it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings

from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, REDPANDA
from aclkit.questions.clusters.answer import clusters_answer, clusters_sentence
from aclkit.questions.clusters.compare import compare_clusters
from aclkit.questions.clusters.mapped_acls import FIRST, NOBODY, SECOND
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.patterns.match import names_exactly
from tests.factories import acl
from tests.fuzz.mutants import rounds
from tests.questions.clusters.test_compare import HOST, NAMES, OPERATIONS, PRINCIPALS, worlds
from tests.questions.clusters.world import STAGE_TO_PROD, cluster, decision, grants, maps

ON_REDPANDA = replace(KAFKA, authorizer=REDPANDA)
SAME = [("User:prod-app", "READ", "prod.orders")]
STAGE = cluster("stage", grants(("User:stage-app", "READ", "stage.orders")))


def compared(*more, **fields):
    return compare_clusters(STAGE, cluster("prod", grants(*SAME, *more), **fields), STAGE_TO_PROD)


def test_a_principal_without_a_counterpart_that_has_access_is_a_line_and_counts():
    found = compared(("User:stage-ops", "ALL", "prod.*"))
    (line,) = found.left_out
    assert (line.kind, [who.name for who in line.principals]) == (GAINED, ["User:stage-ops"])
    assert line.causes[FIRST] is None
    assert line.causes[SECOND].acl.operation == "ALL"
    assert (found.has(GAINED), found.has(LOST)) == (True, False)
    assert clusters_sentence(found) == (
        "1 principal has access in prod that has no counterpart in stage."
    )


def test_a_super_user_without_a_counterpart_counts():
    found = compared(super_users=["User:stage-admin"])
    assert found.left_out_supers == ((), ("User:stage-admin",))
    assert found.has(GAINED)
    text = str(list(clusters_answer(found).beside_rows()))
    assert "User:stage-admin is a super user in prod, and has no counterpart in stage." in text


def test_in_the_first_cluster_it_is_less():
    found = compare_clusters(
        cluster("stage", grants(("User:prod-x", "READ", "stage.a"))), cluster("prod"), STAGE_TO_PROD
    )
    assert (found.has(GAINED), found.has(LOST)) == (False, True)
    assert found.left_out[0].causes[SECOND] is None


def test_access_to_a_resource_without_a_counterpart_is_a_line():
    found = compared(("User:prod-app", "READ", "stage.secret"))
    (line,) = found.left_out
    assert line.example.resource_name == "stage.secret"
    assert found.has(GAINED)


def test_access_that_every_principal_has_is_compared_and_not_left_out():
    everyone = ("User:*", "READ", "*")
    one = cluster("stage", grants(everyone))
    two = cluster("prod", grants(everyone, ("User:stage-ops", "READ", "prod.a")))
    found = compare_clusters(one, two, STAGE_TO_PROD)
    assert found.left_out == ()
    assert clusters_sentence(found).startswith("prod allows the same as stage. Proven")


def test_a_deny_for_a_principal_without_a_counterpart_is_no_access():
    deny = acl("prod.a", principal="User:stage-ops", permission_type="DENY")
    found = compare_clusters(STAGE, cluster("prod", [*grants(*SAME), deny]), STAGE_TO_PROD)
    assert found.left_out == ()


def test_access_differs_and_some_has_no_counterpart():
    found = compared(("User:prod-b", "READ", "x"), ("User:stage-ops", "READ", "x"))
    assert clusters_sentence(found) == (
        "1 principal can do more in prod than in stage. 1 principal has access in prod that has no "
        "counterpart in stage."
    )


def test_a_known_name_that_was_left_out_is_never_the_same():
    found = compared(principals=["User:stage-idle"])
    assert clusters_sentence(found) == (
        "No difference was found, but 1 known name has no counterpart and was not compared."
    )
    members = dict(clusters_answer(found).json())
    assert members["proven_for_every_name"] is False
    assert not found.has(GAINED)


@pytest.mark.parametrize("who", ["RedpandaRole:ops", "Group:ops"])
@pytest.mark.parametrize("other", [KAFKA, ON_REDPANDA])
def test_roles_whose_members_are_unknown_are_never_the_same(who, other):
    acls = grants((who, "READ", "x"))
    one = cluster("a", acls, semantics=ON_REDPANDA)
    found = compare_clusters(one, cluster("b", acls, semantics=other), maps())
    assert not found.is_known
    assert clusters_sentence(found) == (
        "No difference was found. More may differ: the members of roles and groups are not known "
        "here."
    )
    assert dict(clusters_answer(found).json())["proven_for_every_name"] is False


def test_rows_and_members_have_what_was_left_out():
    found = compared(("User:stage-ops", "WRITE", "x"), super_users=["User:stage-admin"])
    rows = [(row[0], row[1], row[7], row[9]) for row in clusters_answer(found).rows]
    assert ("more", "User:stage-admin", None, "ALLOWED") in rows
    assert ("more", "User:stage-ops", None, "ALLOWED") in rows
    assert dict(clusters_answer(found).json())["more"] == 2


def own_access(cluster_, found, side):
    """Whether ALLOWs for a principal without a counterpart alone grant it something."""
    gone = {
        each.acl_id: replace(each, principal=NOBODY)
        for each in cluster_.acls.values()
        if each.is_allow
        and names_exactly(each.principal, cluster_.semantics)
        and found.principal(each.principal, side) is None
    }
    without = replace(cluster_, acls={**cluster_.acls, **gone})
    return any(
        decision(cluster_, who, HOST, operation, Resource("GROUP", name)) == "ALLOWED"
        and decision(without, who, HOST, operation, Resource("GROUP", name)) == "DENIED"
        for who, name, operation in product(PRINCIPALS, NAMES, OPERATIONS)
        if found.principal(who, side) is None
    )


@settings(max_examples=rounds(40), deadline=None)
@given(worlds())
def test_what_principals_without_a_counterpart_have_is_found(world):
    one, two, found = world
    difference = compare_clusters(one, two, found)
    for at, each, kind in ((SECOND, two, GAINED), (FIRST, one, LOST)):
        if own_access(each, found, at):
            assert difference.has(kind)
            assert "allows the same" not in clusters_sentence(difference)


@settings(max_examples=rounds(40), deadline=None)
@given(worlds())
def test_what_is_left_out_is_allowed_and_has_no_counterpart(world):
    one, two, found = world
    for line in compare_clusters(one, two, found).left_out:
        at = SECOND if line.kind == GAINED else FIRST
        asked, where = line.example, (one, two)[at]
        has_none = (
            found.principal(asked.principal, at) is None
            or found.resource(asked.resource, at) is None
        )
        assert has_none
        resource = Resource(*asked.resource)
        assert decision(where, asked.principal, asked.host, asked.operation, resource) == "ALLOWED"


@pytest.mark.parametrize("rule", ["=prod.", "stage.="])
def test_names_that_a_rule_for_every_name_leaves_out(rule):
    two = cluster("b", grants(("User:c", "READ", "other*")))
    found = compare_clusters(cluster("a"), two, maps(rule))
    assert found.has(GAINED)
