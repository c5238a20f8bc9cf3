"""Tokens of OAUTHBEARER, fetched from an endpoint on 127.0.0.1."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import pytest

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.client.config import client_config
from aclkit.model.facts import ADD_ACL
from aclkit.pipeline.sources.live import read_live
from tests.kafka.client import stores
from tests.pipeline.sources.fake_broker import fake_broker

pytestmark = pytest.mark.timeout(60)

SECRET = "client-secret-value"
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


@contextmanager
def endpoint(status=200, body=None, headers=(), delay=0.0, tls=None):
    """Run a token endpoint; yields its URL and the requests that it got."""
    asked = []
    told = {"access_token": "t0k3n", "token_type": "Bearer"} if body is None else body

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append((self.headers["Authorization"], parse_qs(form)))
            time.sleep(delay)
            data = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/token", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def config(url, options="", **changes):
    given = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{MODULE} required {options};",
        "sasl.oauthbearer.token.endpoint.url": url,
    }
    return given | {f"sasl.oauthbearer.{key}": value for key, value in changes.items()}


OLD = f"clientId=app clientSecret='{SECRET}' scope='kafka acls'"
NEW = {
    "client.credentials.client.id": "app",
    "client.credentials.client.secret": SECRET,
    "scope": "kafka acls",
}


def fetched(properties, timeout=10.0):
    tokens = client_config(properties).tokens
    tokens.fetch(timeout)
    return tokens


@pytest.mark.parametrize(("options", "changes"), [(OLD, {}), ("", NEW), ("clientId=x", NEW)])
def test_client_credentials_are_taken_from_either_place_the_newer_one_first(options, changes):
    with endpoint() as (url, asked):
        assert fetched(config(url, options, **changes)).token() == "t0k3n"
    basic = base64.b64encode(f"app:{SECRET}".encode()).decode()
    assert asked == [
        (f"Basic {basic}", {"grant_type": ["client_credentials"], "scope": ["kafka acls"]})
    ]


def test_id_and_secret_are_encoded_where_the_configuration_says_so():
    changes = NEW | {"client.credentials.client.secret": "a b&:", "header.urlencode": "true"}
    with endpoint() as (url, asked):
        fetched(config(url, **changes))
    assert base64.b64decode(asked[0][0].removeprefix("Basic ")) == b"app:a+b%26%3A"


def test_a_cluster_is_asked_with_the_token_and_its_extensions():
    login = b"n,,\x01auth=Bearer t0k3n\x01logicalCluster=lkc-1\x01\x01"
    acl = (2, "orders", 3, "User:alice", "*", 3, 3)
    with endpoint() as (url, _), fake_broker([acl], users=[login]) as broker:
        properties = config(url, OLD + " extension_logicalCluster='lkc-1'")
        rows = read_live(broker.bootstrap, client_config(properties), 10.0).rows
    assert [row.principal for row in rows if row.record_type == ADD_ACL] == ["User:alice"]
    assert broker.logins == [login]


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_refused_client_is_named_as_such(status):
    with (
        endpoint(status, {"error": "invalid_client", "error_description": SECRET}) as (url, _),
        pytest.raises(
            SurroundingsError,
            match=rf"authentication failed: .* rejects the client 'app': {status} invalid_client$",
        ) as raised,
    ):
        fetched(config(url, OLD))
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b"[" * 100_000,
        {"token": "x"},
        {"access_token": "a\x01b"},
        {"access_token": 7},
    ],
)
def test_an_answer_without_a_token_is_refused(body):
    with endpoint(body=body) as (url, _), pytest.raises(SurroundingsError, match="access_token"):
        fetched(config(url, OLD))


@pytest.fixture
def tls(tmp_path):
    """An endpoint's TLS; its certificate is of 127.0.0.1 and localhost."""
    key, certificate = stores.identity("server")
    (tmp_path / "server.pem").write_text(
        stores.pem_key(key) + stores.pem(certificate), encoding="utf-8"
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    return context


def trusting(name):
    pem = stores.pem(stores.authority(name)[1]).replace("\n", "\\n")
    return f"{OLD} ssl.truststore.type='PEM' ssl.truststore.certificates='{pem}'"


def test_an_endpoint_with_tls_is_trusted_as_the_configuration_says(tls):
    with endpoint(tls=tls) as (url, _):
        https = url.replace("http://", "https://")
        assert fetched(config(https, trusting("ca"))).token() == "t0k3n"
        with pytest.raises(SurroundingsError, match=r"cannot connect .*CERTIFICATE_VERIFY_FAILED"):
            fetched(config(https, trusting("other")))


def test_the_name_of_an_endpoint_counts_unless_the_configuration_says_otherwise(tls, monkeypatch):
    find = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda _, *rest, **more: find("127.0.0.1", *rest, **more)
    )
    with endpoint(tls=tls) as (url, _):
        other = url.replace("http://127.0.0.1", "https://other.example")
        with pytest.raises(SurroundingsError, match="Hostname mismatch"):
            fetched(config(other, trusting("ca")))
        anyone = trusting("ca") + " ssl.endpoint.identification.algorithm=''"
        assert fetched(config(other, anyone)).token() == "t0k3n"


def test_no_redirect_is_followed():
    with endpoint() as (other, asked):
        with (
            endpoint(307, headers=[("Location", other)]) as (url, _),
            pytest.raises(SurroundingsError, match="307"),
        ):
            fetched(config(url, OLD))
        assert asked == []


def test_an_endpoint_that_is_not_there_is_said():
    with pytest.raises(SurroundingsError, match="cannot connect to the token endpoint"):
        fetched(config("http://127.0.0.1:1/token", OLD))


def test_an_endpoint_that_does_not_answer_ends_within_the_time_given():
    # Whoever waited for the answer would have a token.
    with endpoint(delay=1) as (url, _), pytest.raises(SurroundingsError):
        fetched(config(url, OLD), timeout=0.3)


@pytest.mark.parametrize(
    ("url", "options", "changes", "message"),
    [
        ("", OLD, {}, "token.endpoint.url"),
        ("file:///etc/passwd", OLD, {}, "http or https"),
        ("http://[", OLD, {}, "http or https"),
        (f"https://svc:{SECRET}@127.0.0.1/t", OLD, {}, "a user or a password"),
        (f"http://{SECRET}@127.0.0.1/t?k=1", OLD, {}, "a user or a password"),
        (f"https://:{SECRET}@127.0.0.1:9/t", OLD, {}, "a user or a password"),
        ("http://127.0.0.1/t", "", {}, "client.id and"),
        ("http://127.0.0.1/t", "clientId=a", {}, "clientSecret"),
        ("http://127.0.0.1/t", OLD, {"jwt.retriever.class": "x.Y"}, "client credentials"),
    ],
)
def test_what_makes_no_grant_is_a_usage_error(url, options, changes, message):
    with pytest.raises(UsageError, match=message) as raised:
        client_config(config(url, options, **changes))
    assert SECRET not in str(raised.value)


def test_an_endpoint_by_http_is_warned_of(caplog):
    client_config(config("https://127.0.0.1/t", OLD))
    assert not caplog.records
    client_config(config("http://127.0.0.1/t", OLD))
    assert "is http, so the client's secret" in caplog.text
