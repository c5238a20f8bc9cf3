"""A folder and properties → a running Kafka on 127.0.0.1, controller and broker in one process.

It is formatted anew, listens on free ports, and is gone when the ``with`` block is left: by an
error too, and also when this process is killed, for the broker's shell ends with its input.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aclkit.runtime.environment import require_java
from tests.tools.broker.certificates import write_certificates
from tests.tools.broker.jars import NEWEST, TOOLS, class_path

CLUSTER_ID: Final = "YWNsa2l0LWJyb2tlci10ZQ"
LISTENERS: Final = ("PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL")
"""All that a broker can listen with; a listener is named like its protocol."""

USERS: Final = {"admin": "admin-secret", "alice": "alice-secret", "bob": "bob-secret"}
"""SCRAM users and passwords where none are given; ``PLAIN`` knows them too."""

JVM: Final = (
    "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
    "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Djava.net.preferIPv4Stack=true",
)  # fmt: skip

_SECONDS: Final = 120
_STARTED: Final = "Kafka Server started"
# The broker dies with its shell's input: with the process that started it, however that ends.
_SHELL: Final = (
    'exec 3<&0; "$@" 3<&- & java=$!; { cat <&3 >/dev/null; kill -9 $java; } & wait $java'
)


class BrokerError(Exception):
    """The broker did not start, or a tool of Kafka's did not end well; with what it said."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A running broker.

    Attributes:
        folder: its configuration, logs and data.
        ports: the port of each listener.
        users: SCRAM users and their passwords.
        process: the shell that runs it.
        version: its Kafka's.
    """

    folder: Path
    ports: Mapping[str, int]
    users: Mapping[str, str]
    process: subprocess.Popen[bytes]
    version: str

    @property
    def metadata_log(self) -> Path:
        """The folder of the metadata log and its snapshots."""
        return self.folder / "data" / "__cluster_metadata-0"

    @property
    def authorizer_log(self) -> Path:
        """What the authorizer logged, ALLOWED requests too."""
        return self.folder / "authorizer.log"

    def address(self, listener: str = "PLAINTEXT") -> str:
        """``host:port`` of a listener."""
        return f"127.0.0.1:{self.ports[listener]}"

    def client(self, listener: str = "PLAINTEXT", user: str = "admin") -> Path:
        """Write a client's properties file, as ``--command-config`` takes it."""
        path = self.folder / f"client-{listener}-{user}.properties"
        found = {"bootstrap.servers": self.address(listener), "security.protocol": listener}
        if "SASL" in listener:
            login = f'ScramLoginModule required username="{user}" password="{self.users[user]}";'
            found["sasl.mechanism"] = "SCRAM-SHA-256"
            found["sasl.jaas.config"] = f"org.apache.kafka.common.security.scram.{login}"
        if "SSL" in listener:
            found |= _store("truststore", self.folder / "ca.pem")
        if listener == "SSL":
            found |= _store("keystore", self.folder / "client.pem")
        path.write_text(_text(found), encoding="utf-8")
        return path


@contextmanager
def start_broker(
    folder: Path,
    properties: Mapping[str, str] | None = None,
    listeners: Sequence[str] = ("PLAINTEXT",),
    users: Mapping[str, str] | None = None,
    *,
    version: str = NEWEST,
    seconds: float = _SECONDS,
) -> Iterator[Broker]:
    """Format the storage, start a broker and wait until it answers; stop it afterwards.

    ANONYMOUS, who comes over PLAINTEXT, and admin are super users where ``properties`` do not
    say otherwise. Over SSL the client of ``client.pem`` is ``User:CN=client``.

    Args:
        folder: where all of it goes; made where it is missing.
        properties: settings of the broker, over those made here.
        listeners: some of ``LISTENERS``.
        users: SCRAM users and passwords; ``USERS`` if not given.
        version: of Kafka, one of ``VERSIONS``.
        seconds: how long it may take to start.

    Raises:
        BrokerError: it did not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    users = USERS if users is None else users
    names = ("CONTROLLER", *listeners)
    ports = dict(zip(names, _free_ports(len(names)), strict=True))
    write_certificates(folder)
    (folder / "log4j2.properties").write_text(_LOGGING.format(folder=folder), encoding="utf-8")
    config = folder / "server.properties"
    config.write_text(_text({**_settings(folder, ports, users), **(properties or {})}), "utf-8")
    _format(config, users, version)
    with run_broker(config, folder, seconds, version) as process:
        yield Broker(folder, {name: ports[name] for name in listeners}, users, process, version)


@contextmanager
def run_broker(
    config: Path, folder: Path, seconds: float, version: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the broker of a configuration and wait until it answers; stop it afterwards."""
    log = folder / "server.log"
    logging = folder / "log4j2.properties"
    command = java("kafka.Kafka", str(config), logging=logging, version=version)
    with (folder / "stdout.log").open("wb") as out:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _SHELL, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait(process, log, folder / "stdout.log", seconds)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdin:
            process.stdin.close()


