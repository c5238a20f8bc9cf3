"""Delivery: again where it helps, never where it does not, and no secret in any message."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from aclkit.audit.alerts.alert import Alert
from aclkit.audit.alerts.webhook import LONGEST_WAIT, Webhook, find_webhook, send_alert
from aclkit.errors import SurroundingsError, UsageError
from tests.audit.reports.hook import SECRET, serving

ALERT = Alert(title="t", text="x", lines=("a",), facts={"n": 1})


def webhook(hook, **fields):
    return Webhook(address=hook.address, where="a file", **fields)


def deliver(hook, **fields):
    """Send; return the pauses that were made."""
    pauses = []
    send_alert(ALERT, webhook(hook, **fields), pauses.append)
    return pauses


def refused(hook, **fields):
    """Send in vain; return the message and the pauses."""
    pauses = []
    with pytest.raises(SurroundingsError) as caught:
        send_alert(ALERT, webhook(hook, **fields), pauses.append)
    assert caught.value.exit_code == 4
    assert caught.value.__cause__ is None
    return str(caught.value), pauses


def test_the_alert_is_posted_as_json():
    with serving(200) as hook:
        assert deliver(hook) == []
    ((path, headers, body),) = hook.got
    assert path == f"{SECRET}?k=v"
    assert headers["Content-Type"] == "application/json"
    assert "Authorization" not in headers
    assert json.loads(body) == {
        "source": "aclkit",
        "title": "t",
        "text": "x",
        "lines": ["a"],
        "n": 1,
    }


def found_with(token, address, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("aclkit"), "propagate", True)
    environ = {"ACLKIT_ALERT_WEBHOOK": address, "ACLKIT_ALERT_TOKEN": token}
    with caplog.at_level(logging.WARNING):
        find_webhook(None, environ=environ)
    return {record.getMessage() for record in caplog.records}


def test_a_token_that_would_go_unencrypted_is_warned_of(caplog, monkeypatch):
    (said,) = found_with("t0ken", f"http://h.example{SECRET}", caplog, monkeypatch)
    assert said.startswith("warning: ")
    assert "ACLKIT_ALERT_TOKEN" in said
    assert "t0ken" not in said
    assert "secret" not in said


@pytest.mark.parametrize(("token", "scheme"), [("t0ken", "https"), ("", "http")])
def test_without_a_token_or_with_https_there_is_nothing_to_warn_of(
    token, scheme, caplog, monkeypatch
):
    assert not found_with(token, f"{scheme}://h.example/", caplog, monkeypatch)


def test_a_token_goes_along():
    with serving(204) as hook:
        deliver(hook, token="abc")
    assert hook.got[0][1]["Authorization"] == "Bearer abc"


def test_a_server_that_fails_is_asked_again_later_each_time():
    with serving(500, 503, 502, 200) as hook:
        assert deliver(hook) == [1.0, 2.0, 4.0]
    assert len(hook.got) == 4


def test_a_broken_connection_is_tried_again():
    with serving("hang-up", 200) as hook:
        assert deliver(hook) == [1.0]


def test_a_busy_server_says_how_long_to_wait():
    with serving(429, 200, Retry_After="7") as hook:
        assert deliver(hook) == [7.0]


def test_a_busy_server_may_name_the_time_at_which_to_come_back():
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with serving(503, 200, Retry_After=at) as hook:
        (pause,) = deliver(hook)
    assert 20 < pause <= 30


def test_a_wait_that_is_neither_a_number_nor_a_time_is_ours_to_choose():
    with serving(503, 200, Retry_After="soon") as hook:
        assert deliver(hook) == [1.0]


def test_no_server_makes_us_wait_for_ever():
    with serving(503, 200, Retry_After="99999") as hook:
        assert deliver(hook) == [LONGEST_WAIT]


def test_after_the_last_attempt_it_is_an_error():
    with serving(500) as hook:
        message, pauses = refused(hook, retries=2)
    assert pauses == [1.0, 2.0]
    assert message == (
        "the alert was not delivered (webhook of a file), attempts: 3; it answered 500"
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_refusal_is_not_tried_again(status):
    with serving(status, 200) as hook:
        message, pauses = refused(hook)
    assert (pauses, len(hook.got)) == ([], 1)
    assert message.endswith(f"it answered {status}")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_not_followed(status):
    with serving(200) as other, serving(status, Location=other.address) as hook:
        message, _ = refused(hook, token="abc")
    assert "a redirect, which is refused" in message
    assert (len(hook.got), len(other.got)) == (1, 0)


@pytest.mark.parametrize("how", ["silence", "drip"])
def test_an_attempt_ends_in_time_whether_the_server_is_silent_or_drips(how):
    with serving(how) as hook:
        message, _ = refused(hook, timeout=0.4, retries=0)
    assert message.endswith("no answer within 0.4 s")


def test_nobody_there_is_an_error():
    with serving(200) as hook:
        pass
    message, pauses = refused(hook, retries=1)
    assert message.endswith("it could not be reached (ConnectionRefusedError)")
    assert len(pauses) == 1


@pytest.mark.parametrize("answer", [500, 404, 302, "silence", "hang-up"])
def test_no_message_and_no_log_line_holds_the_secret(answer, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(answer) as hook:
        message, _ = refused(hook, timeout=0.3, retries=1, token="abc-token")
        made = repr(webhook(hook, token="abc-token"))
    for text in (message, caplog.text, made):
        assert "very-secret" not in text
        assert "abc-token" not in text
        assert "127.0.0.1" not in text


def test_the_address_comes_from_the_file_before_the_environment(tmp_path):
    path = tmp_path / "webhook.url"
    path.write_text("https://h.example/file\n", encoding="utf-8")
    environ = {"ACLKIT_ALERT_WEBHOOK": "https://h.example/env", "ACLKIT_ALERT_TOKEN": "abc"}
    found = find_webhook(str(path), environ=environ)
    assert (found.address, found.where, found.token) == ("https://h.example/file", str(path), "abc")
    found = find_webhook(None, environ=environ)
    assert (found.address, found.where) == ("https://h.example/env", "ACLKIT_ALERT_WEBHOOK")
    assert find_webhook(None, environ={}) is None


@pytest.mark.parametrize(
    "address",
    [
        "secret", "ftp://h.example/secret", "https://", "https:///secret", "http://h:x/secret",
        "https://h.example/secret\nHost: other", "https://h.example/se cret", "http://[::1/secret",
        "https://user:secret@h.example/", "https://h.example/secr\u00e9t", "http://h:0/secret",
        "https://a..b/secret", f"https://{'a' * 64}.example/secret",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_and_not_shown(address):
    with pytest.raises(UsageError) as caught:
        find_webhook(None, environ={"ACLKIT_ALERT_WEBHOOK": address})
    assert "secr" not in str(caught.value)
    assert "ACLKIT_ALERT_WEBHOOK" in str(caught.value)


def test_a_token_that_would_add_a_header_is_refused_and_not_shown():
    environ = {"ACLKIT_ALERT_WEBHOOK": "https://h.example/", "ACLKIT_ALERT_TOKEN": "a\r\nX: y"}
    with pytest.raises(UsageError, match="ACLKIT_ALERT_TOKEN") as caught:
        find_webhook(None, environ=environ)
    assert "X: y" not in str(caught.value)


def test_a_file_that_is_not_there_is_a_bad_request(tmp_path):
    with pytest.raises(UsageError, match="expected the address of a webhook in it"):
        find_webhook(str(tmp_path / "none"), environ={})
