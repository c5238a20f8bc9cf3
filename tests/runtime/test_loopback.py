"""A server on the loopback: for this machine, for what is asked of it, and nothing else."""

from __future__ import annotations

import http.client

import pytest

from aclkit.errors import SurroundingsError, UsageError
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


def test_an_address_that_is_taken_is_an_error_in_words():
    with (
        answering("127.0.0.1", 0, REPLIES) as port,
        pytest.raises(SurroundingsError, match=f"Cannot listen on 127.0.0.1 port {port}"),
        answering("127.0.0.1", port, REPLIES),
    ):
        pass
