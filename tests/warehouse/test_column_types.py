"""The columns of the contract are the same to Spark, to Arrow and to Delta."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema
from pyspark.sql.pandas.types import to_arrow_schema

from aclkit.errors import DataError
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.commits import Commit, append_files, describe_table, make_table, replace_files
from aclkit.warehouse.formats import STEPS
from aclkit.warehouse.frames import schema_of
from aclkit.warehouse.location import Location
from aclkit.warehouse.new_files import write_files
from aclkit.warehouse.run import begin_run
from aclkit.warehouse.schemas import TABLES
from tests.warehouse.aging import be_older_aclkit
from tests.warehouse.pair_rows import pairs

pytestmark = pytest.mark.usefixtures("spark")


def test_rows_of_the_driver_get_the_types_that_spark_gives_them():
    for table in TABLES:
        assert arrow_schema(table) == to_arrow_schema(schema_of(table), timezone="UTC"), table


def test_a_table_that_grows_gets_the_columns_that_spark_gives_it():
    for table in TABLES:
        grown = json.loads(Schema.from_arrow(arrow_schema(table)).to_json())
        assert grown == json.loads(schema_of(table).json()), table


def test_some_columns_are_those_of_these_names():
    assert arrow_schema("finding", {"holds_for", "evidence"}).names == ["holds_for", "evidence"]


REQUIRED = TABLES["explain_pair"].required


def said_of(folder, table):
    """Return all that a table's log says of its rows and columns, and who may read it."""
    found = DeltaTable(str(folder / table))
    protocol = found.protocol()
    return (
        found.metadata().description,
        json.loads(found.schema().to_json()),
        found.metadata().configuration,
        (protocol.min_reader_version, protocol.min_writer_version),
    )


def append(folder, rows):
    append_files(str(folder / "explain_pair"), rows, Commit("run", "app", 1))


def replace(folder, rows):
    replace_files(str(folder / "explain_pair"), rows.to_reader(), Commit("run", "app", 1))


def make(folder, rows):
    make_table(str(folder / "explain_pair"), "explain_pair")


def take_over(folder, rows):
    with begin_run(None, str(folder), "replay", lock_timeout=0) as run:
        files = [*write_files(run.store.place, "explain_pair", [rows])]
        run.store.take_over("explain_pair", files, None)


WAYS = (append, replace, make, take_over)


@pytest.mark.parametrize("way", WAYS)
def test_a_table_explains_itself_whichever_way_makes_it(tmp_path, way):
    way(tmp_path, pairs("a"))
    description, schema, _, protocol = said_of(tmp_path, "explain_pair")
    assert description == TABLES["explain_pair"].description
    assert [(c["name"], c["metadata"]["comment"]) for c in schema["fields"]] == [
        (name, meaning) for name, _, meaning in TABLES["explain_pair"].columns
    ]
    assert {c["name"] for c in schema["fields"] if not c["nullable"]} == REQUIRED
    assert protocol == (1, 2)


def test_every_column_of_every_table_has_a_meaning():
    meanings = [meaning for table in TABLES.values() for _, _, meaning in table.columns]
    assert all(meanings)
    assert all(table.required <= {*table.column_names} for table in TABLES.values())


def test_a_column_that_came_later_is_never_not_null():
    later = [
        (table, name) for step in STEPS for table in step.columns for name in step.columns[table]
    ]
    assert [(table, name) for table, name in later if name in TABLES[table].required] == []


def with_null(column):
    rows = pairs("a", "b")
    nulls = pa.array([None, "b"], rows.schema.field(column).type)
    return rows.set_column(rows.schema.get_field_index(column), column, nulls)


@pytest.mark.parametrize("column", sorted(REQUIRED))
@pytest.mark.parametrize("way", [append, replace, take_over])
def test_a_null_is_refused_where_the_contract_has_none(tmp_path, way, column):
    with pytest.raises(DataError, match=f"Expected no null in {column} of .*explain_pair, found 1"):
        way(tmp_path, with_null(column))
    assert not DeltaTable.is_deltatable(str(tmp_path / "explain_pair"))


def test_a_null_is_refused_in_a_table_of_an_older_aclkit_too(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        be_older_aclkit(patch)
        append(tmp_path, pairs("a"))
    assert not any(column["metadata"] for column in said_of(tmp_path, "explain_pair")[1]["fields"])
    with pytest.raises(DataError, match="Expected no null in resource_name"):
        append_files(
            str(tmp_path / "explain_pair"), with_null("resource_name"), Commit("r", "app", 2, on=0)
        )


def test_a_table_of_an_older_aclkit_is_described_once_and_keeps_what_may_be_null(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        be_older_aclkit(patch)
        append(tmp_path, pairs("a"))
    _, before, properties, _ = said_of(tmp_path, "explain_pair")
    place = Location(str(tmp_path))
    assert describe_table(place, "explain_pair", Commit("run", "app", 2, on=0))
    assert not describe_table(place, "explain_pair", Commit("run", "app", 3, on=1))
    description, schema, configuration, protocol = said_of(tmp_path, "explain_pair")
    assert (description, configuration, protocol) == (
        TABLES["explain_pair"].description, properties, (1, 2)
    )  # fmt: skip
    assert all(column["nullable"] for column in schema["fields"])
    assert [{**column, "metadata": {}} for column in schema["fields"]] == before["fields"]
    assert schema["fields"][1]["metadata"] == {"comment": "type:name"}
    assert DeltaTable(str(tmp_path / "explain_pair")).to_pyarrow_table().num_rows == 1


@pytest.mark.parametrize("change", ["compact", "delete", "restore"])
def test_what_maintenance_does_leaves_the_descriptions(tmp_path, change):
    append(tmp_path, pairs("a"))
    append_files(str(tmp_path / "explain_pair"), pairs("b"), Commit("run", "app", 2, on=0))
    before = said_of(tmp_path, "explain_pair")
    table = DeltaTable(str(tmp_path / "explain_pair"))
    {
        "compact": table.optimize.compact,
        "delete": lambda: table.delete("resource_name = 'a'"),
        "restore": lambda: table.restore(0),
    }[change]()
    assert said_of(tmp_path, "explain_pair") == before


def test_arrow_and_stored_columns_have_one_order_and_one_type(tmp_path):
    for name in TABLES:
        make_table(str(tmp_path / name), name)
        stored = pa.schema(DeltaTable(str(tmp_path / name)).schema().to_arrow())
        assert stored.names == arrow_schema(name).names
