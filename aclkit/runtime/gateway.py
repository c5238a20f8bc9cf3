"""Spark's settings → the JVM with its gateway for Python, bound to this process."""

from __future__ import annotations

import atexit
import os
import shlex
import struct
import subprocess
import time
from pathlib import Path
from typing import Final

from py4j.java_gateway import JavaGateway
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from aclkit.errors import SurroundingsError
from aclkit.runtime import child
from aclkit.runtime.deadline import Deadline
from aclkit.runtime.environment import environ
from aclkit.runtime.scratch import scratch

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
