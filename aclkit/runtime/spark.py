"""Name and wishes → a SparkSession with Delta, and its JVM: the only place where one is made.

Started from plain Python the session is local and silent: the JVM writes to a log file of its
own, so stdout stays data and stderr stays progress. Started by ``spark-submit``, or where a
session exists already, what was given there holds and only SQL settings are added.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyspark
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from aclkit.errors import SurroundingsError
from aclkit.runtime import child, signals
from aclkit.runtime.deadline import Deadline
from aclkit.runtime.environment import environ, require_java
from aclkit.runtime.executors import is_local
from aclkit.runtime.jars import checked_jars, delta_coordinate
from aclkit.runtime.memory import heap_size
from aclkit.runtime.object_stores import STORES, is_s3, spark_options
from aclkit.runtime.permissions import current_umask
from aclkit.runtime.progress import measure_by
from aclkit.runtime.scratch import scratch
from aclkit.runtime.spark_release import (
    delta_jars,
    hadoop_version,
    own_delta,
    release_of,
    s3_jars,
)
from aclkit.runtime.uri import is_uri, split_scheme

_EXTENSION: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}

_SQL: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # INT96, the default, has no unit and no zone for engines other than Spark.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # As many rows as a row group of this process has: questions read those alone that they need.
    "parquet.block.row.count.limit": "50000",
    # Every Delta reader must open the tables.
    "spark.databricks.delta.properties.defaults.enableDeletionVectors": "false",
    "spark.databricks.delta.properties.defaults.columnMapping.mode": "none",
    # What a run published is read however old it is: ``aclkit maintain`` decides what stays.
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    # Delta's parser stands before Spark's and hands no parameters on: they are bound in the plan.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    # By default what is below 10 MiB on the disk: six million pairs, in memory gigabytes.
    # Code that makes a frame knows how many rows it has at most, and passes that: see ``frame``.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Where in Python each column was made: for errors of plans, and most of what making one costs.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A checksum costs a job for every commit and is read by Delta alone.
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
}

_MOST_PARTITIONS = 16
_TELLING = re.compile(r"Exception|Error|Could not|Invalid|UNRESOLVED|not found")

_log: Path | None = None
log = logging.getLogger(__name__)


def build_session(
    app_name: str,
    *,
    verbose: bool = False,
    master: str | None = None,
    extra_conf: Mapping[str, str] | None = None,
    uris: Sequence[str] = (),
) -> SparkSession:
    """Return the session of this process, made now if there is none.

    Args:
        app_name: how Spark calls the run.
        verbose: let the JVM write to stderr instead of into a log file.
        master: where to run; ``local[*]`` unless ``spark-submit`` or a session sets it.
        extra_conf: settings that win over those made here.
        uris: what the session is to open; paths may be among them.

    Raises:
        SurroundingsError: No usable Java, no Delta, nothing that opens a URI, or Spark did not
            start.
    """
    extra = dict(extra_conf or {})
    active = SparkSession.getActiveSession()
    if active is not None:
        session = _with_conf(active, {**_SQL, **extra})
    elif "PYSPARK_GATEWAY_PORT" in os.environ:  # set by spark-submit for its Python child
        session = _submitted_session(app_name, extra, uris)
    else:
        conf = _own_conf(app_name, master or "local[*]", extra, uris)
        session = _own_session(conf, verbose=verbose)
    require_file_systems(session, uris)
    return session


def require_file_systems(session: SparkSession, uris: Iterable[str]) -> None:
    """Insist that a session can open URIs.

    Raises:
        SurroundingsError: it has no file system for one.
    """
    schemes = {split_scheme(uri)[0] for uri in uris if is_uri(uri)}
    context: Any = session.sparkContext  # whose JVM's names no type knows
    for scheme in sorted(schemes):
        file_system = context._jvm.org.apache.hadoop.fs.FileSystem
        try:
            file_system.getFileSystemClass(scheme, context._jsc.hadoopConfiguration())
        except Py4JError as error:
            raise SurroundingsError(_advice(scheme)) from error


def _advice(scheme: str) -> str:
    store = STORES.get(scheme)
    said = f"Spark cannot open {scheme}://"
    if store is None or scheme not in store.spark_schemes:
        return f"{said}. Expected s3, s3a, gs, abfss, hdfs or a folder."
    return (
        f"{said}. Pass --packages org.apache.hadoop:{store.connector}:{hadoop_version()} to "
        "spark-submit. For a Spark that aclkit starts, put the connector's jars into a folder "
        "and set SPARK_DIST_CLASSPATH='FOLDER/*'"
    )


def session_beside(session: SparkSession) -> SparkSession:
    """Return a session with the same settings, SQL's aside, and no views, functions or variables.

    A session's user may have changed its settings since it was made.
    """
    return _with_conf(session.newSession(), {**session.conf.getAll, **_SQL})


def spark_log() -> Path | None:
    """Return the JVM's log for a message, and keep it, which else goes with the process.

    Returns:
        None where no JVM was started here, or it writes to stderr.
    """
    global _log
    signals.block_if_ending()
    if _log is not None and _log.is_relative_to(scratch()):
        handle, kept = tempfile.mkstemp(prefix="aclkit-spark-", suffix=".log")
        os.close(handle)
        _log = _log.replace(kept)  # the JVM goes on writing to it
    return _log


def _local_conf(env: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a driver that runs the whole of Spark in this one process."""
    partitions = str(min(_MOST_PARTITIONS, max(2, os.cpu_count() or 1)))
    java_options = [
        # G1, the default, costs a quarter of a short run.
        "-XX:+UseParallelGC",
        "-XX:-UsePerfData",
        # Each time that it grows beyond 21 MiB, the default, and on, the whole heap is collected.
        "-XX:MetaspaceSize=256m",
        "-Dfile.encoding=UTF-8",
        f"-Djava.io.tmpdir={scratch()}",
    ]
    return {
        # As the JVM reads it: not "4gb".
        "spark.driver.memory": f"{heap_size(env) >> 10}k",
        # Without bindAddress it listens to the world, without host executors look for the world.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(scratch()),
        # Nothing is ever saved there, but Spark makes the folder where it is started.
        "spark.sql.warehouse.dir": str(scratch() / "spark-warehouse"),
        "spark.driver.extraJavaOptions": shlex.join(java_options),
        "spark.sql.shuffle.partitions": partitions,
        # 64 MiB by default with this much memory, and each broadcast of a few rows takes a page.
        "spark.buffer.pageSize": "4m",
        # It plans anew after every stage, half of a small run; parts are sized in the code.
        "spark.sql.adaptive.enabled": "false",
        # 50 tasks by default, to read a log of a few kilobytes.
        "spark.databricks.delta.snapshotPartitions": "1",
    }


