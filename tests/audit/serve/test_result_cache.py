"""What a run answered is remembered as long as there is room, and never asked for again."""

from __future__ import annotations

import threading

import pytest

from aclkit.audit.serve import drawings
from aclkit.audit.serve import snapshot as snapshots
from aclkit.audit.serve.answers import PAGES, Answers
from aclkit.audit.serve.snapshot import CachedTables, LatestSnapshot, Reading, ResultCache
from aclkit.questions.query import names
from tests.questions.query import small_warehouse as small


class Noting:
    """Tables that note what they are asked."""

    def __init__(self, tables):
        self.tables, self.asked = tables, []

    def execute(self, query, parameters=None, /):
        self.asked.append((query, parameters))
        return self.tables.execute(query, parameters)


@pytest.fixture
def snapshot(warehouse):
    return LatestSnapshot(str(warehouse)).snapshot()


def test_what_was_made_is_not_made_again_and_what_was_not_asked_for_longest_goes(monkeypatch):
    monkeypatch.setattr(snapshots, "MOST_KEPT", 10)
    made = []

    def ask(key):
        return kept.kept(key, lambda: made.append(key) or "1234")

    kept = ResultCache()
    for key in "abacabc":  # c drives out b, which drives out c and that a
        ask(key)
        assert kept.held <= 10
    assert made == ["a", "b", "c", "b", "c"]


def test_what_is_larger_than_half_of_it_all_drives_nothing_out(monkeypatch):
    monkeypatch.setattr(snapshots, "_LARGEST", 5)
    kept = ResultCache()
    assert kept.kept("small", lambda: "12345") == "12345"
    assert kept.kept("large", lambda: "123456") == "123456"
    assert kept.kept("large", lambda: "other!") == "other!"
    assert (kept.held, kept.kept("small", lambda: "")) == (5, "12345")


def test_two_threads_that_make_the_same_count_it_once():
    kept, both = ResultCache(), threading.Barrier(2)

    def make():
        both.wait(60)
        return "1234"

    threads = [threading.Thread(target=kept.kept, args=("key", make)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept.held == 4


def test_statements_are_told_apart_by_their_values_and_those_of_long_lists_are_not_kept(snapshot):
    noting = Noting(snapshot.cursor())
    tables = CachedTables(noting, ResultCache())
    text = "SELECT len(CAST(? AS VARCHAR[]))"
    for values in (["a"], ["a", "b"], ["a"], ["a"] * 9, ["a"] * 9):
        assert tables.execute(text, [values]).fetchall() == [(len(values),)]
    assert len(noting.asked) == 4


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/who-can", {}),
        ("/what-can", {}),
        ("/why", {"operation": "READ"}),
        ("/why", {}),
        ("/history", {"operation": "READ"}),
    ],
)
def test_near_names_of_an_unknown_one_are_looked_for_once(snapshot, monkeypatch, path, given):
    looked = []
    monkeypatch.setattr(names, "near_resources", lambda asked, _: looked.append(asked) or ())
    access = {"principal": "User:alice", "resource": "topic:nowhere", **given}
    if path == "/what-can":
        monkeypatch.setattr(names, "near_principals", lambda asked, _: looked.append(asked) or ())
        access["principal"] = "User:nobody"
    reading = Reading(snapshot, snapshot.cursor(), small.CLUSTER)
    page = PAGES[path](Answers(), reading, access)
    assert len(page.holds["unknown"]) == len(looked) == 1


def test_heat_maps_are_counted_once_a_run(snapshot, monkeypatch):
    counted, count = [], drawings.gather_heat
    monkeypatch.setattr(
        drawings, "gather_heat", lambda *asked: counted.append(asked) or count(*asked)
    )
    shown = [
        PAGES["/heat"](Answers(), Reading.of(snapshot, snapshot.cursor(), small.CLUSTER), {}).holds[
            "tables"
        ]
        for _ in range(2)
    ]
    assert shown[0] == shown[1] != []
    assert len(counted) == 1


def test_the_same_page_again_asks_nothing(snapshot):
    asked = []
    for _ in range(2):
        noting = Noting(snapshot.cursor())
        reading = Reading(snapshot, CachedTables(noting, snapshot.memory), small.CLUSTER)
        PAGES["/why"](
            Answers(),
            reading,
            {"principal": "User:bob", "resource": "topic:payments", "operation": "READ"},
        )
        asked.append(len(noting.asked))
    assert asked[0] > 5
    assert asked[1] == 0
