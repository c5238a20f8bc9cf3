"""Names of the JVM are looked up once, and anew behind an import."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from aclkit.runtime.jvm_names import remember_names

ANSWERS = {
    "r\nu\nfunctions\nrj\ne\n": "ycorg.apache.spark.sql.functions",
    "r\nu\norg\nrj\ne\n": "yp",
    "r\nm\norg.apache.spark.sql.functions\ncol\ne\n": "ym",
    "r\nm\njava.lang.Integer\nMAX_VALUE\ne\n": "yi2147483647",
    "r\nu\nnothing\nrj\ne\n": "x",
    "c\nz:org.apache.spark.sql.functions\ncol\nsid\ne\n": "yro7",
    "j\ni\nrj\nsorg.apache.spark.sql.*\ne\n": "yv",
}
LOOKED_UP, SAID, NOTHING, CALLED, IMPORTED = (
    list(ANSWERS)[:3], list(ANSWERS)[3], list(ANSWERS)[4], list(ANSWERS)[5], list(ANSWERS)[6],
)  # fmt: skip


@pytest.fixture
def asked():
    """What the JVM is asked, by the ``ask`` of a gateway that remembers."""
    commands = []

    def send_command(command, retry=True, binary=False):
        commands.append(command)
        return ANSWERS[command]

    client = SimpleNamespace(send_command=send_command)
    remember_names(SimpleNamespace(_gateway_client=client))
    return SimpleNamespace(ask=client.send_command, commands=commands)


@pytest.mark.parametrize("command", LOOKED_UP)
def test_what_a_name_stands_for_is_asked_once(asked, command):
    assert [asked.ask(command) for _ in range(3)] == [ANSWERS[command]] * 3
    assert asked.commands == [command]


@pytest.mark.parametrize("command", [SAID, NOTHING, CALLED])
def test_values_calls_and_what_is_not_there_are_asked_each_time(asked, command):
    assert [asked.ask(command) for _ in range(2)] == [ANSWERS[command]] * 2
    assert asked.commands == [command] * 2


def test_an_import_makes_names_stand_for_something_else(asked):
    asked.ask(LOOKED_UP[1])
    asked.ask(IMPORTED)
    asked.ask(LOOKED_UP[1])

    assert asked.commands == [LOOKED_UP[1], IMPORTED, LOOKED_UP[1]]


@pytest.mark.spark
def test_a_column_of_a_known_function_is_one_question_to_the_jvm(spark, monkeypatch):
    from pyspark.sql import functions as F

    F.col("a")
    client = spark.sparkContext._gateway._gateway_client
    connection = client._get_connection()
    client._give_back_connection(connection)
    told, send_command = [], type(connection).send_command

    def telling(self, command):
        told.append(command)
        return send_command(self, command)

    monkeypatch.setattr(type(connection), "send_command", telling)
    F.col("b")

    # Beside it, the JVM may be told of what is garbage.
    assert [command for command in told if not command.startswith("m\n")] == [
        "c\nz:org.apache.spark.sql.functions\ncol\nsb\ne\n"
    ]
