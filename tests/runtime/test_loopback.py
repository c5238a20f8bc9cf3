"""A server on the loopback: for this machine, for what is asked of it, and nothing else."""

from __future__ import annotations

import http.client
import socket
import threading
from contextlib import closing

import pytest

from aclkit.errors import SurroundingsError, UsageError
from aclkit.runtime import loopback
from aclkit.runtime.loopback import Reply, answering, parse_loopback

REPLIES = {"/a": lambda: Reply(200, "text/plain", "é\n")}


def ask(port, path="/a", method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request(method, path, headers={} if host is None else {"Host": host})
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "text",
    ["0.0.0.0:1", "10.0.0.1:80", "example.com:80", "127.0.0.1", ":80", "127.0.0.1:x",
     "127.0.0.1:65536", "127.0.0.1:-1", "[::]:80", "127.0.0.1:٣"],
)  # fmt: skip
def test_other_addresses_than_those_of_the_loopback_are_refused(text):
    with pytest.raises(UsageError, match="other machines are not served"):
        parse_loopback(text)


@pytest.mark.parametrize("text", ["127.0.0.1:80", "127.8.8.8:80", "[::1]:80", "localhost:80"])
def test_addresses_of_the_loopback_are_taken(text):
    assert parse_loopback(text)[1] == 80


def test_what_is_there_is_answered_and_what_is_not_is_named():
    with answering("127.0.0.1", 0, REPLIES) as port:
        assert ask(port) == (200, "é\n")
        assert ask(port, "/a?b=c")[0] == 200
        assert ask(port, "/b") == (404, "Only /a.\n")
        assert ask(port, method="POST")[0] == 501


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.1", ""])
def test_who_asks_for_another_name_is_refused(host):
    with answering("127.0.0.1", 0, REPLIES) as port:
        assert ask(port, host=host)[0] == 403
        assert ask(port, host="localhost:1")[0] == 200


def test_a_target_may_name_the_host_which_then_outweighs_the_header():
    with answering("127.0.0.1", 0, REPLIES) as port:
        assert ask(port, f"http://127.0.0.1:{port}/a?b", host="evil.example")[0] == 200
        assert ask(port, "http://evil.example/a", host="localhost")[0] == 403


def test_an_address_that_is_taken_is_an_error_in_words():
    with (
        answering("127.0.0.1", 0, REPLIES) as port,
        pytest.raises(SurroundingsError, match=f"Cannot listen on 127.0.0.1 port {port}"),
        answering("127.0.0.1", port, REPLIES),
    ):
        pass


def half(port, count=1, said=b"GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "):
    found = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(count)]
    for one in found:
        one.sendall(said)
    return found


def test_connections_that_ask_nothing_make_room_for_those_that_do():
    with answering("127.0.0.1", 0, REPLIES) as port:
        threads = threading.active_count()
        held = half(port, 3 * loopback._MOST)
        assert ask(port) == (200, "é\n")
        assert threading.active_count() == threads
        closed = [one for one in held if is_closed(one)]
        assert len(closed) >= 2 * loopback._MOST
        for one in held:
            one.close()


def is_closed(one):
    """Whether the other side has ended a connection; it says nothing else."""
    one.settimeout(0.01)
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_a_request_that_drips_is_ended_in_time(monkeypatch):
    monkeypatch.setattr(loopback, "_SECONDS", 0.2)
    with answering("127.0.0.1", 0, REPLIES) as port:
        (one,) = half(port)
        with closing(one), pytest.raises(OSError, match=r"reset|Broken pipe"):
            drip(one)


def drip(one):
    while True:
        one.sendall(b"x")
        threading.Event().wait(0.02)


def test_a_head_without_an_end_is_refused():
    with answering("127.0.0.1", 0, REPLIES) as port:
        (one,) = half(port, said=b"GET /a HTTP/1.1\r\nX: " + b"x" * 20_000)
        with closing(one):
            one.settimeout(5)
            assert one.recv(100).startswith(b"HTTP/1.1 431 ")


def test_an_answer_that_fails_ends_no_server():
    with answering("127.0.0.1", 0, {**REPLIES, "/b": lambda: 1 // 0}) as port:
        assert ask(port, "/b")[0] == 500
        assert ask(port)[0] == 200
