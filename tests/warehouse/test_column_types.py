"""The columns of the contract are the same to Spark, to Arrow and to Delta."""

from __future__ import annotations

import json

import pytest
from deltalake import Schema
from pyspark.sql.pandas.types import to_arrow_schema

from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import schema_of

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
