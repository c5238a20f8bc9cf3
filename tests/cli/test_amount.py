"""Which runs are short, as far as that is known before they begin."""

from __future__ import annotations

import pytest

from aclkit.cli import amount
from aclkit.cli.amount import SHORT, TINY, length_of, length_of_run
from aclkit.pipeline.replay.intake import Source, look_at
from tests.cli.running import KRAFT
from tests.questions.query import small_warehouse as small

B1 = 19_600 + 400 + 5_000
B2 = 100_000 + 2_500 + 10_000


@pytest.mark.parametrize(
    ("known", "length"),
    [
        ({"stored": 0}, "tiny"),
        ({"stored": TINY}, "tiny"),
        ({"stored": TINY + 1}, "short"),
        ({"stored": B1}, "short"),
        ({"stored": SHORT}, "short"),
        ({"stored": SHORT + 1}, "long"),
        ({"stored": B2}, "long"),
        # A log that is read again says what is stored already.
        ({"stored": B1, "read_bytes": 80 * B1}, "short"),
        ({"stored": 0, "read_bytes": 80 * B2}, "long"),
        ({"stored": B1, "named_bytes": 20 * 5_400}, "short"),
        ({"stored": B1, "named_bytes": 20 * 50_000}, "long"),
    ],
)
def test_a_run_is_as_long_as_there_are_acls_and_names(known, length):
    assert length_of(**known) == length


def test_a_first_run_is_as_long_as_its_log(tmp_path):
    intake = look_at([Source("metadata-log", str(KRAFT))])
    assert length_of_run(str(tmp_path / "new"), intake) == "tiny"
    with (tmp_path / "dump.txt").open("wb") as file:
        file.truncate(81 * SHORT)
    long = look_at([Source("dump-log", file.name)])
    assert length_of_run(str(tmp_path / "new"), long) == "long"


def test_a_later_run_is_as_long_as_what_is_stored(tmp_path, monkeypatch):
    counts = {"acls": TINY, "principal": 1, "host": 1, "resource": SHORT - 2, "explain_pair": 100}
    small.publish(tmp_path, small.build(tmp_path), run_number=2, counts=counts)
    assert length_of_run(str(tmp_path)) == "long"
    # What a replay said later counts, and of the decisions who and what was asked about.
    small.publish(tmp_path, {}, run_number=3, job="replay", counts={"acls_alive": 7})
    monkeypatch.setattr(amount, "SHORT", SHORT + 9)
    assert length_of_run(str(tmp_path)) == "short"
    monkeypatch.setattr(amount, "SHORT", SHORT + 8)
    assert length_of_run(str(tmp_path)) == "long"


def test_a_run_that_says_no_number_of_acls_may_have_many(tmp_path):
    small.publish(tmp_path, small.build(tmp_path), run_number=2, counts={"rejects": 0})
    assert length_of_run(str(tmp_path)) == "long"


def test_of_a_warehouse_at_a_uri_nothing_is_known():
    intake = look_at([Source("metadata-log", str(KRAFT))])
    assert length_of_run("s3://bucket/warehouse", intake) == "long"


def test_a_folder_as_inventory_may_hold_anything(tmp_path):
    assert length_of_run(str(tmp_path / "new")) == "tiny"
    assert length_of_run(str(tmp_path / "new"), named=[str(tmp_path)]) == "long"


def test_a_file_that_is_not_there_is_told_by_who_reads_it(tmp_path):
    assert length_of_run(str(tmp_path / "new"), named=[str(tmp_path / "none.csv")]) == "long"
