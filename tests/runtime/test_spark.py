"""The session: silent, with Delta, and plain about what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from aclkit.errors import SurroundingsError
from aclkit.runtime.environment import jar_folder, require_java
from aclkit.runtime.jars import checked_jars, fetch_jars, wrong_jars
from aclkit.runtime.spark import build_session
from aclkit.runtime.spark_release import delta_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA = delta_jars()

WRITES = """
import sys
from aclkit.runtime.spark import build_session
session = build_session("quiet", extra_conf={"spark.driver.memory": "1g"})
session.range(3).write.format("delta").save(sys.argv[1])
session.read.format("delta").load(sys.argv[1]).selectExpr("assert_true(id < 3)").collect()
"""


def run(program: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=280,
        check=False,
    )


def java(folder: Path, says: str) -> Path:
    """A program ``java`` that says this, in a folder that is fit for PATH."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.spark
def test_a_session_writes_delta_without_a_word(tmp_path: Path) -> None:
    own = {"TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    done = run(WRITES, str(tmp_path / "table"), **own)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "table" / "_delta_log").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


@pytest.mark.spark
def test_a_heap_is_at_most_what_the_environment_says(tmp_path: Path) -> None:
    program = (
        "from aclkit.runtime.spark import build_session\n"
        "of = build_session('heap')._jvm.java.lang.Runtime.getRuntime()\n"
        "print(of.maxMemory() >> 20)\n"
    )
    done = run(program, TMPDIR=str(tmp_path), ACLKIT_DRIVER_MEMORY="512MB")

    assert 400 < int(done.stdout) <= 512


@pytest.mark.spark
def test_a_jvm_that_does_not_start_is_told_with_its_log(tmp_path: Path) -> None:
    program = (
        "from aclkit.errors import SurroundingsError\n"
        "from aclkit.runtime.spark import build_session\n"
        "try: build_session('broken')\n"
        "except SurroundingsError as error: print(error, error.exit_code)\n"
    )
    done = run(program, TMPDIR=str(tmp_path), ACLKIT_DRIVER_MEMORY="99999999t")

    log = next(tmp_path.glob("aclkit-spark-*.log"))
    assert done.stderr == ""
    assert done.stdout.startswith("Spark did not start: ")
    assert "heap size" in done.stdout
    assert done.stdout.endswith(f"{log} 4\n")


def test_the_session_that_exists_is_the_session(spark: SparkSession) -> None:
    assert build_session("another") is not None
    assert build_session("another").sparkContext.applicationId == spark.sparkContext.applicationId


def test_settings_make_tables_that_everybody_can_read(spark: SparkSession) -> None:
    prefix = "spark.databricks.delta.properties.defaults"

    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    assert spark.conf.get(f"{prefix}.enableDeletionVectors") == "false"
    assert spark.conf.get(f"{prefix}.columnMapping.mode") == "none"


def test_what_is_small_on_the_disk_alone_is_not_broadcast(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = {"who": ["User:a"] * 100_000, "ruleset_id": ["0" * 32] * 100_000}
    pq.write_table(pa.table(rows), tmp_path / "pairs")
    assert (tmp_path / "pairs").stat().st_size < 10_000
    pairs = spark.read.parquet(str(tmp_path / "pairs"))
    joined = spark.range(10).withColumn("who", F.lit("User:a")).join(pairs, "who")
    assert "Broadcast" not in joined._jdf.queryExecution().executedPlan().toString()


def test_workers_are_this_python(spark: SparkSession) -> None:
    assert spark.sparkContext.pythonExec == sys.executable


def test_delta_rewrites_restores_and_looks_back(spark: SparkSession, tmp_path: Path) -> None:
    where = f"delta.`{tmp_path / 'a table'}`"
    spark.sql(f"CREATE TABLE {where} (id BIGINT) USING delta")
    spark.sql(f"INSERT INTO {where} VALUES (1), (2)")
    spark.sql(
        f"MERGE INTO {where} AS t USING (SELECT 2L AS id UNION ALL SELECT 3L) AS s ON t.id = s.id"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    )
    spark.sql(f"RESTORE TABLE {where} TO VERSION AS OF 1")

    assert [row.id for row in spark.sql(f"SELECT id FROM {where} ORDER BY id").collect()] == [1, 2]
    looked_back = spark.sql(f"SELECT id FROM {where} VERSION AS OF 2 ORDER BY id").collect()
    assert [row.id for row in looked_back] == [1, 3]


def test_no_java_names_the_package(tmp_path: Path) -> None:
    with pytest.raises(SurroundingsError, match="apt-get install openjdk-17") as caught:
        require_java({"PATH": str(tmp_path)})
    assert caught.value.exit_code == 4


def test_a_session_without_java_ends_before_it_begins(tmp_path: Path) -> None:
    program = "from aclkit.runtime.spark import build_session; build_session('x')"
    done = run(program, PATH=str(tmp_path), JAVA_HOME="")

    assert done.returncode
    assert "SurroundingsError" in done.stderr
    assert "apt-get install openjdk-17-jre-headless" in done.stderr


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "found Java 11"),
        ('java version "1.8.0_412"', "found Java 8"),
        ("No Java runtime present", "printed no version"),
    ],
)
def test_unusable_java_is_refused(tmp_path: Path, says: str, verdict: str) -> None:
    java(tmp_path, says)
    with pytest.raises(SurroundingsError, match=verdict):
        require_java({"JAVA_HOME": str(tmp_path)})


