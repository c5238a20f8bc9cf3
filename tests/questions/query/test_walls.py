"""Two walls between a person's SQL and the warehouse: each holds when the other is not there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclkit.errors import UsageError
from aclkit.warehouse.duck import connect
from aclkit.warehouse.duck_guard import checked_statement
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.sql import run_sql
from tests.questions.query import small_warehouse as small
from tests.questions.query.statements import HONEST, HOSTILE, READING, SETTING, WRITING, fill

SECRET = "not-for-you"
BEHIND = "tests.questions.query.behind_the_guard"


class Place:
    """A warehouse, and a file beside it that nothing but an attack would read."""

    def __init__(self, folder: Path) -> None:
        self.root, self.outside = folder / "warehouse", folder / "outside.parquet"
        self.root.mkdir()
        small.build(self.root)
        pq.write_table(pa.table({"a": [SECRET]}), self.outside)

    def fill(self, text: str) -> str:
        file = sorted(self.root.glob("explain_pair/*.parquet"))[0]
        served = f"published://0/{file.name}"
        return fill(text, file=file, served=served, warehouse=self.root, outside=self.outside)

    def content(self) -> dict[str, str]:
        """Every file and folder beside the warehouse and in it, byte by byte."""
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            for path in sorted(self.root.parent.rglob("*"))
        }


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("walls"))


@pytest.fixture(scope="module")
def sealed(place):
    """One connection for all: nothing that is asked may change it."""
    with connect(open_warehouse(str(place.root)), sealed=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def plain(place):
    with connect(open_warehouse(str(place.root))) as opened:
        yield opened


@pytest.fixture(scope="module")
def before(place):
    return place.content()


# What DuckDB says anew each time: how long it took, and what it drew by lot for its estimates.
CHANGING = ("EXPLAIN", "SUMMARIZE")


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_question_is_answered_as_ever(sealed, plain, text):
    found = list(run_sql(sealed, text).rows)
    assert found
    if not any(word in text for word in CHANGING):
        assert Counter(map(str, found)) == Counter(map(str, plain.execute(text).fetchall()))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_statement_is_refused_in_words(sealed, place, before, monkeypatch, text):
    monkeypatch.chdir(place.root.parent)
    with pytest.raises(UsageError) as refused:
        list(run_sql(sealed, place.fill(text)).rows)
    said = str(refused.value)
    assert (
        said.startswith(("Invalid SQL: ", "Expected ", "A PIVOT ")) or " is not allowed. " in said
    )
    assert SECRET not in said
    assert refused.value.exit_code == 2
    assert place.content() == before


@pytest.mark.parametrize("text", [*WRITING, *READING, *SETTING])
def test_what_is_hostile_is_refused_before_it_is_bound(sealed, place, text):
    with pytest.raises((UsageError, duckdb.ParserException)):
        checked_statement(sealed, place.fill(text))


def outcome(tables, text):
    """Return the rows as text, or why there are none."""
    try:
        return str(list(run_sql(tables, text).rows))
    except UsageError as error:
        return str(error)


@pytest.mark.parametrize("depth", [200, 240, 270, 300, 500])
def test_what_is_nested_is_answered_or_refused_in_words(sealed, depth):
    assert outcome(sealed, f"SELECT {'upper(' * depth}'a'{')' * depth}") in (
        ["[('A',)]"] if depth == 200 else ["[('A',)]", "Invalid SQL: it is nested too deeply"]
    )


@pytest.mark.parametrize("call", ["pg_sleep(1)", "pg_get_viewdef(1)", "get_block_size('memory')"])
def test_a_macro_is_no_better_than_its_definition(sealed, call):
    with pytest.raises(UsageError, match="not allowed"):
        checked_statement(sealed, f"SELECT {call}")


def test_macros_that_only_compute_are_answered(sealed):
    text = "SELECT nullif(1, 2), list_sum([1, 2]), array_append([1], 2), fdiv(1, 2), ago('1 day')"
    assert list(run_sql(sealed, text).rows)


def test_zoned_times_come_one_after_the_other(sealed):
    text = "SELECT TIMESTAMPTZ '2026-01-01 02:00:00+02', i FROM range(1000000000000) t(i)"
    answer = run_sql(sealed.cursor(), text)
    assert str(next(iter(answer.rows))[0]) == "2026-01-01 00:00:00"


def attack(place: Place, walls: str, statements: tuple[str, ...]) -> dict:
    """Run statements in a process that does not check them."""
    ended = subprocess.run(
        [
            sys.executable,
            "-B",
            "-m",
            BEHIND,
            str(place.root),
            walls,
        ],
        input=json.dumps([place.fill(text) for text in statements]),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "SECRET": SECRET},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize("walls", ["sealed", "sealed,limits", "landlock", "sealed,landlock,limits"])
def test_without_the_guard_nothing_is_written_even_by_root(tmp_path, walls):
    place = Place(tmp_path)
    before = place.content()
    told = attack(place, walls, WRITING)
    if "landlock" in walls and not told["landlock"]:
        pytest.skip("no Landlock on this machine")
    assert place.content() == before
    assert not [text for text, said in told["told"].items() if "COPY" in text and said == "[(1,)]"]
    if "landlock" in walls:
        assert told["threads"] > 1
        assert told["free"] == 0
    assert told["file size"] == (0 if "limits" in walls else -1)


def test_without_both_walls_the_warehouse_is_destroyed(tmp_path):
    """Else the tests above would show nothing."""
    place = Place(tmp_path)
    before = place.content()
    attack(place, "", WRITING[:1])
    after = place.content()
    assert [path for path in before if before[path] != after[path]] == [place.fill("{file}")]
    with pytest.raises(Exception, match="Cannot read"):
        connect(open_warehouse(str(place.root)))


def test_without_the_guard_nothing_else_is_read(tmp_path):
    place = Place(tmp_path)
    told = attack(place, "sealed", (*READING, *SETTING))["told"]
    said = " ".join(said.partition("\n")[0] for said in told.values())
    assert SECRET not in said
    assert "root:" not in said
    assert str(tmp_path) not in told[place.fill("SELECT current_setting('allowed_paths')")]


def test_a_sealed_connection_says_which_table_lacks_a_file(tmp_path):
    place = Place(tmp_path)
    published = open_warehouse(str(place.root))
    place.root.joinpath("host").rename(tmp_path / "gone")
    shutil.copytree(tmp_path / "gone" / "_delta_log", place.root / "host" / "_delta_log")
    with pytest.raises(Exception, match=r"Cannot read host of .*No files found"):
        connect(published, sealed=True)


def test_a_sealed_connection_takes_half_of_the_memory(sealed, plain):
    asked = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
    ((half,),), ((most,),) = (c.execute(asked).fetchall() for c in (sealed, plain))
    # DuckDB itself takes four fifths.
    assert half / most == pytest.approx(5 / 8, rel=0.02)


def test_the_tree_is_that_of_a_version_of_duckdb_that_was_looked_at():
    major, minor, *_ = duckdb.__version__.split(".")
    assert (major, minor) == ("2", "0")
