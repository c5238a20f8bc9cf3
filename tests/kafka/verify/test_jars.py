"""Where Kafka's jars are looked for, and what is said when they cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclkit.errors import SurroundingsError
from aclkit.kafka.verify.jars import KAFKA, VERSION, class_path, kafka_jar_folder
from aclkit.runtime.jars import wrong_jars
from aclkit.runtime.surroundings import jar_folder


def test_they_lie_beside_deltas_and_not_among_them(tmp_path):
    assert kafka_jar_folder({}).parent == jar_folder({}).parent
    assert kafka_jar_folder({"ACLKIT_JARS": str(tmp_path / "a")}) == tmp_path / "kafka-jars"
    assert kafka_jar_folder({"ACLKIT_KAFKA_JARS": str(tmp_path)}) == tmp_path


def test_the_version_that_is_told_is_that_of_the_jars():
    assert f"org.apache.kafka_kafka-metadata-{VERSION}.jar" in KAFKA.digests


def test_no_network_is_told_with_what_to_do(tmp_path, monkeypatch):
    spark_submit = tmp_path / "bin" / "spark-submit"
    spark_submit.parent.mkdir()
    spark_submit.write_text("#!/bin/sh\necho no route to host; exit 1\n")
    spark_submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path / "jars"))
    with pytest.raises(SurroundingsError, match=r"no route to host\n.*set ACLKIT_KAFKA_JARS to"):
        class_path()


def test_a_spark_home_without_spark_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path / "jars"))
    with pytest.raises(SurroundingsError, match="Spark's resolver does not run"):
        class_path()


@pytest.mark.kafka
def test_a_spark_without_janino_is_told(tmp_path, monkeypatch, kafka_path):
    assert not wrong_jars(KAFKA, Path(kafka_path[0]).parent)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(SurroundingsError, match="expected Spark's janino jar in"):
        class_path()


@pytest.mark.kafka
def test_a_jar_that_was_changed_is_not_loaded(tmp_path, monkeypatch, kafka_path):
    for jar in kafka_path[: len(KAFKA.digests)]:
        (tmp_path / jar.name).write_bytes(jar.read_bytes())
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path))
    assert class_path() != kafka_path
    jar = tmp_path / max(KAFKA.digests)
    jar.write_bytes(jar.read_bytes()[:-1])
    with pytest.raises(
        SurroundingsError, match=r"expected.*fetch it anew: python -m aclkit\.kafka\.verif"
    ):
        class_path()
