"""The page of refused accesses: that of ``aclkit denials``, with links and a box to search."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from tests.audit.serve.running import serving

SECURE = Path(__file__).parents[2] / "data" / "secure"


def ran(warehouse, *words: str) -> str:
    told = CliRunner().invoke(cli, ["--warehouse", str(warehouse), *words])
    assert told.exit_code == 0, told.output
    return told.stdout


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    path = tmp_path_factory.mktemp("denials") / "warehouse"
    source = f"metadata-log:{SECURE / '__cluster_metadata-0'}"
    known = ["--super-users", "User:admin", "--no-allow-everyone", "--fail-on", "never"]
    ran(path, "run", "--source", source, *known)
    ran(path, "usage", str(SECURE / "kafka-authorizer.log"))
    return path


@pytest.fixture(scope="module")
def asked(refusing):
    with serving(refusing) as stranger:
        yield stranger.enter()


def test_the_page_has_what_the_command_prints(refusing, asked):
    page = asked.ask("/denials")
    assert page.status == 200
    told = ran(refusing, "denials", "--format", "jsonl").splitlines()
    assert page.html.count("<tr><th") == 1 + len(told) > 2
    assert ran(refusing, "denials").splitlines()[0] in page.text


def test_a_refused_access_to_what_is_no_known_name_stands_on_the_page(asked):
    assert "group:x" in asked.ask("/denials").text


def test_words_narrow_the_page_and_the_box_keeps_them(asked):
    page = asked.ask("/denials", words="alice orders")
    assert "User:alice" in page.text
    assert "User:svc-orders" not in page.text
    assert 'value="alice orders"' in page.html


def test_a_refused_access_leads_to_its_reason(asked):
    page = asked.ask("/denials")
    link = page.html.partition('href="/why?')[2].partition('"')[0]
    assert asked.ask(f"/why?{link.replace('&amp;', '&')}").status == 200


def test_a_warehouse_without_a_log_says_how_to_read_one(client):
    page = client.ask("/denials")
    assert "No authorizer log has been read. Next: aclkit usage --authorizer-log PATH" in page.text


def test_words_that_nothing_has_are_not_taken_for_no_refusal(asked):
    assert "No refused access has these words." in asked.ask("/denials", words="zzz").text
