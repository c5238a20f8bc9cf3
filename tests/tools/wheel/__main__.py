"""``make wheel-test``: what ``pip install`` of the wheel gives, tried on ten records of a log.

The wheel is installed alone: a run, a run by Spark with equal decisions, and a question must work,
and commands that want an extra must name it. With its extra ``serve`` and then with ``mcp`` a
browser's and an assistant's requests are answered. Jars are those of this environment.
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from mcp import Client, StdioServerParameters, stdio_client

from aclkit.runtime.environment import jar_folder
from tests.audit.serve.running import Client as Browser
from tests.tools.installed import ROOT, FailedError, environment, install, new_environment, run

TOPIC, ACL = "TOPIC_RECORD", "ACCESS_CONTROL_ENTRY_RECORD"
READ, WRITE, DESCRIBE = 3, 4, 8
ACCESSES: Final = "SELECT * EXCLUDE cluster_id FROM explain ORDER BY ALL"
ALLOWED: Final = ("User:alice", "READ", "topic:orders")


def _id(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(16)).decode().rstrip("=")


def _acl(number: int, name: str, principal: str, operation: int, **changed: object) -> object:
    made = {
        "id": _id(number), "resourceType": 2, "resourceName": name, "patternType": 3,
        "principal": principal, "host": "*", "operation": operation, "permissionType": 3,
    }  # fmt: skip
    return ACL, made | changed


RECORDS: Final = (
    (TOPIC, {"name": "orders", "topicId": _id(0)}),
    (TOPIC, {"name": "payments", "topicId": _id(1)}),
    _acl(2, "orders", "User:alice", READ),
    _acl(3, "pay", "User:bob", WRITE, patternType=4),
    _acl(4, "payments", "User:alice", WRITE, permissionType=2),
    _acl(5, "orders", "User:*", DESCRIBE),
    _acl(6, "readers", "User:carol", READ, resourceType=3),
    _acl(7, "*", "User:dave", READ, host="10.0.0.1"),
    ("REMOVE_ACCESS_CONTROL_ENTRY_RECORD", {"id": _id(3)}),
    _acl(9, "payments", "User:bob", WRITE),
)
ACLS_IN_FORCE: Final = 6


@dataclass(frozen=True, slots=True)
class Installed:
    """The environment of a wheel, and a folder to work in with a home that is empty."""

    python: Path
    wheel: Path
    work: Path

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.work / "home"), "ACLKIT_JARS": str(jar_folder().absolute())}

    @property
    def program(self) -> str:
        return str(self.python.parent / "aclkit")

    def aclkit(self, warehouse: str, *words: str, code: int = 0) -> tuple[str, str]:
        """Run a command and return what it prints; it must end with this exit code."""
        place = ("--warehouse", warehouse)
        return run(self.program, *place, *words, cwd=self.work, code=code, **self.env)


def _require(is_so: object, what: str) -> None:
    if not is_so:
        raise FailedError(what)


def _run_both(installed: Installed) -> str:
    """Do a night twice; the decisions of Spark must be those of this process."""
    lines = [
        json.dumps({"offset": at, "timestamp": 1_795_000_000_000 + at, "type": kind, "version": 0}
                   | {"data": data})
        for at, (kind, data) in enumerate(RECORDS)
    ]  # fmt: skip
    (installed.work / "ten.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    night = ("run", "--source", "records:ten.jsonl", "--super-users", "User:admin")
    night += ("--no-allow-everyone", "--fail-on", "never")
    found = {}
    for warehouse, more in (("w", ()), ("by-spark", ("--decide-with", "spark"))):
        installed.aclkit(warehouse, *night, *more)
        found[warehouse], _ = installed.aclkit(warehouse, "sql", ACCESSES, "--format", "csv")
    _require(found["w"] == found["by-spark"], "Spark decides otherwise than this process")
    answer, _ = installed.aclkit("by-spark", "can", *ALLOWED)
    _require(answer.startswith("Yes"), f"{' '.join(ALLOWED)}: {answer}")
    acls, _ = installed.aclkit("w", "acls", "list", "--format", "csv")
    _require(len(acls.splitlines()) == 1 + ACLS_IN_FORCE, f"ACLs in force: {acls}")
    return f"run, run --decide-with spark: {len(found['w'].splitlines()) - 1} equal decisions"


def _name_extras(installed: Installed) -> str:
    """Without its extra a command ends with exit code 4 and says how to install it."""
    for command in ("serve", "mcp"):
        _, told = installed.aclkit("w", command, code=4)
        _require(f"pip install 'aclkit[{command}]'" in told, f"{command} without its extra: {told}")
    return "serve and mcp name their extras"


@contextmanager
def _serving(installed: Installed) -> Iterator[Browser]:
    words = [installed.program, "--warehouse", "w", "serve", "--port", "0"]
    env = environment(**installed.env)
    with subprocess.Popen(
        words, cwd=installed.work, env=env, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            told = process.stderr.readline(), process.stderr.readline()
            _require("Open:" in told[0], f"serve: {' '.join(told)}")
            yield Browser(told[1].strip())
        finally:
            process.terminate()


def _serve(installed: Installed) -> str:
    with _serving(installed) as client:
        principal, operation, topic = ALLOWED
        page = client.enter().ask("/who-can", operation=operation, resource=topic)
    _require(page.status == 200 and principal in page.text, f"serve: {page.status} {page.text}")
    return "serve answers who-can"


def _mcp(installed: Installed) -> str:
    words = ["--warehouse", "w", "mcp"]
    started = StdioServerParameters(
        command=installed.program, args=words, env=environment(**installed.env), cwd=installed.work
    )
    principal, operation, topic = ALLOWED

    async def ask() -> str:
        async with Client(stdio_client(started)) as client:
            answer = await client.call_tool("who_can", {"operation": operation, "resource": topic})
            return " ".join(part.text for part in answer.content)

    told = asyncio.run(ask())
    _require(principal in told, f"mcp: {told}")
    return "mcp answers who_can"


def _try(installed: Installed) -> Iterator[str]:
    install(installed.python, installed.wheel)
    yield "installed without extras"
    yield _run_both(installed)
    yield _name_extras(installed)
    install(installed.python, installed.wheel, "serve")
    yield _serve(installed)
    install(installed.python, installed.wheel, "mcp")
    yield _mcp(installed)


def main() -> None:
    """Try the wheel in ``dist``; each step says what was seen."""
    (wheel,) = (ROOT / "dist").glob("aclkit-*.whl")
    with tempfile.TemporaryDirectory(prefix="aclkit-wheel-") as name:
        folder = Path(name)
        (folder / "work" / "home").mkdir(parents=True)
        python = new_environment(folder / "env")
        try:
            for seen in _try(Installed(python, wheel, folder / "work")):
                click.echo(f"{time.strftime('%H:%M:%S')} {seen}")
        except FailedError as error:
            sys.exit(f"Error: {error}")
    click.echo(f"{wheel.name} works.")


if __name__ == "__main__":
    main()
