"""Deciding in the browser: who may, from which page, and that nothing else ever writes."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import pytest

from aclkit.audit.review.folder import create, decide, load
from aclkit.audit.review.starting import NewReview, new_review
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.rules.names.question import Budget
from tests.audit.reports.made import IMAGE
from tests.audit.review.reviews import AT
from tests.audit.serve.running import serving

PROXY = {"trusted_proxy": ("127.0.0.1",), "user_header": "X-User"}
BOB, EVE = {"X-User": "bob"}, {"X-User": "eve"}


@pytest.fixture(scope="module")
def reviews(warehouse, tmp_path_factory):
    root = tmp_path_factory.mktemp("reviews")
    asked = NewReview(name="q1", at=AT, by="ana")
    create(root, new_review(read_state(Warehouse(str(warehouse))), asked, Budget()))
    return root


@pytest.fixture(scope="module")
def desk(warehouse, reviews):
    """Whoever has the token, behind a trusted proxy that names users."""
    with serving(warehouse, reviews=str(reviews), **PROXY) as client:
        yield client.enter()


@pytest.fixture(autouse=True)
def fresh(reviews):
    (reviews / "q1" / "decisions.jsonl").write_text("", encoding="utf-8")


@pytest.fixture
def made(reviews):
    return lambda: load(reviews, "q1").decisions


def written(folder):
    """What shows that something was written, also where it is the same content."""
    marks = ((path, path.stat()) for path in sorted(folder.rglob("*")))
    return {path: (mark.st_ino, mark.st_size, mark.st_mtime_ns) for path, mark in marks}


def form_of(desk, headers=BOB, **changed):
    """Take the first form of the page, filled in."""
    page = desk.ask("/review", review="q1", headers=headers).html
    form = page[page.index('action="/review/decide"') :].partition("</form>")[0]
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    del fields["decision"]
    return {**fields, "reason": "daily report", "decision": "keep", **changed}


def test_the_user_whom_the_proxy_names_decides(desk, made):
    form = form_of(desk)
    answer = desk.ask("/review/decide", form, headers=BOB)
    assert answer.status == 303
    assert answer.headers["location"].startswith("/review?review=q1")
    (entry,) = made()
    assert (entry.item, entry.decision, entry.by, entry.via, entry.reason) == (
        form["item"], "keep", "bob", "page", "daily report",
    )  # fmt: skip
    page = desk.ask("/review", review="q1", state="keep", headers=BOB).text
    assert "Decided: keep by bob" in page


def test_without_a_named_user_nothing_is_decided(desk, made):
    form = form_of(desk)
    answer = desk.ask("/review/decide", form)
    assert answer.status == 400
    assert "Decisions need a user whom a trusted proxy names." in answer.text
    page = desk.ask("/review", review="q1")
    assert "You can read, but not decide" in page.text
    assert "/review/decide" not in page.html
    assert made() == ()


@pytest.fixture
def only_bob(warehouse, tmp_path):
    """A review whose first item has logins, and the client of its server."""
    base = read_state(Warehouse(str(warehouse)))
    found = new_review(base, NewReview(name="q1", at=AT, by="ana"), Budget())
    first = found.items[0].item_id
    about = {**found.about, first: replace(found.about[first], logins=("bob", "a@b.example"))}
    create(tmp_path, found.with_about(about))
    with serving(warehouse, reviews=str(tmp_path), **PROXY) as client:
        yield client.enter(), tmp_path


def test_an_item_with_logins_is_decided_by_these_users_alone(only_bob):
    desk, root = only_bob
    form = form_of(desk)
    token = form_of(desk, EVE)["csrf"]
    refused = desk.ask("/review/decide", form | {"csrf": token}, headers=EVE)
    assert refused.status == 400
    assert "it has other logins" in refused.text
    assert load(root, "q1").decisions == ()
    assert form_of(desk, EVE)["item"] != form["item"]
    assert "To decide it: bob, a@b.example." in desk.ask("/review", review="q1", headers=EVE).text
    assert desk.ask("/review/decide", form, headers=BOB).status == 303
    assert [each.by for each in load(root, "q1").decisions] == ["bob"]


def test_the_page_says_where_every_user_can_decide(desk, only_bob):
    page = desk.ask("/review", review="q1", headers=BOB).text
    assert "Every user whom the proxy names can decide every item" in page
    page = only_bob[0].ask("/review", review="q1", headers=BOB).text
    assert re.search(r"Every user whom the proxy names can decide ([0-9]+) of ([0-9]+) items", page)


def test_a_header_from_elsewhere_names_nobody(warehouse, reviews, made):
    with serving(warehouse, reviews=str(reviews), trusted_proxy=("10.9.9.9",)) as client:
        inside = client.enter()
        page = inside.ask("/review", review="q1", headers={"X-Forwarded-User": "bob"})
        assert "You can read, but not decide" in page.text
    assert made() == ()


def test_a_local_user_without_the_token_decides_nothing(warehouse, reviews, made):
    with serving(warehouse, reviews=str(reviews), **PROXY) as stranger:
        form = form_of(stranger.enter())
        assert stranger.ask("/review/decide", form, headers=BOB).status == 401
        assert stranger.ask("/review", review="q1", headers=BOB).status == 401
    assert made() == ()


@pytest.mark.parametrize(
    ("change", "headers", "status"),
    [
        ({"csrf": ""}, BOB, 400),
        ({"csrf": "0" * 64}, BOB, 400),
        ({}, EVE, 400),
        ({}, BOB | {"Origin": "http://evil.example"}, 403),
        ({}, BOB | {"Origin": "null"}, 403),
        ({}, BOB | {"Sec-Fetch-Site": "cross-site"}, 403),
    ],
    ids=["no token", "wrong token", "another's token", "other origin", "no origin", "cross-site"],
)
def test_a_form_of_another_page_or_user_is_refused(desk, made, change, headers, status):
    assert desk.ask("/review/decide", form_of(desk) | change, headers=headers).status == status
    assert made() == ()


@pytest.mark.parametrize("path", ["/reviews", "/review", "/review/decide"])
def test_reading_never_writes(desk, made, reviews, path):
    before = written(reviews)
    form = form_of(desk)
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        desk.ask(path, method=method, headers=BOB, **form)
    assert made() == ()
    assert written(reviews) == before
    assert desk.ask("/reviews", form, headers=BOB).status == 405
    assert desk.ask("/review", form, headers=BOB).status == 405


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"reason": "  "}, "needs a reason"),
        ({"decision": "destroy"}, "Unknown decision"),
        ({"item": "f" * 16}, "has no item"),
        ({"review": "../q1"}, "has no review"),
        ({"seen": "1"}, "was decided meanwhile"),
        ({"seen": "x"}, "was decided meanwhile"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(desk, made, change, says):
    answer = desk.ask("/review/decide", form_of(desk) | change, headers=BOB)
    assert answer.status == 400
    assert says in answer.text
    assert made() == ()


def test_what_was_decided_meanwhile_is_not_decided_over(desk, made):
    form = form_of(desk)
    eves = form_of(desk, EVE, decision="remove")
    assert desk.ask("/review/decide", form, headers=BOB).status == 303
    answer = desk.ask("/review/decide", eves, headers=EVE)
    assert "was decided meanwhile: bob decided keep" in answer.text
    assert desk.ask("/review/decide", eves | {"seen": "1"}, headers=EVE).status == 303
    assert [entry.by for entry in made()] == ["bob", "eve"]


def test_hostile_names_and_reasons_stay_text(desk, made):
    form = form_of(desk, reason=IMAGE)
    desk.ask("/review/decide", form, headers=BOB)
    for given in ({"state": "keep"}, {"state": "all"}, {"words": IMAGE}, {"owner": IMAGE}):
        page = desk.ask("/review", review="q1", headers=BOB, **given).html
        assert IMAGE not in page
        assert "<script>" not in page
    assert made()[0].reason == IMAGE


def test_reviews_are_listed_with_what_is_open(desk):
    page = desk.ask("/reviews")
    assert 'href="/review?review=q1"' in page.html
    assert "except for decisions of reviews" in page.text


def test_a_closed_or_changed_review_takes_no_decision(warehouse, reviews, tmp_path):
    root = tmp_path / "reviews"
    shutil.copytree(reviews, root)
    with serving(warehouse, reviews=str(root), **PROXY) as client:
        inside = client.enter()
        form = form_of(inside)
        (root / "q1" / "evidence.json").write_text("{}", encoding="utf-8")
        answer = inside.ask("/review/decide", form, headers=BOB)
        assert "is closed" in answer.text
        assert "/review/decide" not in inside.ask("/review", review="q1", headers=BOB).html
        (root / "q1" / "evidence.json").unlink()
        (root / "q1" / "decisions.jsonl").write_text("{}\n", encoding="utf-8")
        answer = inside.ask("/review", review="q1", headers=BOB)
        assert answer.status == 503
        assert "A review cannot be read." in answer.text


def test_without_the_option_there_is_no_such_page(client):
    assert "Reviews" not in client.ask("/").text
    for path in ("/reviews", "/review"):
        assert client.ask(path).status == 404
    assert client.ask("/review/decide", {"review": "q1"}).status == 404


def test_the_same_folder_is_decided_on_by_command_and_page(desk, reviews, made):
    form = form_of(desk)
    desk.ask("/review/decide", form, headers=BOB)
    decide(reviews, "q1", lambda now: [], "command")
    assert len(made()) == 1


def test_a_page_names_no_path_and_no_review_of_another_cluster(desk, reviews):
    other = reviews / "secret-takeover"
    other.mkdir()
    try:
        for text in ("{}", "no JSON"):
            (other / "review.json").write_text(text, encoding="utf-8")
            unknown = desk.ask("/review", review="none", headers=BOB)
            hidden = desk.ask("/review", review="secret-takeover", headers=BOB)
            listed = desk.ask("/reviews", headers=BOB)
            for page in (unknown, hidden, listed):
                assert str(reviews) not in page.html
            assert "q1" not in unknown.text.partition("has no review")[2]
            assert "secret-takeover" not in unknown.html + listed.html
            assert "Reviews that cannot be read: 1." in listed.text
            assert "q1" in listed.text
    finally:
        shutil.rmtree(other)


def test_an_error_names_no_path_of_the_warehouse(desk, warehouse):
    page = desk.ask("/", cluster="another")
    assert "is not in this warehouse" in page.text
    assert str(warehouse) not in page.html
