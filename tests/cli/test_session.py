"""What a command's session is told of the places that the command was told."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from aclkit.cli import session
from aclkit.cli.context import Context
from aclkit.runtime import spark as sessions


@pytest.fixture
def told(monkeypatch):
    """Return the URIs that are asked for, and those that Spark is told to open."""
    asked, opened = [], []
    monkeypatch.setattr(session, "require_reachable", asked.append)
    monkeypatch.setattr(sessions, "build_session", lambda *_, uris, **__: opened.extend(uris))

    def run(warehouse, *words):
        @click.command()
        @click.option("--source", multiple=True)
        @click.option("--principals")
        @click.option("--webhook")
        @click.option("--seconds", type=float)
        def command(**_):
            with session.late_session(Context(warehouse=warehouse), "test") as start:
                start()

        result = CliRunner().invoke(command, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert asked == opened
        return opened

    return run


def test_a_session_opens_the_warehouse_and_all_else_that_lies_on_s3(told):
    words = ("--source", "metadata-log:s3://logs/x", "--source", "metadata-log:/var/x")
    more = ("--principals", "s3a://lists/p.csv", "--webhook", "https://host/x", "--seconds", "1")
    assert told("s3a://b/w", *words, *more) == ["s3a://b/w", "s3://logs/x", "s3a://lists/p.csv"]


def test_a_session_on_this_machine_opens_this_machine_alone(told):
    assert told("/data/w", "--source", "metadata-log:/var/x") == ["/data/w"]


@pytest.mark.usefixtures("spark")
def test_a_small_cluster_is_materialized_without_spark(replayed, tmp_path, monkeypatch):
    warehouse = replayed.copy(tmp_path / "w")
    monkeypatch.delattr(sessions, "build_session")
    warehouse.run("materialize", "--dense", "always")
    (row,) = warehouse.sql("SELECT count(*) AS decided FROM explain WHERE rule = 'MatchingAcl'")
    assert int(row["decided"]) > 1_000


def test_spark_starts_once_and_only_when_it_is_asked_for(monkeypatch):
    started = []
    monkeypatch.setattr(sessions, "build_session", lambda *_, **__: started.append("a session"))
    with session.late_session(Context(), "test") as start:
        assert started == []
        start()
        start()
    assert started == ["a session"]
