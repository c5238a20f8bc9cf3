"""A warehouse of several clusters in a browser: a row for each, and two of them compared."""

from __future__ import annotations

import pytest

from tests.audit.reports.made import HOSTILE, IMAGE
from tests.audit.serve import many
from tests.audit.serve.many import LARGE, NAMES, SMALL
from tests.audit.serve.running import serving
from tests.cli.two_clusters import build, roles, topics
from tests.factories import acl

RULES = {"map": "stage.=prod.", "map-principal": "User:stage-=User:prod-"}
HOLE = "prod-orders-3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two clusters, in one of which an ACL is missing and a hostile one stands."""
    path = tmp_path_factory.mktemp("two") / "warehouse"
    hostile = acl(HOSTILE, resource_type="GROUP", principal=f"User:{HOSTILE}", acl_id="bad")
    prod = [*(each for each in roles("prod") if each.acl_id != HOLE), hostile]
    return build(
        path, {"stage": (roles("stage"), topics("stage")), "prod": (prod, topics("prod"))},
        more={"access_day": [refused("User:x", "READ"), refused("User:x", "WRITE"),
                             refused("User:x", "READ", host="10.0.0.2")]},
    )  # fmt: skip


def refused(principal, operation, host="10.0.0.1"):
    return {"cluster_id": "stage", "principal": principal, "operation": operation, "host": host,
            "resource_type": "TOPIC", "resource_name": "t", "decision": "DENIED", "lines": 7,
            "log_day": None, "run_number": 1}  # fmt: skip


@pytest.fixture(scope="module")
def client(folder):
    with serving(folder) as stranger:
        yield stranger.enter()


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    path = tmp_path_factory.mktemp("busy") / "warehouse"
    many.build(path)
    with serving(path) as stranger:
        yield stranger.enter()


def compare(client, **given):
    return client.ask("/compare", cluster="stage", **{"with": "prod", **RULES, **given})


def test_the_first_page_has_a_row_for_each_cluster_with_its_age(client):
    answer = client.ask("/")
    assert answer.status == 200
    for name in ("stage", "prod"):
        assert f'href="/?cluster={name}"' in answer.html
    assert answer.text.count("as of 2026-11-21 12:00 UTC, offset 100 (old)") == 2


def test_denials_of_the_authorizer_log_are_counted_once_each(client):
    row_of_prod, row_of_stage = client.ask("/").html.split('<tr><th scope="row"')[1:]
    assert ">2<" in row_of_stage.replace(" ", "")
    assert "no log" in row_of_prod


def test_findings_and_changes_of_each_cluster_lead_to_their_pages(busy):
    answer = busy.ask("/")
    assert f"high {NAMES}" in answer.text
    assert f'<a href="/changes?cluster={LARGE}">{NAMES}</a>' in answer.html
    assert IMAGE not in answer.html
    assert "<img" not in answer.html
    assert SMALL in answer.text


def test_a_warehouse_of_one_cluster_has_its_summary_as_the_first_page(warehouse):
    with serving(warehouse) as stranger:
        answer = stranger.enter().ask("/")
    assert "Kafka access on cluster c1" in answer.text
    assert "Compare clusters" not in answer.text


def test_one_hole_is_one_line_of_the_comparison(client):
    answer = compare(client)
    assert answer.status == 200
    assert "1 principal can do more in prod than in stage, 1 less." in answer.text
    assert (
        "User:prod-orders: READ, DESCRIBE on topic prod.inventory.events from any host"
        in answer.text
    )
    assert "stage as of 2026-11-21 12:00 UTC, offset 100" in answer.text


def test_hostile_names_and_rules_stay_text(client):
    answer = compare(client, map=f"stage.=prod.\n{HOSTILE}=b")
    assert IMAGE not in answer.html
    assert "<img" not in answer.html
    assert "<script>" not in answer.html


def test_the_page_without_another_cluster_is_a_form(client):
    answer = client.ask("/compare", cluster="stage")
    assert answer.status == 200
    assert '<option value="prod"' in answer.html
    assert "can do" not in answer.text


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"map": "a=c\nb=c"}, "collide"),
        ({"map": "a"}, "Expected one ="),
        ({"map-principal": "a=b"}, "TYPE:PREFIX"),
        ({"map": "\n".join(f"a{n}=b{n}" for n in range(21))}, "At most 20"),
        ({"with": "nowhere"}, "no other cluster"),
        ({"with": "stage"}, "no other cluster"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(client, given, reason):
    answer = compare(client, **given)
    assert answer.status == 400
    assert reason in answer.text


def test_a_comparison_is_never_posted(client):
    assert client.ask("/compare", form={"with": "prod"}).status == 405


def test_of_a_cluster_that_is_not_served_nothing_is_told(folder):
    with serving(folder, cluster="stage") as stranger:
        inside = stranger.enter()
        assert inside.ask("/").status == 200
        assert "prod" not in inside.ask("/").text
        refused_ = inside.ask("/compare", **{"with": "prod"})
        assert refused_.status == 400
        assert "only cluster stage" in refused_.text
        assert "prod" not in inside.ask("/compare").text
