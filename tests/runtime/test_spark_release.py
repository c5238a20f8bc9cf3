"""Which Spark is there, and which jars it gets: those of its release, or a reason why none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from aclkit.errors import SurroundingsError
from aclkit.nightly.checks import CheckContext, see_jars
from aclkit.runtime.jars import DELTA_OF, DELTA_VERSION
from aclkit.runtime.spark_release import delta_jars, own_delta, release_of, s3_jars, spark_release

ROOT = Path(__file__).parents[2]


@pytest.fixture
def spark_with(tmp_path, monkeypatch):
    """Let a Spark be there that has these jars of its own."""

    def make(*names):
        (tmp_path / "jars").mkdir()
        for name in names:
            (tmp_path / "jars" / name).write_bytes(b"PK")
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))

    return make


@pytest.mark.parametrize(("version", "release"), [("4.1.0", "4.1"), ("4.2.1", "4.2")])
def test_each_release_gets_its_own_jar_of_delta(spark_with, version, release):
    spark_with(f"spark-core_2.13-{version}.jar")
    assert delta_jars() == DELTA_OF[release]
    assert delta_jars().coordinate == f"io.delta:delta-spark_{release}_2.13:{DELTA_VERSION}"
    assert len(delta_jars().digests) == 5


@pytest.mark.parametrize("version", ["4.0.1", "4.3.0"])
def test_a_spark_without_jars_is_refused_with_the_reason(spark_with, version):
    spark_with(f"spark-core_2.13-{version}.jar")
    with pytest.raises(SurroundingsError, match=r"Delta .* for Spark 4\.[03]\. Install pyspark"):
        delta_jars()


def test_jars_for_s3_are_those_of_one_hadoop(spark_with):
    spark_with("spark-core_2.13-4.1.0.jar", "hadoop-client-api-3.4.2.jar")
    with pytest.raises(SurroundingsError, match=r"has Hadoop 3\.4\.2.*hadoop-aws:3\.4\.2"):
        s3_jars()


def test_a_delta_that_spark_brings_along_is_named_and_taken(spark_with, tmp_path):
    spark_with("spark-core_2.13-4.0.1.jar", "delta-spark_2.13-4.0.0.jar")
    assert own_delta({}) == "delta-spark_2.13-4.0.0.jar"
    seen = see_jars(CheckContext(env={"ACLKIT_JARS": str(tmp_path)}))
    found = "Spark 4.0 has Delta: delta-spark_2.13-4.0.0.jar; no other is loaded"
    assert (seen.state, seen.found) == ("ok", found)


def test_databricks_has_a_delta_of_its_own():
    seen = see_jars(CheckContext(env={"DATABRICKS_RUNTIME_VERSION": "18.0"}))
    found = f"Spark {spark_release()} has Delta: Databricks Runtime 18.0; no other is loaded"
    assert (seen.state, seen.found) == ("ok", found)


@pytest.mark.parametrize("version", ["4.0.1", "4.1.0", "4.1.1", "4.2.0", "4.2.1", "4.3.0"])
def test_what_is_installed_is_a_spark_that_has_jars_of_the_delta_that_is(version):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {each.name: each.specifier for each in map(Requirement, project["dependencies"])}
    assert not wanted["pyspark"].contains(version) or release_of(version) in DELTA_OF
    assert all(wanted["pyspark"].contains(f"{spark}.0") for spark in DELTA_OF)
    assert wanted["delta-spark"].contains(DELTA_VERSION)


def test_jars_of_the_other_release_may_lie_beside():
    for jars in DELTA_OF.values():
        others = {name for each in DELTA_OF.values() for name in each.digests} - {*jars.digests}
        assert others <= {*jars.beside}
