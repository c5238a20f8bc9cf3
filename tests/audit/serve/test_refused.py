"""Raw requests: a refusal ends its connection, and a target is taken in all its forms."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass

import pytest
from starlette.responses import PlainTextResponse

from aclkit.audit.serve.auth import FORMS, LARGEST_POST, MESSAGES, Posts
from aclkit.audit.serve.listening import Serving, listen
from aclkit.audit.serve.middleware import LONGEST_QUERY, AuthMiddleware
from tests.audit.serve.running import SECONDS


async def echo(scope, receive, send):
    """Answer with what an application sees of a request."""
    host = dict(scope["headers"])[b"host"].decode()
    said = f"{host} {scope['path']} {scope['raw_path'].decode()} {scope['query_string'].decode()}"
    await PlainTextResponse(said)(scope, receive, send)


@dataclass(frozen=True)
class Raw:
    port: int
    token: str
    posts: Posts

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def ask(self, *requests):
        """Send requests on one connection; return the first status and all that came."""
        with socket.create_connection(("127.0.0.1", self.port), SECONDS) as one:
            one.sendall(b"".join(requests))
            found = b"".join(iter(lambda: one.recv(65_536), b"")).decode()
        return int(found.split()[1]), found

    def request(self, target="/", method="GET", body=b"", **headers):
        said = {"Host": self.host} | {name.replace("_", "-"): of for name, of in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
        return f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode() + body

    def of_a_user(self, target="/", **headers):
        own = {
            "Content_Type": self.posts.kind, "Content_Length": "2",
            "Origin": f"http://{self.host}", "Authorization": f"Bearer {self.token}",
        }  # fmt: skip
        return self.request(target, "POST", b"{}", **(own | headers))


@pytest.fixture(scope="module", params=[FORMS, MESSAGES], ids=["serve", "mcp"])
def raw(request):
    def app(door):
        return AuthMiddleware(echo, door, frozenset())

    prepared = listen(Serving(warehouse=""), app, request.param)
    thread = threading.Thread(target=prepared.run, daemon=True)
    thread.start()
    yield Raw(prepared.listening.getsockname()[1], prepared.token, request.param)
    prepared.server.should_exit = True
    thread.join(SECONDS)


REFUSED = {
    "no token": ({"method": "POST", "body": b"{}", "Content_Length": "2"}, (401, 403, 415)),
    "wrong token": ({"Authorization": "Bearer x"}, (401, 405)),
    "another host": ({"Host": "evil.example"}, (421,)),
    "another method": ({"method": "DELETE"}, (405,)),
    "two lengths": (
        {"method": "POST", "Content_Length": "1", "Transfer_Encoding": "x"},
        (400, 501),
    ),
    "no length": ({"method": "POST", "Content_Type": "application/json"}, (403, 411, 415)),
    "a long address": ({"target": "/?" + "a" * (LONGEST_QUERY + 1)}, (405, 414)),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_ends_its_connection(raw, kind):
    asked, statuses = REFUSED[kind]
    status, found = raw.ask(raw.request(**asked), raw.request(**asked))
    assert status in statuses
    assert "connection: close\r\n" in found.lower()
    assert found.count("HTTP/1.1 ") == 1


def test_a_refusal_arrives_whole_where_a_body_is_still_sent(raw):
    size = 64 * LARGEST_POST
    asked = raw.request(method="POST", body=b"x" * size, Content_Length=size)
    status, found = raw.ask(asked)
    assert status in (403, 413, 415)
    assert found.endswith(".\n")


def test_a_users_requests_share_a_connection(raw):
    _, found = raw.ask(raw.of_a_user(), raw.of_a_user(Connection="close"))
    assert found.count("HTTP/1.1 200") == 2


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("http://{}/a%20b?c=d", "/a b /a%20b c=d"),
        ("HTTP://{}", "/ / "),
        ("https://{}//x", "//x //x "),
    ],
)
def test_a_target_may_name_the_host_which_then_outweighs_the_header(raw, target, path):
    for said in (raw.host, "evil.example"):
        asked = raw.of_a_user(target.format(raw.host), Host=said, Connection="close")
        status, found = raw.ask(asked)
        assert (status, found.partition("\r\n\r\n")[2]) == (200, f"{raw.host} {path}")


@pytest.mark.parametrize(
    "target", ["http://evil.example/", "http://u:p@{}/", "http:///", "http://{}.evil.example/"]
)
def test_a_target_that_names_another_host_is_refused(raw, target):
    asked = raw.of_a_user(target.format(raw.host), Connection="close")
    assert raw.ask(asked)[0] == 421
