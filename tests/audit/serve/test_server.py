"""The server as a whole: refusals, the token's exchange, answers that are the questions' own."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from contextlib import closing, suppress
from urllib.parse import quote

import pytest

from aclkit.audit.serve import middleware
from aclkit.audit.serve.listening import TokenFile
from aclkit.audit.serve.middleware import LONGEST_QUERY
from aclkit.audit.serve.server import LONGEST_FIELD
from aclkit.audit.serve.workers import Limits
from aclkit.errors import SurroundingsError, UsageError
from aclkit.model.resource import Resource
from aclkit.model.visible import visible
from aclkit.questions.query.access import who_can
from aclkit.questions.query.what_can import what_can
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.words import why_sentence
from aclkit.runtime import connections, safe_read
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.audit.reports.made import HOSTILE, IMAGE
from tests.audit.serve.conftest import SQL
from tests.audit.serve.running import SECONDS, serving
from tests.questions.query import small_warehouse as small

ACL = {
    "action": "add", "permission": "allow", "principal": "User:mallory", "operation": "READ",
    "type": "topic", "name": "pay", "pattern": "prefixed", "host": "",
}  # fmt: skip


def test_another_local_user_without_the_token_sees_nothing(stranger):
    for path in ("/", "/who-can?resource=topic:payments", "/assets/x.css", "/nothing"):
        answer = stranger.ask(path)
        assert answer.status == 401
        assert "payments" not in answer.html
    assert stranger.ask("/preview", ACL).status == 401
    assert stranger.ask("/", token="wrong").status == 403
    assert stranger.ask(f"/?token={stranger.token}&token=wrong").status == 403


def test_a_page_that_rebound_its_name_is_refused_with_the_cookie_too(client):
    assert client.ask("/", headers={"Host": "evil.example"}).status == 421


def test_a_form_of_another_site_is_refused_with_the_cookie_too(client):
    assert client.ask("/preview", ACL, headers={"Origin": "http://evil.example"}).status == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger):
    answer = stranger.ask("/who-can", resource="topic:a b", token=stranger.token)
    assert answer.status == 303
    assert answer.headers["location"] == "/who-can?resource=topic%3Aa+b"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert stranger.token not in cookie


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_the_exchange_leads_to_no_other_server(stranger, path):
    place = stranger.ask(path, token=stranger.token).headers["location"]
    assert place.startswith("/evil")


def test_answers_are_kept_nowhere_and_run_nothing_of_others(client):
    said = client.ask("/").headers
    assert said["cache-control"] == "no-store"
    assert said["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert "unsafe" not in said["content-security-policy"]
    assert said["x-frame-options"] == "DENY"


def test_the_log_names_pages_and_never_what_was_asked(stranger, caplog):
    with caplog.at_level(logging.INFO, logger="aclkit"):
        inside = stranger.enter()
        inside.ask("/who-can", resource="topic:secret-name")
        inside.ask("/secret-path", q="secret")
        end = time.monotonic() + SECONDS
        while "(no page)" not in caplog.text:  # it is written when the answer has gone
            assert time.monotonic() < end
    assert "GET /who-can 200" in caplog.text
    assert "GET (no page) 404" in caplog.text
    assert stranger.token not in caplog.text
    assert "secret" not in caplog.text


def test_a_stranger_writes_no_words_of_its_own_into_the_log(stranger, caplog):
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
    with caplog.at_level(logging.INFO, logger="aclkit"):
        assert stranger.ask("/", method="MADE" * 2_000).status == 405
        assert stranger.ask("/", headers=upgrade).status == 401
        end = time.monotonic() + SECONDS
        while "GET / 401" not in caplog.text:
            assert time.monotonic() < end
    assert "MADE" not in caplog.text
    assert "pgrade" not in caplog.text
    assert "(no method) / 405" in caplog.text


def test_too_long_and_too_many_fields_are_refused(client):
    assert client.ask("/", q="x" * LONGEST_QUERY).status == 414
    for path, given in (
        ("/search", {"q": "x" * (LONGEST_FIELD + 1)}),
        ("/search", {f"q{number}": "x" for number in range(30)}),
        ("/who-can", {"resource": "topic:a\0b"}),
    ):
        answer = client.ask(path, **given)
        assert answer.status == 400
        assert "at most" in answer.text
    assert client.ask("/search?q=%ff").status == 400
    assert client.ask("/preview", "x=" + "y" * 70_000).status == 413


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (
            "/who-can?resource=payments",
            "'payments' has no resource type. Did you mean topic:payments?",
        ),
        ("/who-can?resource=topic:payments&operation=FLY", "Unknown operation 'FLY'."),
        ("/who-can?resource=topic:payments&decision=x", "Unknown decision 'x'"),
        ("/who-can?resource=topic:payments&host=nowhere", "'nowhere'"),
        ("/what-can?principal=alice", "'alice' has no principal type. Did you mean User:alice?"),
        ("/what-can?principal=User:a&type=x", "Unknown type 'x'"),
        ("/why?principal=User:a&resource=topic:x&operation=READ&at=yesterday", "Invalid offset"),
        ("/history?principal=User:a&resource=topic:x", "Unknown operation ''."),
        ("/?cluster=another", "Cluster 'another' is not in"),
    ],
)
def test_what_makes_no_sense_is_said_and_is_no_defect(client, path, says):
    answer = client.ask(path)
    assert answer.status == 400
    assert says in answer.text


def test_hostile_names_stay_text_on_every_page(client):
    who, what = f"User:{HOSTILE}", f"topic:{HOSTILE}"
    access = {"principal": who, "resource": what, "operation": "WRITE"}
    pages = [
        client.ask("/who-can", resource="topic:orders"),
        client.ask("/who-can", resource=what),
        client.ask("/what-can", principal=who),
        client.ask("/why", **access),
        client.ask("/history", **access),
        client.ask("/search", q="img"),
        client.ask("/findings", words=HOSTILE),
        client.ask("/preview", ACL | {"principal": who, "name": HOSTILE}),
        client.ask("/who-can", resource=HOSTILE),
    ]
    for page in pages:
        assert IMAGE not in page.html
        assert "<script>" not in page.html
        assert "\u202e" not in page.text
    assert visible(HOSTILE) in pages[1].text.replace("  ", " ")


def test_letters_of_sql_are_letters(client):
    answer = client.ask("/who-can", resource=f"topic:{SQL}")
    assert answer.status == 200
    assert "is unknown" not in answer.text
    assert "what-can?principal=User%3Aalice" in answer.html
    assert "User:x'y" in client.ask("/what-can", principal="User:x'y").text


def test_the_reason_says_what_brokers_decide_where_that_is_another_decision(client):
    page = client.ask(
        "/why", principal="User:carol", operation="WRITE", resource="topic:payments",
        host="10.0.0.1",
    )  # fmt: skip
    assert "By Kafka" in page.text
    assert "own reading (--semantics kafka) this would be denied: no ACL allows it." in page.text


def test_answers_are_the_questions_own(client, warehouse):
    published = open_warehouse(str(warehouse))
    with connect(published) as tables:
        at = tables, published, small.CLUSTER
        names = {row[0] for row in who_can(*at, "READ", Resource("TOPIC", "payments")).rows}
        resources = {row[0] for row in what_can(*at, "User:bob").rows}
        why = explain_why(*at, "User:bob", "READ", Resource("TOPIC", "payments"), host="10.0.0.1")
    who = client.ask("/who-can", resource="topic:payments", operation="READ")
    for name in small.PRINCIPALS:
        assert (f"what-can?principal={quote(name, safe='')}" in who.html) == (name in names)
    what = client.ask("/what-can", principal="User:bob")
    for kind, name in small.RESOURCES[:3]:
        place = f"who-can?resource={quote(str(Resource(kind, name)), safe='')}"
        assert (place in what.html) == (str(Resource(kind, name)) in resources)
    page = client.ask("/why", principal="User:bob", operation="READ",
                      resource="topic:payments", host="10.0.0.1")  # fmt: skip
    assert why_sentence(why) in page.text
    assert [part.acl.acl_id in page.text for part in (*why.acls, *why.near)] == [True] * len(
        (*why.acls, *why.near)
    )


def test_a_word_leads_to_the_only_name_and_a_misspelt_one_to_near_names(client):
    assert client.ask("/search", q="payments").headers["location"] == (
        "/who-can?resource=topic%3Apayments"
    )
    assert client.ask("/search", q="who can READ orders").headers["location"] == (
        "/who-can?resource=topic%3Aorders&operation=READ"
    )
    near = client.ask("/search", q="paymemts")
    assert "who-can?resource=topic%3Apayments" in near.html
    unknown = client.ask("/who-can", resource="topic:paymemts").text
    assert "topic:paymemts is unknown. This is what would apply if it existed." in unknown


def test_an_acl_is_previewed_with_the_command_that_makes_it(client):
    page = client.ask("/preview", ACL)
    assert page.status == 200
    assert "kafka-acls --bootstrap-server HOST:PORT --add --topic pay" in page.text
    assert "READ on topic pay* (prefix) for User:mallory" in page.text
    gone = client.ask("/preview", ACL | {
        "action": "remove", "principal": "User:bob", "operation": "ALL",
    })  # fmt: skip
    assert "--remove" in gone.text
    assert "User:bob" in gone.text
    assert "Unknown type" in client.ask("/preview", ACL | {"type": "x"}).text
    assert "malformed" not in client.ask("/preview", ACL | {"principal": "alice"}).text
    assert client.ask("/preview", ACL | {"principal": "alice"}).status == 400


def test_a_question_that_takes_too_long_is_stopped_and_the_next_is_answered(warehouse, monkeypatch):
    def for_ever(*_):
        while True:
            pass

    with serving(warehouse, limits=Limits(seconds=0.3, at_once=1, waiting=1)) as outside:
        inside = outside.enter()
        inside.ask("/")
        with monkeypatch.context() as patched:
            patched.setattr("aclkit.audit.serve.answers.find", for_ever)
            answers = []
            threads = [
                threading.Thread(target=lambda: answers.append(inside.ask("/search", q="x")))
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert {answer.status for answer in answers} == {503}
        assert any("longer than 0.3 seconds" in answer.text for answer in answers)
        assert any("Too many questions" in answer.text for answer in answers)
    assert not [t for t in threading.enumerate() if t.name == "aclkit-question" and t.is_alive()]


def test_an_address_that_is_taken_and_a_token_others_may_read_are_refused(warehouse, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(SurroundingsError, match=f"Cannot listen on 127.0.0.1 port {port}"),
            serving(warehouse, port=port),
        ):
            pass
    file = tmp_path / "token"
    file.write_text("s" * 43, encoding="utf-8")
    file.chmod(0o644)
    with (
        pytest.raises(UsageError, match="Other users can read"),
        serving(warehouse, token_file=str(file)),
    ):
        pass
    file.chmod(0o600)
    with serving(warehouse, token_file=str(file)) as client:
        assert client.token == ""
        assert client.ask("/", headers={"Authorization": f"Bearer {'s' * 43}"}).status == 200
    file.write_text("short", encoding="utf-8")
    with pytest.raises(UsageError, match="at least 32"), serving(warehouse, token_file=str(file)):
        pass


def test_a_token_comes_from_a_pipe_that_ends_and_one_that_does_not_is_refused(
    warehouse, tmp_path, monkeypatch
):
    monkeypatch.setattr(safe_read, "PATIENCE", 0.2)
    pipe = tmp_path / "token"
    os.mkfifo(pipe, 0o600)
    refused = pytest.raises(UsageError, match=r"Cannot read the token.* did not end within 0.2 s")
    with refused, serving(warehouse, token_file=str(pipe)):
        pass
    monkeypatch.undo()
    writer = threading.Thread(target=pipe.write_text, args=("s" * 43 + "\n",), daemon=True)
    writer.start()
    with serving(warehouse, token_file=str(pipe)) as client:
        assert client.ask("/", headers={"Authorization": f"Bearer {'s' * 43}"}).status == 200
    writer.join()


def half_heads(client, count):
    host, _, port = client.host.rpartition(":")
    found = [socket.create_connection((host, int(port)), 5) for _ in range(count)]
    for one in found:
        one.sendall(f"GET / HTTP/1.1\r\nHost: {client.host}\r\nX: ".encode())
    return found


def test_strangers_connections_lock_no_user_out(warehouse):
    with serving(warehouse) as outside:
        inside = outside.enter()
        held = half_heads(outside, connections.MOST + 20)
        try:
            for _ in range(3):
                assert inside.ask("/assets/none").status == 404
            assert outside.ask("/").status == 401
        finally:
            for one in held:
                one.close()


@pytest.mark.parametrize("end", ["", "Content-Length: 9\r\nContent-Type: x\r\n\r\nb"])
def test_a_head_or_a_body_without_an_end_is_ended_in_time(warehouse, monkeypatch, end):
    monkeypatch.setattr(middleware, "SECONDS_FOR_HEAD", 0.3)
    monkeypatch.setattr(middleware, "SECONDS_FOR_BODY", 0.3)
    with serving(warehouse) as outside:
        (one,) = half_heads(outside, 1)
        with closing(one):
            one.sendall(f"y\r\n{end}".encode() if end else b"y")
            one.settimeout(SECONDS)
            with suppress(ConnectionResetError):
                while one.recv(4_096):
                    pass


def test_a_cookie_of_many_escapes_takes_no_time(stranger):
    began = time.process_time()
    assert stranger.ask("/", headers={"Cookie": 'a="' + '\\"' * 15_000 + '"'}).status == 401
    assert time.process_time() - began < 1


def test_a_browser_signs_out_and_a_copy_of_its_cookie_is_worth_nothing(stranger):
    inside = stranger.enter()
    page = inside.ask("/")
    assert 'action="/sign-out"' in page.html
    assert inside.ask("/sign-out", "").status == 200
    assert inside.ask("/").status == 401


def test_a_new_token_in_the_file_counts_at_once_and_a_lost_one_lets_nobody_in(tmp_path):
    now, file = [0.0], tmp_path / "token"
    file.write_text("s" * 43, encoding="utf-8")
    file.chmod(0o600)
    token = TokenFile(str(file), clock=lambda: now[0])
    assert token() == "s" * 43
    file.write_text("n" * 50, encoding="utf-8")
    assert token() == "s" * 43  # not looked at yet
    now[0] += 5
    assert token() == "n" * 50
    file.unlink()
    now[0] += 5
    assert token() not in {"s" * 43, "n" * 50}


def has_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("listen", ["::1", "[::1]"])
def test_on_ipv6_the_printed_address_is_in_brackets_and_opens(warehouse, listen):
    with serving(warehouse, listen=listen) as outside:
        assert outside.address.startswith("http://[::1]:")
        inside = outside.enter()
        assert inside.ask("/who-can", resource="topic:payments").status == 200
        assert inside.ask("/preview", ACL).status == 200
        assert inside.ask("/", headers={"Host": outside.host.strip("[]")}).status == 421
        assert inside.ask("/", headers={"Host": "[::2]:1"}).status == 421
        assert outside.ask("/").status == 401
