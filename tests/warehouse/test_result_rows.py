"""An answer as tuples, Arrow, pandas and polars; and DuckDB under a notebook's kernel."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime

import pyarrow as pa
import pytest

from aclkit.errors import SurroundingsError
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.result_rows import Rows
from aclkit.warehouse.sql import run_sql
from tests.questions.query import small_warehouse as small

KERNEL = """
import sys, types

class Kernel:
    config = {"IPKernelApp": {}}

# As in ipykernel, where ipywidgets is not installed.
sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython"].get_ipython = get_ipython = lambda: Kernel
sys.modules["ipywidgets"] = None
from aclkit.api import connect, open_warehouse, run_sql
with connect(open_warehouse(sys.argv[1])) as connection:
    print(run_sql(connection, "SELECT count(*) AS n FROM host").arrow().to_pylist())
"""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "warehouse"
    small.build(path)
    return path


@pytest.fixture(scope="module")
def connection(warehouse):
    with connect(open_warehouse(str(warehouse))) as opened:
        yield opened


def test_a_kernel_without_widgets_opens_a_warehouse(warehouse):
    words = [sys.executable, "-c", KERNEL, str(warehouse)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    assert (done.stdout, done.stderr) == (f"[{{'n': {len(small.HOSTS)}}}]\n", "")


def test_rows_become_columns_with_their_types():
    rows = Rows(("a", "n", "nothing", "a"), [("x", 1, None, "y"), (None, 2, None, "z")])
    table = rows.arrow()
    assert table.schema.names == ["a", "n", "nothing", "a_1"]
    assert table.schema.types == [pa.string(), pa.int64(), pa.string(), pa.string()]
    assert table.to_pylist()[1] == {"a": None, "n": 2, "nothing": None, "a_1": "z"}
    assert Rows(("a",), []).arrow().schema.types == [pa.string()]


def test_what_arrow_does_not_know_becomes_text():
    rows = Rows(("mixed", "acl"), [(1, small.acl(1)), ("x", None)])
    assert rows.arrow().to_pylist() == [
        {"mixed": "1", "acl": str(small.acl(1))},
        {"mixed": "x", "acl": None},
    ]


def test_columns_of_sql_keep_their_types_and_times_are_utc(connection):
    table = run_sql(
        connection,
        "SELECT sum(i) AS s, count(*) AS n, [1] AS l, true AS b, "
        "TIMESTAMPTZ '2026-01-01 02:00:00+02' AS t FROM range(4) t(i)",
    ).arrow()
    assert table.schema.types[:2] == [pa.int64(), pa.int64()]
    assert table.to_pylist() == [
        {"s": 6, "n": 4, "l": [1], "b": True, "t": datetime.fromisoformat("2026-01-01")}
    ]


@pytest.mark.parametrize("text", ["SHOW TABLES", "DESCRIBE host", "VALUES (1, 'x')"])
def test_what_is_no_plain_select_has_columns_too(connection, text):
    answer = run_sql(connection, text)
    wanted = list(run_sql(connection, text).rows)
    assert [tuple(row.values()) for row in answer.arrow().to_pylist()] == wanted


def test_pandas_and_polars_hold_what_arrow_holds():
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    rows = Rows(("a", "n"), [("x", 1), ("y", None)])
    assert rows.pandas()["a"].tolist() == ["x", "y"]
    assert rows.polars().rows() == [("x", 1), ("y", None)]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_what_to_do(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SurroundingsError, match=f"pip install {package}"):
        getattr(Rows(("a",), [(1,)]), package)()
