"""An MCP server → its answers on stdout to what the process that started this one asks on stdin."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server


def run_on_stdio(server: Server[Any]) -> None:
    """Answer the process that started this one, until it closes its end."""
    anyio.run(_on_stdio, server)


async def _on_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