def _own_conf(
    app_name: str, master: str, extra: Mapping[str, str], uris: Sequence[str]
) -> SparkConf:
    settings = {
        "spark.app.name": app_name,
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **_EXTENSION,
        **_SQL,
        **_reached(uris),
        "spark.jars": ",".join(map(str, [*_delta_jars(), *_s3_jars(uris)])),
    }
    if is_local(master):
        settings |= _local_conf(os.environ)
    return SparkConf(loadDefaults=False).setAll(list({**settings, **extra}.items()))


def _delta_jars() -> tuple[Path, ...]:
    """Return Delta's jars, fetched the first time; none where Spark brings Delta along."""
    if own := own_delta():
        log.info("This Spark has Delta (%s); aclkit loads no other", own)
        return ()
    return checked_jars(delta_jars(), log.info)


def _s3_jars(uris: Sequence[str]) -> tuple[Path, ...]:
    """Return the jars by which Spark opens S3, where it has to; fetched the first time."""
    return checked_jars(s3_jars(), log.info) if any(map(is_s3, uris)) else ()


def _reached(uris: Sequence[str]) -> dict[str, str]:
    """Return how URIs are reached, according to the environment; and how files are made there.

    That is by the umask of this process, because Hadoop asks no system.
    """
    umask = {"spark.hadoop.fs.permissions.umask-mode": f"{current_umask():03o}"}
    return umask | {key: value for uri in uris for key, value in spark_options(uri).items()}


def _own_session(conf: SparkConf, *, verbose: bool) -> SparkSession:
    require_java()
    with environ(_as_launcher_needs()):
        try:
            if SparkContext._gateway is None:
                context = SparkContext(conf=conf, gateway=_launch(conf, verbose=verbose))
                # The server that counts accumulators must not report a JVM that has ended.
                setattr(context._accumulatorServer, "handle_error", lambda *_: None)  # noqa: B010 -- a method
            else:  # a session was stopped in this process; its JVM is still there
                SparkContext.getOrCreate(conf)
            session = SparkSession.builder.getOrCreate()
            measure_by(partial(_done, session))
            return session
        except (PySparkException, Py4JError, OSError, SurroundingsError) as error:
            raise SurroundingsError(_did_not_start(error)) from error


