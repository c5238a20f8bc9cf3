"""One POST: through the proxy that the environment names, and never longer than it may take."""

from __future__ import annotations

import base64
import socket
import threading
from contextlib import suppress

import pytest

from aclkit.runtime.http_post import PostError, manager_for, post

ADDRESS = "https://hooks.example/secret"


@pytest.fixture
def proxied(monkeypatch):
    def by(proxy, bypass=""):
        monkeypatch.setenv("https_proxy", proxy)
        monkeypatch.setenv("no_proxy", bypass)
        return manager_for(ADDRESS)

    return by


@pytest.mark.parametrize(
    ("proxy", "port"),
    [
        ("http://gate.example", 80),
        ("gate.example", 80),
        ("https://gate.example", 443),
        ("http://user:pw@gate.example:3128/", 3128),
    ],
)
def test_a_proxy_without_a_port_is_asked_on_that_of_its_scheme(proxied, proxy, port):
    assert (proxied(proxy).proxy.host, proxied(proxy).proxy.port) == ("gate.example", port)


def test_what_needs_no_proxy_is_asked_itself(proxied):
    assert proxied("http://gate.example", bypass="hooks.example").proxy is None
    assert manager_for("http://hooks.example/").proxy is None


def test_the_credentials_of_a_proxy_go_to_the_proxy(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        got: list[bytes] = []

        def answer():
            connection, _ = server.accept()
            with connection:
                got.append(connection.recv(10_000))
                connection.sendall(b"HTTP/1.1 407 no\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        port = server.getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://me:p%40ss@127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(PostError) as caught:
            post(ADDRESS, b"{}", {}, 10)
        thread.join(10)
    assert got[0].startswith(b"CONNECT hooks.example:443 ")
    assert base64.b64encode(b"me:p@ss") in got[0]
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("scheme", "said"),
    [("http", b""), ("http", b"HTTP/1.1 200 OK\r\nX: "), ("https", b"")],
    ids=["silent", "drips", "silent-tls"],
)
def test_a_post_that_took_too_long_leaves_no_thread_and_no_descriptor(scheme, said):
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip():
            connection, _ = server.accept()
            with connection, suppress(OSError):
                while said and not over.wait(0.02):
                    connection.sendall(said)
                while connection.recv(100_000):
                    pass

        dripping = threading.Thread(target=drip, daemon=True)
        dripping.start()
        others = {*threading.enumerate()}
        with pytest.raises(TimeoutError):
            post(f"{scheme}://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, 0.3)
        for thread in {*threading.enumerate()} - others:
            thread.join(10)
            assert not thread.is_alive()
        over.set()
        dripping.join(10)  # it saw the end of the connection
        assert not dripping.is_alive()
