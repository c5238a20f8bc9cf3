"""A warehouse → an MCP server: each call is answered from one published run, within limits."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

import anyio
import duckdb
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

import aclkit
from aclkit.audit.mcp.answers import (
    INSTRUCTIONS,
    SQL,
    Asking,
    described,
    notes_on_settings,
    questions,
)
from aclkit.audit.mcp.arguments import Sql, parse_arguments
from aclkit.audit.mcp.asked_sql import Ask, ask_sql
from aclkit.audit.mcp.reply import Standing, failure_of, result_of
from aclkit.audit.reports.gather import Judge
from aclkit.audit.serve.snapshot import LatestSnapshot, Reading, Snapshot
from aclkit.audit.serve.workers import Limits, Workers
from aclkit.errors import AclkitError, UsageError
from aclkit.questions.arguments import Asked
from aclkit.warehouse.damage import damage_of

_logger = logging.getLogger(__name__)

_Context = ServerRequestContext[Any]

_AS_ARGUMENTS: Final = {
    "--compare-settings": "compare_settings",
    "--since": "since",
    "--cluster": "cluster",
}
"""What messages call an option, and what a tool calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What is served, and how.

    Attributes:
        warehouse: its folder or URI, which no client is told.
        latest: its newest run.
        cluster: the only one that is served, where one is named.
        judge: gives findings their states, where there is a baseline or a mute.
        sql: runs a statement.
        limits: of a call.
        max_age: an answer of an older run comes with a warning.
    """

    warehouse: str
    latest: LatestSnapshot
    cluster: str | None
    judge: Judge | None
    sql: Ask
    limits: Limits
    max_age: timedelta


def make_server(tools: Tools) -> Server[Any]:
    """Return a server without a transport."""
    calls = _Calls(tools)
    return Server(
        "aclkit",
        version=aclkit.__version__,
        title="aclkit",
        description="Who can do what on a Kafka cluster, and which ACL decides. Read-only.",
        instructions=INSTRUCTIONS,
        on_list_tools=calls.list_tools,
        on_call_tool=calls.call,
    )


class _Calls:
    """The calls of all clients of one server."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._questions = questions(tools.judge)
        places = {tools.warehouse, str(tools.latest.snapshot().published.place)}
        self._places = sorted(places, key=len, reverse=True)
        self._workers = Workers(tools.limits)
        # A statement may take half of the machine's memory, so one is at work at a time.
        self._statements = Workers(replace(tools.limits, at_once=1))

    async def list_tools(self, _: _Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        """Return the tools."""
        return ListToolsResult(tools=described(self._questions, has_sql=True))

    async def call(self, _: _Context, called: CallToolRequestParams) -> CallToolResult:
        """Answer a call; what goes wrong is told in words and is no error of the protocol."""
        if called.name != SQL and called.name not in self._questions:
            known = ", ".join([*self._questions, SQL])
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool. Tools: {known}.")
        try:
            return await self._answer(called)
        except AclkitError as error:
            return failure_of(self._plain(str(error)))
        except Exception as error:
            _logger.exception("The tool %s failed", called.name)
            damage = damage_of(error)
            told = f"This is a defect of aclkit ({type(error).__name__}). Its log has the details."
            return failure_of(told if damage is None else self._plain(str(damage)))

    async def _answer(self, called: CallToolRequestParams) -> CallToolResult:
        given = called.arguments or {}
        if called.name == SQL:
            asked = parse_arguments(Sql, given)
            return await self._run(self._statements, partial(self._sql, asked))
        asking = self._questions[called.name].asking(given)
        return await self._run(self._workers, partial(self._question, asking))

    async def _run(
        self,
        workers: Workers,
        work: Callable[[Snapshot, duckdb.DuckDBPyConnection], CallToolResult],
    ) -> CallToolResult:
        return await workers.run(self._tools.latest.snapshot, work)

    def _question(
        self, asking: Asking, snapshot: Snapshot, cursor: duckdb.DuckDBPyConnection
    ) -> CallToolResult:
        """Answer a question, in a thread of its own: all of it is of one run."""
        reading = self._reading(asking.asked, snapshot, cursor)
        reply = asking.answer(reading)
        standing = Standing(
            published=reading.published,
            run=reading.run,
            max_age=self._tools.max_age,
            clean=self._without_place,
        )
        return result_of(reply.answer, reply.notes, standing, asking.asked.limit)

    def _reading(
        self, asked: Asked, snapshot: Snapshot, cursor: duckdb.DuckDBPyConnection
    ) -> Reading:
        known, only = snapshot.published.clusters, self._tools.cluster
        if asked.cluster is None and only is None and len(known) > 1:
            raise UsageError(
                f"The warehouse has several clusters. Pass cluster: {', '.join(known)}"
            )
        return Reading.chosen(snapshot, cursor, asked.cluster, only)

    def _sql(self, asked: Sql, snapshot: Snapshot, _: duckdb.DuckDBPyConnection) -> CallToolResult:
        tools = self._tools
        if tools.cluster is not None and len(snapshot.published.clusters) > 1:
            raise UsageError(
                "SQL would read all clusters of the warehouse, and this server has only cluster "
                f"{tools.cluster}. Ask the other tools."
            )
        found = ask_sql(tools.warehouse, tools.sql, asked.statement, asked.limit)
        standing = Standing(
            published=found.published,
            run=found.published.run,
            max_age=tools.max_age,
            clean=self._without_place,
            has_stamp=False,
        )
        told = notes_on_settings(found.published.run)
        return result_of(found.answer, told, standing, asked.limit, has_more=found.has_more)

    def _plain(self, message: str) -> str:
        """Write an error in the words of tools."""
        message = self._without_place(message)
        for option, argument in _AS_ARGUMENTS.items():
            message = message.replace(option, argument)
        return message

    def _without_place(self, text: str) -> str:
        """Write a text without the place of the warehouse."""
        for place in self._places:
            text = text.replace(place, "WAREHOUSE")
        return text


def run_on_stdio(server: Server[Any]) -> None:
    """Answer the process that started this one, until it closes its end."""
    anyio.run(_on_stdio, server)


async def _on_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