def _done(session: SparkSession) -> str:
    """Return how far the stages are that are at work, as the session's own books have it."""
    stages = session.sparkContext._jsc.sc().statusStore().activeStages()
    at_work = [stages.apply(number) for number in range(stages.size())]
    tasks, done = sum(s.numTasks() for s in at_work), sum(s.numCompleteTasks() for s in at_work)
    records = sum(stage.inputRecords() for stage in at_work)
    said = f"{done:,} of {tasks:,} tasks" if tasks else ""
    return f"{said}, {records:,} records read" if records else said


def _submitted_session(
    app_name: str, extra: Mapping[str, str], uris: Sequence[str]
) -> SparkSession:
    given = SparkConf()
    builder = SparkSession.builder
    if not given.contains("spark.app.name"):
        builder = builder.appName(app_name)
    for key, value in {**_EXTENSION, **_reached(uris)}.items():
        if not given.contains(key):
            builder = builder.config(key, value)
    session = builder.config(map={**_SQL, **extra}).getOrCreate()
    try:
        session.catalog.currentDatabase()
    except (PySparkException, Py4JError) as error:
        raise SurroundingsError(
            f"Spark {session.version} runs without Delta. Pass --packages "
            f"{delta_coordinate(release_of(session.version))} to spark-submit."
        ) from error
    return session


def _with_conf(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    for key, value in settings.items():
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
    return session


def _launch(conf: SparkConf, *, verbose: bool) -> JavaGateway:
    """Start the JVM with its stdout and stderr in the log, or both on our stderr."""
    global _log
    if verbose and _is_open(2):
        return start_gateway(conf, 2)
    _log = scratch() / "spark.log"
    with _log.open("wb") as file:
        return start_gateway(conf, file.fileno())


def _did_not_start(error: BaseException) -> str:
    log = spark_log()
    if log is None:
        return f"Spark did not start: {error}"
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if _TELLING.search(line)] or [str(error)]
    return f"Spark did not start: {telling[0]}. The complete output is in {log}"


def _as_launcher_needs() -> dict[str, str]:
    """Return what shows Spark's launcher the Python and the Spark that run here."""
    return {
        # The workers unpickle functions, so they must be the same Python with the same packages.
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_HOME": os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent),
        # Spark asks the resolver for the machine's own name, which in a container may have none.
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP") or "127.0.0.1",
    }


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


_SECONDS_TO_START: Final = 300
_SECONDS_TO_END: Final = 10
_POLL: Final = 0.05


def start_gateway(conf: SparkConf, output: int) -> JavaGateway:
    """Start the JVM; at the end of this process it is asked to end, and then made to.

    pyspark could start it too, but waits for ever, and its JVM lives on for some seconds when
    this process is killed, and writes.

    Args:
        conf: the settings for ``spark-submit``.
        output: the descriptor of an open file for all output of the JVM.

    Raises:
        SurroundingsError: the JVM ended by itself, or did not start in time.
        OSError: it cannot be started at all.
    """
    told = scratch() / "gateway"
    told.unlink(missing_ok=True)
    settings = [part for key, value in conf.getAll() for part in ("--conf", f"{key}={value}")]
    submit = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    process = child.start(
        [f"{os.environ['SPARK_HOME']}/bin/spark-submit", *settings, *submit],
        env={
            # The JVM that only puts the command together: no file of its own, a third sooner.
            "SPARK_LAUNCHER_OPTS": "-XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            **os.environ,
            "SPARK_CONNECT_MODE": "0",
            "TMPDIR": str(scratch()),
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told),
        },
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
    )
    # Before the scratch folder goes: what is registered last is called first.
    atexit.register(child.end, process, _SECONDS_TO_END)
    _wait_for(told, process)
    with environ(_connection(told)):
        gateway = launch_gateway()  # type: ignore[no-untyped-call]  # no types in pyspark
    gateway.proc = process
    atexit.register(_tell_no_more, gateway)
    return gateway


def _tell_no_more(gateway: JavaGateway) -> None:
    """Stop reporting garbage objects to a JVM that is about to end."""
    gateway._gateway_client.is_connected = False


def _wait_for(told: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = Deadline(_SECONDS_TO_START)
    while not told.is_file():
        if process.poll() is not None:
            raise SurroundingsError(f"The JVM ended with exit code {process.returncode}")
        if deadline.is_over:
            child.end(process)
            raise SurroundingsError(f"The JVM did not start within {_SECONDS_TO_START} s")
        time.sleep(_POLL)


def _connection(told: Path) -> dict[str, str]:
    """Return by what pyspark finds the gateway, as a child of ``spark-submit`` would."""
    content = told.read_bytes()
    port, length = struct.unpack_from(">ii", content)
    told.unlink()
    secret = content[8 : 8 + length].decode()
    return {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
