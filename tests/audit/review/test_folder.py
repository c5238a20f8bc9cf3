"""Reviews on a disk: whole or not at all, one writer at a time, and what a kill leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from aclkit.audit.review.decisions import COMMAND, Wanted, pretty
from aclkit.audit.review.folder import (
    DECISIONS,
    EVIDENCE,
    REVIEW,
    append,
    changing,
    create,
    decide,
    evidence_of,
    load,
    load_one,
    names_of,
    write_closed,
)
from aclkit.errors import DataError, UsageError
from tests.audit.review import reviews
from tests.audit.review.reviews import review_of

FIRST, SECOND, *_ = review_of().items


@pytest.fixture
def root(tmp_path):
    create(tmp_path, review_of())
    return tmp_path


def wanted(item=FIRST, decision="keep"):
    return [Wanted(item.item_id, decision, "x", "bob")]


def decide_one(root, item=FIRST):
    return decide(root, "q1", lambda _: wanted(item), COMMAND)


def test_a_review_comes_back_with_its_decisions(root):
    decide_one(root)
    decide_one(root, SECOND)
    stored = load(root, "q1")
    assert stored.review == review_of()
    assert [each.item for each in stored.decisions] == [FIRST.item_id, SECOND.item_id]
    assert (stored.is_closed, stored.is_torn) == (False, False)
    assert stored.open_items == len(stored.review.items) - 2


def test_a_name_is_taken_once_and_is_no_path(root):
    for name, says in (("q1", "exists already"), ("../x", "Invalid name"), (".x", "Invalid")):
        with pytest.raises(UsageError, match=says):
            create(root, review_of(name=name))
    for name in ("../q1", "q9", ""):
        with pytest.raises(UsageError, match="has no review"):
            load(root, name)


def test_the_only_open_review_needs_no_name(root):
    assert load_one(root, None).review.name == "q1"
    create(root, review_of(name="q2"))
    with pytest.raises(UsageError, match="Several reviews are open: q1, q2"):
        load_one(root, None)
    with pytest.raises(UsageError, match="No review is open"):
        load_one(root / "nothing", None)


def test_a_line_that_was_not_written_whole_does_not_count_and_goes_with_the_next(root):
    decide_one(root)
    path = root / "q1" / DECISIONS
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    stored = load(root, "q1")
    assert (len(stored.decisions), stored.is_torn) == (1, True)
    decide_one(root, SECOND)
    assert (len(load(root, "q1").decisions), load(root, "q1").is_torn) == (2, False)
    assert path.read_bytes().startswith(whole)


@pytest.mark.parametrize("place", ["", "x" * 40, "é"])
def test_a_decision_that_was_changed_is_refused_with_its_line(root, place):
    decide_one(root)
    path = root / "q1" / DECISIONS
    path.write_bytes(path.read_bytes().replace(b'"x"', f'"{place}"'.encode()))
    with pytest.raises(DataError, match="Line 1 was changed"):
        load(root, "q1")


def test_a_review_that_was_changed_is_refused_with_and_without_its_seal(root):
    path = root / "q1" / REVIEW
    sound = path.read_text(encoding="utf-8")
    path.write_text(sound.replace('"ana"', '"eve"'), encoding="utf-8")
    with pytest.raises(DataError, match="does not have its seal"):
        load(root, "q1")
    other = review_of(started_by="eve")
    path.write_text(pretty({**other.said, "seal": other.seal}), encoding="utf-8")
    decide_one(root)
    path.write_text(sound, encoding="utf-8")
    with pytest.raises(DataError, match="Decision 1 does not follow the review"):
        load(root, "q1")


def test_an_error_while_choosing_changes_nothing(root):
    def choose(_):
        raise UsageError("no")

    with pytest.raises(UsageError, match="no"):
        decide(root, "q1", choose, COMMAND)
    assert load(root, "q1").decisions == ()


def test_two_deciders_at_once_make_one_chain(root):
    def work():
        for _ in range(10):
            decide_one(root)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(load(root, "q1").decisions) == 30


def close_it(root):
    with changing(root, "q1") as stored:
        append(stored, [Wanted(i.item_id, "keep", "x", "b") for i in stored.review.items], COMMAND)
        stored = load(root, "q1")
        evidence = reviews.evidence_of(stored.review, stored.decisions)
        write_closed(stored, evidence, "<html>")


def test_a_closed_review_accepts_no_decision_and_has_its_evidence(root):
    with pytest.raises(UsageError, match="is not closed"):
        evidence_of(load(root, "q1"))
    close_it(root)
    assert evidence_of(load(root, "q1")).review.name == "q1"
    with pytest.raises(UsageError, match="is closed"):
        decide_one(root)


def test_evidence_that_was_changed_is_not_gone_on_from(root):
    close_it(root)
    path = root / "q1" / EVIDENCE
    path.write_text(
        path.read_text(encoding="utf-8").replace('"by": "ana"', '"by": "eve"'), encoding="utf-8"
    )
    with pytest.raises(DataError, match="hash at the end"):
        evidence_of(load(root, "q1"))


KILLED = """
    import sys
    from pathlib import Path
    from tests.audit.review.test_folder import close_it, create, decide_one, review_of
    root = Path(sys.argv[2])
    if sys.argv[1] == "decide":
        decide_one(root)
    else:
        close_it(root)
"""


def killed(root, what, point):
    code = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), what, str(root)],
        env={**os.environ, "ACLKIT_FAIL_POINT": point},
        check=False,
    ).returncode
    assert code == -9


def test_a_decider_that_is_killed_between_two_writes_leaves_a_sound_review(root):
    decide_one(root, SECOND)
    killed(root, "decide", "half-a-decision")
    stored = load(root, "q1")
    assert (len(stored.decisions), stored.is_torn) == (1, True)
    decide_one(root)
    assert len(load(root, "q1").decisions) == 2


def test_a_close_that_is_killed_leaves_an_open_review_that_can_be_closed(root):
    killed(root, "close", "before-evidence")
    assert not load(root, "q1").is_closed
    close_it(root)
    assert load(root, "q1").is_closed


def test_what_a_killed_start_left_goes_with_the_next_one(root):
    (root / ".new-left").mkdir()
    create(root, review_of(name="q2"))
    assert names_of(root) == ["q1", "q2"]
    assert not (root / ".new-left").exists()
