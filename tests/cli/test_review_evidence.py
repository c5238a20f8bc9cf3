"""What closes a review: who decided how much, and files beside the evidence that it vouches for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_review import Place
from tests.questions.query import small_warehouse as small

OLDER = Path(__file__).parents[1] / "data/review-of-0.3/q1"
"""A review that version 0.3 closed, of the first three ACLs of the small warehouse."""


@pytest.fixture
def place(tmp_path):
    small.build(tmp_path / "warehouse", small.ACLS[:3])
    return Place(tmp_path)


@pytest.fixture
def older(place):
    place.reviews.mkdir()
    shutil.copytree(OLDER, place.reviews / "q1")
    return place


def evidence_of(place, *words):
    place.start("--name", "q1")
    place.decide("remove", "--principal", "User:bob")
    place.decide("keep", "--owner", "platform")
    place.run("close", "--by", "ana", "--open-as", "keep", *words)
    return place.reviews / "q1" / "evidence.json"


def plain(text):
    return " ".join(text.split())


def test_the_headline_counts_what_was_decided_and_what_was_not_by_owner(place):
    place.start("--name", "q1")
    place.decide("keep", "--owner", "payments")
    (answer,) = json.loads(
        place.run("close", "--by", "ana", "--open-as", "remove", "--format", "json").stdout
    )
    assert (answer["decided"], answer["not_decided"]) == (2, 3)
    by_owner = {each["owner"]: (each["decided"], each["not_decided"]) for each in answer["owners"]}
    assert by_owner == {"No owner": (0, 1), "payments": (2, 0), "platform": (0, 2)}
    page = (place.reviews / "q1" / "evidence.html").read_text(encoding="utf-8")
    assert "Closed: 2 of 5 items were decided; 3 were not and are to be removed." in page


@pytest.mark.parametrize(
    ("choice", "headline"),
    [
        (("keep", "--principal", "*"), "all 5 items were decided. 5 to keep, 0 to remove."),
        (
            ("keep", "--owner", "payments"),
            "2 of 5 items were decided; 3 were not and are kept. 5 to keep, 0 to remove.",
        ),
    ],
)
def test_close_answers_how_many_items_owners_decided(place, choice, headline):
    place.start("--name", "q1")
    place.decide(*choice)
    text = plain(place.run("close", "--by", "ana", "--open-as", "keep").stdout)
    assert text.startswith(f"Review q1 is closed: {headline}")


def test_what_is_carried_over_was_not_decided_in_this_review(place):
    place.start("--name", "q1")
    place.close_all()
    shutil.rmtree(place.warehouse)
    small.build(place.warehouse, small.ACLS[:6])
    place.start("--name", "q2", "--since", "q1")
    text = plain(place.run("close", "--by", "ana", "--open-as", "keep").stdout)
    assert text.startswith("Review q2 is closed: 0 of 7 items were decided, 5 were carried over; 2")


def test_verify_checks_the_files_beside_the_evidence(place):
    evidence = evidence_of(place)
    text = plain(place.run("verify", evidence).stdout)
    assert "as written evidence.json, removals.sh, evidence.html" in text
    assert json.loads(evidence.read_text(encoding="utf-8"))["hash"] in evidence.with_suffix(
        ".html"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("removals.sh", lambda text: text + "\nkafka-acls --add", "removals.sh was changed in"),
        ("removals.sh", lambda _: "", "removals.sh was changed in line 1. Do not run it."),
        ("evidence.html", lambda text: text.replace("bob", "eve"), "evidence.html was changed."),
        ("evidence.html", lambda text: text.replace('-hash">', '-hash">0'), "evidence.html was"),
        (
            "evidence.html",
            lambda text: text + '<code class="evidence-hash"></code>',
            "evidence.html was",
        ),
        ("evidence.html", lambda text: text + "\udcff", "evidence.html was changed."),
    ],
)
def test_a_changed_file_beside_the_evidence_is_refused(place, name, change, says):
    evidence = evidence_of(place)
    file = evidence.with_name(name)
    file.write_bytes(change(file.read_text(encoding="utf-8")).encode(errors="surrogateescape"))
    for words in ((), ("--offline",)):
        assert says in plain(place.run("verify", evidence, *words, code=1).stdout)


def test_a_page_without_its_hash_is_refused(place):
    evidence = evidence_of(place)
    page, known = (
        evidence.with_suffix(".html"),
        json.loads(evidence.read_text(encoding="utf-8"))["hash"],
    )
    page.write_text(page.read_text(encoding="utf-8").replace(known, ""), encoding="utf-8")
    assert "evidence.html was changed." in place.run("verify", evidence, code=1).stdout


def test_files_that_are_not_beside_the_evidence_are_not_checked_and_named(place, tmp_path):
    copied = tmp_path / "elsewhere.json"
    shutil.copy(evidence_of(place), copied)
    text = plain(place.run("verify", copied).stdout)
    assert "Sound and reproduced" in text
    for name in ("removals.sh", "evidence.html"):
        assert f"{name} was not checked:" in text


def test_digests_that_are_not_of_the_script_are_refused(place):
    evidence = evidence_of(place)
    said = json.loads(evidence.read_text(encoding="utf-8"))
    said["closing"]["files"]["removals.sh"] = "0" * 64
    evidence.write_text(json.dumps(said), encoding="utf-8")
    refused = plain(place.run("verify", evidence, code=1).stdout)
    assert "The digest of removals.sh is not that of the script." in refused


def test_of_a_review_that_was_closed_before_the_page_is_not_covered(older):
    evidence = older.reviews / "q1" / "evidence.json"
    evidence.with_suffix(".html").write_text("whatever", encoding="utf-8")
    text = plain(older.run("verify", evidence).stdout)
    assert "Sound and reproduced" in text
    assert "Pages not covered: the review was closed before" in text
    assert "changed" not in text
    script = evidence.with_name("removals.sh")
    script.write_text(script.read_text(encoding="utf-8") + "true\n", encoding="utf-8")
    assert "removals.sh was changed" in older.run("verify", evidence, code=1).stdout


def test_an_older_review_keeps_its_ids_and_is_carried_over_into_a_new_one(older):
    ids = [item["item"] for item in older.items("q1")]
    assert all(len(each) == 16 for each in ids)
    older.start("--name", "q2", "--since", "q1")
    items = older.items("q2")
    assert sorted(item["item"] for item in items) == sorted(f"i{each}" for each in ids)
    assert {item["state"] for item in items} == {"carried"}


def test_an_older_review_that_is_open_is_decided_by_either_form_of_an_id(older):
    (older.reviews / "q1" / "evidence.json").unlink()
    (older.reviews / "q1" / "decisions.jsonl").write_text("", encoding="utf-8")
    one, other, *_ = (item["item"] for item in older.items("q1"))
    older.decide(f"i{one}", other[:6], "keep")
    states = {item["item"]: item["state"] for item in older.items("q1")}
    assert (states[one], states[other]) == ("keep", "keep")
