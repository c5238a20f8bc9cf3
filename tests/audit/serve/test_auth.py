"""Who may come in: hosts, token, cookie, a proxy's user, a form's own page."""

from __future__ import annotations

import pytest

from aclkit.audit.serve.auth import (
    AGE,
    Auth,
    RequestHead,
    Sessions,
    host_to_open,
    parse_proxies,
    served_hosts,
)
from aclkit.errors import UsageError

TOKEN = "t" * 43
SESSIONS = Sessions(token=lambda: TOKEN)
DOOR = Auth(
    token=lambda: TOKEN,
    sessions=SESSIONS,
    hosts=served_hosts("127.0.0.1", 8377, ["acls.example.org"]),
    cookie="aclkit-8377",
    proxies=parse_proxies(["10.0.0.0/24", "127.0.0.1"]),
)
FORM = {"content-type": "application/x-www-form-urlencoded", "content-length": "10"}
OWN = {"origin": "http://127.0.0.1:8377"}


def asked(method="GET", peer="127.0.0.1", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RequestHead(method=method, headers={"host": "127.0.0.1:8377"} | named, peer=peer)


def status(request):
    refusal = DOOR.refusal(request)
    return refusal.status if refusal else None


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil"])
def test_a_name_that_was_rebound_to_this_address_is_refused(host):
    assert status(asked(host=host)) == 421


def test_own_names_and_those_that_were_allowed_are_served():
    assert [status(asked(host=name)) for name in (
        "localhost:8377", "LOCALHOST:8377", "[::1]:8377", "acls.example.org",
    )] == [None] * 4  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://["},
        {"origin": "http://127.0.0.1:9999"},
        {"sec_fetch_site": "cross-site", **OWN},
        {"sec_fetch_site": "same-site", **OWN},
    ],
)
def test_a_form_of_another_page_is_refused(said):
    assert status(asked("POST", **FORM, **said)) == 403


def test_a_form_of_an_own_page_is_taken_and_its_body_is_bounded():
    assert status(asked("POST", **FORM, **OWN, sec_fetch_site="same-origin")) is None
    assert status(asked("POST", **FORM | {"content-length": "9" * 30}, **OWN)) == 413
    assert status(asked("POST", **FORM | {"content-length": "-1"}, **OWN)) == 411
    assert status(asked("POST", **FORM | {"content-type": "text/plain"}, **OWN)) == 415
    assert status(asked("PUT", **OWN)) == 405


def test_nobody_comes_in_without_the_token_its_cookie_or_a_bearer():
    assert DOOR.user(asked()) is None
    assert DOOR.user(asked(cookie="aclkit-8377=")) is None
    assert DOOR.user(asked(cookie=f"aclkit-8377={TOKEN}")) is None
    assert DOOR.user(asked(authorization=f"Bearer {TOKEN}x")) is None
    assert DOOR.user(asked(cookie=f"other=1; aclkit-8377={SESSIONS.begin()}")) == "token"
    assert DOOR.user(asked(authorization=f"bearer {TOKEN}")) == "token"


def test_a_users_header_counts_from_a_trusted_proxy_only():
    said = {"x_forwarded_user": "alice"}
    assert DOOR.user(asked(peer="10.0.0.8", **said)) == "alice"
    assert DOOR.user(asked(peer="10.0.1.8", **said)) is None
    assert DOOR.user(asked(peer="10.0.0.8", x_forwarded_user="")) is None
    assert DOOR.user(asked(peer="testclient", **said)) is None


def test_on_loopback_every_local_user_could_name_one_so_a_proxy_there_needs_the_token_too():
    said = {"x_forwarded_user": "alice"}
    assert DOOR.user(asked(**said)) is None
    assert DOOR.user(asked(**said, authorization=f"Bearer {TOKEN}")) == "alice"


def test_a_proxy_is_an_address_or_a_network():
    with pytest.raises(UsageError, match="Pass an address or a network"):
        parse_proxies(["proxy.example.org"])


