"""Clients of the official SDK that ask a server of a warehouse, over stdio and over HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from aclkit.audit.mcp.server import Tools, make_server
from aclkit.audit.serve.snapshot import LatestSnapshot
from aclkit.audit.serve.workers import Limits
from aclkit.cli.sandbox import SqlQuestion, answer

ROOT = Path(__file__).parents[3]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
SECONDS = 60.0


def words(warehouse: Path | str, *more: str) -> list[str]:
    return ["-m", "aclkit", "--warehouse", str(warehouse), "mcp", *more]


@asynccontextmanager
async def over_stdio(warehouse: Path | str, *more: str) -> AsyncIterator[Client]:
    """Start the command as a client does, and end it by closing its stdin."""
    started = StdioServerParameters(
        command=sys.executable, args=words(warehouse, *more), env=dict(ENV)
    )
    async with Client(stdio_client(started)) as client:
        yield client


@dataclass(frozen=True)
class Listening:
    """A server over HTTP."""

    url: str
    token: str

    @asynccontextmanager
    async def client(self, mode: str = "auto") -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client

    def post(self, **headers: str) -> httpx2.Response:
        """Send a message by hand."""
        said = {"Accept": "application/json, text/event-stream", **headers}
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        return httpx2.post(self.url, json=body, headers=said, timeout=SECONDS)


@contextmanager
def over_http(warehouse: Path | str, *more: str) -> Iterator[Listening]:
    """Serve a warehouse on a free port of this machine while the block runs."""
    command = [sys.executable, *words(warehouse, "--http", "127.0.0.1:0", *more)]
    with subprocess.Popen(command, env=ENV, stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            told = [process.stderr.readline().strip() for _ in range(3)]
            yield Listening(told[1], told[2].rpartition(" ")[2])
        finally:
            process.terminate()


def tools_of(warehouse: Path | str, **chosen: Any) -> Tools:
    """Return what a server in this process is made of."""
    place = str(warehouse)
    question = {"warehouse": place, "output_format": "jsonl"}
    seconds = chosen.get("limits", Limits(seconds=SECONDS)).seconds
    given = {
        "warehouse": place,
        "latest": LatestSnapshot(place),
        "cluster": None,
        "judge": None,
        "sql": lambda text, is_wanted: answer(
            SqlQuestion(statement=text, **question), seconds, is_wanted
        ),
        "limits": Limits(seconds=SECONDS),
        "max_age": timedelta(days=100_000),
    }
    return Tools(**{**given, **chosen})


async def ask(tools: Tools, name: str, given: Mapping[str, object]) -> Any:
    """Ask a server in this process by the SDK's client."""
    async with Client(make_server(tools)) as client:
        return await client.call_tool(name, dict(given))
