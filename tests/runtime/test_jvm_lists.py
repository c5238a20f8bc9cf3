"""Lists reach the JVM in few messages, whole and in their order."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark


@pytest.fixture
def told(spark, monkeypatch):
    """What the JVM is told, what is garbage aside."""
    client = spark.sparkContext._gateway._gateway_client
    connection = client._get_connection()
    client._give_back_connection(connection)
    told, send_command = [], type(connection).send_command

    def telling(self, command):
        if not command.startswith("m\n"):
            told.append(command)
        return send_command(self, command)

    monkeypatch.setattr(type(connection), "send_command", telling)
    return told


@pytest.mark.parametrize(("length", "messages"), [(1, 1), (10, 1), (11, 4), (35, 8)])
def test_a_list_takes_few_messages_and_is_whole(spark, told, length, messages):
    words = [f"w{number}" for number in range(length)]
    client = spark.sparkContext._gateway._gateway_client
    convert = client.converters[0].convert
    convert(words, client)  # names are looked up once
    told.clear()
    made = convert(words, client)
    assert len(told) == messages
    assert list(made) == words


def test_columns_and_rows_come_as_they_were_given(spark):
    names = [f"c{number}" for number in range(23)]
    columns = [F.lit(number).alias(name) for number, name in enumerate(names)]
    frame = spark.range(1).select(*columns).select(*reversed(names))
    assert frame.columns == names[::-1]
    assert [tuple(row) for row in frame.collect()] == [tuple(range(22, -1, -1))]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "[]"), ([None], "[null]"), (["a", None], "[a, null]"), ([1, 2], "[1, 2]"),
        ([["a"], ["b", "c"]], "[[a], [b, c]]"),
    ],
)  # fmt: skip
def test_all_other_lists_are_made_as_ever(spark, values, said):
    assert spark.sparkContext._jvm.java.util.ArrayList(values).toString() == said