@pytest.mark.parametrize("listen", ["2001:db8::7", "[2001:DB8:0::7]"])
def test_an_ipv6_address_is_asked_for_in_brackets_as_browsers_write_it(listen):
    hosts = served_hosts(listen, 8377, [])
    assert "[2001:db8::7]:8377" in hosts
    assert "2001:db8::7:8377" not in hosts
    assert "[2001:db8::8]:8377" not in hosts


@pytest.mark.parametrize(("listen", "host"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
def test_what_stands_for_all_addresses_is_none_to_ask_by(listen, host):
    hosts = served_hosts(listen, 8377, [])
    assert host_to_open(listen) == host
    assert f"{host}:8377" in hosts
    assert not {f"{listen}:8377", f"[{listen}]:8377"} & hosts


def test_a_form_of_a_page_in_brackets_is_taken_from_just_that():
    own = RequestHead(
        method="POST",
        headers=FORM | {"host": "[::1]:8377", "origin": "http://[::1]:8377"},
        peer="::1",
    )
    other = RequestHead(
        method="POST",
        headers=FORM | {"host": "[::1]:8377", "origin": "http://127.0.0.1:8377"},
        peer="::1",
    )
    assert status(own) is None
    assert status(other) == 403


def test_a_session_ends_by_age_by_signing_out_and_with_the_token():
    now, token = [1_000.0], [TOKEN]
    sessions = Sessions(token=lambda: token[0], clock=lambda: now[0])
    first, second = sessions.begin(), sessions.begin()
    assert first != second
    assert [*map(sessions.is_in_force, (first, second))] == [True, True]
    sessions.end(first)
    assert [*map(sessions.is_in_force, (first, second))] == [False, True]
    now[0] += AGE - 1
    assert sessions.is_in_force(second)
    now[0] += 1
    assert not sessions.is_in_force(second)
    third = sessions.begin()
    token[0] = "n" * 43
    assert not sessions.is_in_force(third)


@pytest.mark.parametrize(
    "made_up", ["", ".", "1", "1.a", "x.y.z", "9" * 5_000, "1.a." + "0" * 64, "\xff.a.b"]
)
def test_a_made_up_session_is_none(made_up):
    assert not SESSIONS.is_in_force(made_up)


def test_a_cookie_is_found_among_others_and_a_planted_one_locks_nobody_out():
    own = SESSIONS.begin()
    others = "; ".join(f"aclkit-8377={number}" for number in range(5))
    assert DOOR.user(asked(cookie=f"{others};aclkit-8377={own} ; a")) == "token"
    assert DOOR.user(asked(cookie='a="' + '\\"' * 20_000 + '"')) is None


def test_two_lengths_of_a_body_are_refused():
    both = FORM | {"transfer-encoding": "chunked"}
    assert status(asked("POST", **both, **OWN)) == 400


def test_two_names_or_bytes_that_are_no_utf_8_are_no_user_of_a_proxy():
    two = RequestHead(
        method="GET",
        headers={"host": "127.0.0.1:8377", "x-forwarded-user": "boss, mallory"},
        peer="10.0.0.8",
        repeated=frozenset(("x-forwarded-user",)),
    )
    assert (status(two), DOOR.user(two), DOOR.proxy_user(two)) == (400, None, None)
    assert status(asked(peer="10.0.0.8", x_forwarded_user="J\xf6rg")) == 400
    named = asked(peer="10.0.0.8", x_forwarded_user="Jörg".encode().decode("latin-1"))
    assert (status(named), DOOR.proxy_user(named)) == (None, "Jörg")
    assert status(asked(peer="10.0.1.8", x_forwarded_user="J\xf6rg")) is None


def test_https_is_seen_where_a_trusted_proxy_says_so():
    said = {"x_forwarded_proto": "https"}
    assert DOOR.sees_https(asked(peer="10.0.0.8", **said))
    assert not DOOR.sees_https(asked(peer="10.0.1.8", **said))
    assert not DOOR.sees_https(asked(peer="10.0.0.8"))