def java(
    main: str, *arguments: str, logging: Path | None = None, version: str = TOOLS
) -> list[str]:
    """The command that runs a class of Kafka's."""
    options = [f"-Dlog4j2.configurationFile={logging}"] if logging else ["-Dlog4j2.level=ERROR"]
    return [str(require_java()), *JVM, *options, "-cp", class_path(version), main, *arguments]


def run_tool(main: str, *arguments: str, seconds: float = _SECONDS, version: str = TOOLS) -> str:
    """Run a class of Kafka's and return what it writes to stdout.

    Raises:
        BrokerError: it ended with another code than 0.
    """
    done = subprocess.run(
        java(main, *arguments, version=version),
        env={**os.environ, "LC_ALL": "C.UTF-8"},  # arguments are read in the locale's encoding
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        told = (done.stdout + done.stderr).decode(errors="replace")
        raise BrokerError(f"{main} {' '.join(arguments)} ended with {done.returncode}:\n{told}")
    return done.stdout.decode()


def acls(broker: Broker, *arguments: str) -> str:
    """What ``kafka-acls`` writes: ``acls(broker, "--list")``."""
    return run_tool(
        "org.apache.kafka.tools.AclCommand", "--bootstrap-server", broker.address(), *arguments
    )


def _format(config: Path, users: Mapping[str, str], version: str) -> None:
    command = ["format", "--cluster-id", CLUSTER_ID, "--config", str(config)]
    for user, password in users.items():
        command += ["--add-scram", f'SCRAM-SHA-256=[name="{user}",password="{password}"]']
        command += ["--add-scram", f'SCRAM-SHA-512=[name="{user}",password="{password}"]']
    run_tool("kafka.tools.StorageTool", *command, version=version)


def _wait(process: subprocess.Popen[bytes], log: Path, said: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not (log.exists() and _STARTED in log.read_text("utf-8", errors="replace")):
        if process.poll() is not None or time.monotonic() > end:
            lines = [*_last(said), *_last(log)]
            raise BrokerError("the broker did not start:\n" + "\n".join(lines))
        time.sleep(0.2)


def _last(log: Path) -> list[str]:
    return log.read_text("utf-8", errors="replace").splitlines()[-20:] if log.exists() else []


def _settings(folder: Path, ports: Mapping[str, int], users: Mapping[str, str]) -> dict[str, str]:
    own = [name for name in ports if name != "CONTROLLER"]
    plain = " ".join(f'user_{user}="{password}"' for user, password in users.items())
    found = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{ports['CONTROLLER']}",
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(
            ["CONTROLLER:PLAINTEXT", *(f"{name}:{name}" for name in own)]
        ),
        "inter.broker.listener.name": own[0],
        "log.dirs": str(folder / "data"),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "ssl.client.auth": "requested",
        "delegation.token.secret.key": "no secret at all",
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        **_store("keystore", folder / "server.pem"),
        **_store("truststore", folder / "ca.pem"),
    }
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required"
    inter = f' username="admin" password="{users["admin"]}"' if "admin" in users else ""
    for name in (name.lower() for name in own if "SASL" in name):
        for mechanism in ("scram-sha-256", "scram-sha-512"):
            found[f"listener.name.{name}.{mechanism}.sasl.jaas.config"] = f"{scram}{inter};"
        found[f"listener.name.{name}.plain.sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {plain};"
        )
    return found


def _store(kind: str, path: Path) -> dict[str, str]:
    return {f"ssl.{kind}.type": "PEM", f"ssl.{kind}.location": str(path)}


def _text(properties: Mapping[str, str]) -> str:
    """Java's properties; a backslash would begin an escape there."""
    return "".join(
        f"{name}={text.replace(chr(92), chr(92) * 2)}\n" for name, text in properties.items()
    )


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has just now; all are held until the last is found."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


_LOGGING: Final = """\
appender.server.type = File
appender.server.name = server
appender.server.fileName = {folder}/server.log
appender.server.layout.type = PatternLayout
appender.server.layout.pattern = [%d] %p %m (%c)%n
appender.authorizer.type = File
appender.authorizer.name = authorizer
appender.authorizer.fileName = {folder}/authorizer.log
appender.authorizer.layout.type = PatternLayout
appender.authorizer.layout.pattern = [%d] %p %m (%c)%n
logger.authorizer.name = kafka.authorizer.logger
logger.authorizer.level = DEBUG
logger.authorizer.additivity = false
logger.authorizer.appenderRef.file.ref = authorizer
rootLogger.level = INFO
rootLogger.appenderRef.file.ref = server
"""
