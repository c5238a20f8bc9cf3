"""A replay that changes what stands before the offset of the decisions is named by every answer."""

from __future__ import annotations

import pytest

from tests.cli.running import Warehouse
from tests.nightly.test_nightly import add

QUESTIONS = (
    ("who-can", "READ", "topic:t4"),
    ("why", "User:b4", "READ", "topic:t4"),
    ("what-can", "User:b4"),
    ("show", "User:b4"),
    ("acls", "list"),
    ("tidy",),
)
AGAIN = "The history was read again after these decisions"


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """A warehouse of ten ACLs, and its source."""
    folder = tmp_path_factory.mktemp("decided")
    source = folder / "records.jsonl"
    source.write_text(
        "".join(f"{add(at, f'User:b{at}', f't{at}')}\n" for at in range(10)), encoding="utf-8"
    )
    warehouse = Warehouse(folder / "w")
    warehouse.run("run", "--source", f"records:{source}", "--fail-on", "never")
    return warehouse, f"records:{source}"


@pytest.fixture
def warehouse(decided, tmp_path):
    return decided[0].copy(tmp_path / "w")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda words: words[0])
def test_answers_name_a_history_that_is_no_longer_that_of_the_decisions(warehouse, question):
    assert AGAIN not in warehouse.run(*question).stderr
    warehouse.run("replay", "--forget", "4-4", code=3)
    told = warehouse.run(*question).stderr
    assert f"{AGAIN}, and is known up to offset 4" in told or "acls" in question
    assert "is incomplete: Forgot 1 fact" in told


def test_so_they_do_where_its_end_is_forgotten_and_it_is_complete(warehouse):
    warehouse.run("replay", "--forget", "4-")
    assert f"{AGAIN}, and is known up to offset 4" in warehouse.run(*QUESTIONS[0]).stderr


def test_so_they_do_where_it_has_the_same_offset_with_other_content(warehouse, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(f"{add(9, 'User:other', 't9')}\n", encoding="utf-8")
    warehouse.run("replay", "--forget", "9-")
    warehouse.run("replay", "--source", f"records:{other}")
    assert f"{AGAIN}, and is known up to offset 10" in warehouse.run(*QUESTIONS[0]).stderr


def test_a_later_replay_without_news_does_not_hide_it(warehouse, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(f"{add(9, 'User:other', 't9')}\n", encoding="utf-8")
    warehouse.run("replay", "--forget", "9-")
    for _ in range(2):
        warehouse.run("replay", "--source", f"records:{other}")
    assert AGAIN in warehouse.run(*QUESTIONS[0]).stderr


def test_deciding_again_ends_it(decided, warehouse):
    warehouse.run("replay", "--forget", "4-4", code=3)
    warehouse.run("run", "--source", decided[1], "--fail-on", "never")
    assert AGAIN not in warehouse.run(*QUESTIONS[0]).stderr
    warehouse.run("replay", "--source", decided[1])
    assert AGAIN not in warehouse.run(*QUESTIONS[0]).stderr


def test_can_does_not_know_by_decisions_of_another_history(warehouse):
    words = ("can", "User:b9", "READ", "topic:t9")
    assert warehouse.run(*words).stdout.startswith("Yes")
    warehouse.run("replay", "--forget", "4-")
    assert f"{AGAIN}." in warehouse.run(*words, code=3).stdout