@pytest.mark.parametrize("says", ['openjdk version "17.0.15"', 'java version "21" 2023-09-19'])
def test_new_enough_java_is_taken(tmp_path: Path, says: str) -> None:
    program = java(tmp_path, f"Picked up JAVA_TOOL_OPTIONS: -Xint\n{says}")
    assert require_java({"PATH": str(program.parent)}) == program


def test_a_wrong_java_home_is_named(tmp_path: Path) -> None:
    with pytest.raises(SurroundingsError, match="JAVA_HOME is"):
        require_java({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]})


def test_jars_are_looked_for_where_the_user_says(tmp_path: Path) -> None:
    assert jar_folder({"ACLKIT_JARS": str(tmp_path)}) == tmp_path


@pytest.fixture
def own_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Delta's jars that a test may change."""
    folder = tmp_path / "jars"
    folder.mkdir()
    for jar in checked_jars(DELTA):
        (folder / jar.name).symlink_to(jar)
    monkeypatch.setenv("ACLKIT_JARS", str(folder))
    return folder


def changed(folder: Path) -> Path:
    """Change one bit of the last jar, its size and its time stay."""
    jar = folder / max(DELTA.digests)
    content, time = bytearray(jar.read_bytes()), jar.stat().st_mtime_ns
    content[len(content) // 2] ^= 1
    jar.unlink()
    jar.write_bytes(content)
    os.utime(jar, ns=(time, time))
    return jar


def test_a_session_loads_no_jar_that_was_changed(own_jars: Path) -> None:
    jar = changed(own_jars)
    with pytest.raises(SurroundingsError) as caught:
        checked_jars(DELTA)
    assert str(caught.value).startswith(f"{jar} is not the expected jar (sha-256 ")
    assert str(caught.value).endswith("download it again: aclkit jars delta")
    assert caught.value.exit_code == 4

    program = "from aclkit.cli import cli; cli()"
    log = Path(__file__).parents[1] / "data" / "synthetic-4.2" / "basic"
    command = ("--warehouse", str(own_jars / "w"), "run", "--decide-with",
               "spark", "--source", f"metadata-log:{log}")  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1] == f"Error: {caught.value}"


def test_a_jar_of_somebody_else_is_not_loaded_and_said(own_jars: Path) -> None:
    (own_jars / "evil.jar").write_bytes(b"PK")
    said: list[str] = []
    assert {jar.name for jar in checked_jars(DELTA, said.append)} == DELTA.digests.keys()
    assert said == [f"{own_jars} contains jars that are not loaded: evil.jar"]


def test_a_jar_that_cannot_be_read_is_told(own_jars: Path) -> None:
    jar = own_jars / max(DELTA.digests)
    jar.unlink()
    jar.symlink_to("/proc/self/mem")
    with pytest.raises(SurroundingsError, match=f"Cannot read {jar}"):
        checked_jars(DELTA)


def test_a_jar_that_is_not_the_expected_one_is_named(tmp_path: Path) -> None:
    name = sorted(DELTA.digests)[0]
    (tmp_path / name).write_bytes(b"half a jar")

    wrong = wrong_jars(DELTA, tmp_path)

    assert wrong.keys() == DELTA.digests.keys()
    assert "expected" in wrong[name]


def test_the_password_of_a_mirror_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark_submit = tmp_path / "bin" / "spark-submit"
    spark_submit.parent.mkdir()
    spark_submit.write_text('#!/bin/sh\necho "tried $*, in vain"; exit 1\n', encoding="utf-8")
    spark_submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("ACLKIT_MAVEN_REPOSITORY", "https://ci:hunter2@jars.example/maven")
    with pytest.raises(SurroundingsError, match=r"//\*\*\*@jars.example/maven") as caught:
        fetch_jars(DELTA, tmp_path / "jars")
    assert "hunter2" not in str(caught.value)


def test_no_network_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark_submit = tmp_path / "bin" / "spark-submit"
    spark_submit.parent.mkdir()
    spark_submit.write_text("#!/bin/sh\necho no route to host; exit 1\n", encoding="utf-8")
    spark_submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))

    with pytest.raises(SurroundingsError, match=r"no route to host\n.*needs the network once"):
        fetch_jars(DELTA, tmp_path / "jars")
