"""Where Kafka's jars are looked for, and what is said when they cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclkit.errors import SurroundingsError
from aclkit.kafka.verify.jars import JARS_OF, NEWEST, VERSIONS, class_path
from aclkit.runtime.environment import jar_folder
from aclkit.runtime.jars import wrong_jars


def test_they_lie_beside_deltas_and_not_among_them(tmp_path):
    assert JARS_OF[NEWEST].folder({}).parent == jar_folder({}).parent
    assert JARS_OF[NEWEST].folder({"ACLKIT_JARS": str(tmp_path / "a")}) == tmp_path / "kafka-jars"
    assert JARS_OF[NEWEST].folder({"ACLKIT_KAFKA_JARS": str(tmp_path)}) == tmp_path


def test_the_version_that_is_told_is_that_of_the_jars():
    for version, jars in JARS_OF.items():
        assert jars.version == version
        assert f"org.apache.kafka_kafka-metadata-{version}.jar" in jars.digests


def test_the_newest_is_the_one_with_the_highest_number():
    assert max(VERSIONS, key=lambda text: [int(part) for part in text.split(".")]) == NEWEST


def resolver(home: Path, *lines: str) -> None:
    """Put a script where Spark's resolver is looked for."""
    spark_submit = home / "bin" / "spark-submit"
    spark_submit.parent.mkdir()
    spark_submit.write_text("\n".join(("#!/bin/sh", *lines)), encoding="utf-8")
    spark_submit.chmod(0o755)


def test_no_network_is_told_with_what_to_do(tmp_path, monkeypatch):
    resolver(tmp_path, "echo no route to host", "exit 1")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path / "jars"))
    advice = r"no route to host\nthe jars of Kafka 4\.3\.1: .*set ACLKIT_KAFKA_JARS to"
    with pytest.raises(SurroundingsError, match=advice):
        class_path("4.3.1")


def test_a_wrong_jar_that_the_resolver_brings_is_not_installed(tmp_path, monkeypatch):
    resolver(
        tmp_path,
        'for word; do case "$word" in spark.jars.ivy=*) jars="${word#*=}/jars"; esac; done',
        'mkdir "$jars"',
        'echo PK > "$jars/org.apache.kafka_kafka-metadata-4.3.1.jar"',
    )
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path / "jars"))
    wrong = r"did not download the expected jars: .*kafka-metadata-4\.3\.1\.jar: sha-256 "
    with pytest.raises(SurroundingsError, match=wrong):
        class_path("4.3.1")
    assert not (tmp_path / "jars").exists()


def test_a_spark_home_without_spark_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path / "jars"))
    with pytest.raises(SurroundingsError, match="Cannot start Spark's resolver"):
        class_path()


@pytest.mark.kafka
def test_a_spark_without_janino_is_told(tmp_path, monkeypatch, kafka_path):
    assert not wrong_jars(JARS_OF[NEWEST], Path(kafka_path[0]).parent)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(SurroundingsError, match="Expected Spark's janino jar in"):
        class_path()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_wrong_jar_of_any_version_is_refused_before_anything_is_fetched(
    tmp_path, monkeypatch, version
):
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path))
    wrong = tmp_path / f"org.apache.kafka_kafka-metadata-{version}.jar"
    wrong.write_bytes(b"PK")
    with pytest.raises(SurroundingsError) as caught:
        class_path(version)
    assert str(caught.value).startswith(f"{wrong} is not the expected jar (sha-256 ")
    assert str(caught.value).endswith(f"aclkit jars kafka:{version}")


@pytest.mark.kafka
def test_jars_of_other_versions_may_lie_beside_and_are_not_loaded(
    tmp_path, monkeypatch, kafka_path
):
    for jar in kafka_path[: len(JARS_OF[NEWEST].digests)]:
        (tmp_path / jar.name).symlink_to(jar)
    older, alien = "org.apache.kafka_kafka-metadata-4.1.0.jar", "alien.jar"
    for name in (older, alien):
        (tmp_path / name).write_bytes(b"PK")
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path))
    said = []
    assert not {older, alien} & {jar.name for jar in class_path(say=said.append)}
    assert said == [f"{tmp_path} contains jars that are not loaded: {alien}"]


@pytest.mark.kafka
def test_a_jar_that_was_changed_is_not_loaded(tmp_path, monkeypatch, kafka_path):
    for jar in kafka_path[: len(JARS_OF[NEWEST].digests)]:
        (tmp_path / jar.name).write_bytes(jar.read_bytes())
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path))
    assert class_path() != kafka_path
    jar = tmp_path / max(JARS_OF[NEWEST].digests)
    jar.write_bytes(jar.read_bytes()[:-1])
    with pytest.raises(SurroundingsError, match=r"expected.*download it again: aclkit jars kafka:"):
        class_path()
