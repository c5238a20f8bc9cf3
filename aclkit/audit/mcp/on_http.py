"""An MCP server → its answers over HTTP, to those who have the token."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from aclkit.audit.serve.auth import LARGEST_POST, MESSAGES, Auth
from aclkit.audit.serve.listening import Prepared, Serving, listen
from aclkit.audit.serve.middleware import AuthMiddleware

PATH: Final = "/mcp"


def prepare_http(server: Server[Any], serving: Serving) -> Prepared:
    """Take the address; each message is answered alone, so that no session holds anything.

    Raises:
        UsageError: an option makes no sense.
        SurroundingsError: the address is taken, or none of this machine's.
    """
    return listen(serving, lambda door: _app(server, door), MESSAGES)


def _app(server: Server[Any], door: Auth) -> ASGIApp:
    # Host and Origin are the door's to check, and so is the size of a body.
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=LARGEST_POST
    )
    app = Starlette(
        routes=[Route(PATH, StreamableHTTPASGIApp(manager))], lifespan=lambda _: manager.run()
    )
    return AuthMiddleware(app, door, frozenset({PATH}))
