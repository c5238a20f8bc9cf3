"""The command serve: what it lacks, what makes no sense, and one start to end as a process."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from aclkit.audit.serve import listening
from aclkit.cli import cli
from tests.questions.query import small_warehouse as small


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "warehouse"
    small.build(path)
    return path


def test_without_the_extra_it_says_what_to_install(warehouse, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "aclkit.audit.serve.listening", raising=False)
    result = CliRunner().invoke(cli, ["--warehouse", str(warehouse), "serve"])
    assert result.exit_code == 4
    assert result.stderr == (
        "Error: aclkit serve needs uvicorn, which is not installed. "
        "Install it: pip install 'aclkit[serve]'\n"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--trusted-proxy", "proxy.example.org"], "Pass an address or a network"),
        (["--token-file", "/nowhere"], "Cannot read the token from /nowhere"),
        (["--cluster", "other"], "Cluster 'other' is not in"),
    ],
)
def test_what_makes_no_sense_ends_before_anything_is_served(warehouse, words, says):
    result = CliRunner().invoke(
        cli, ["--warehouse", str(warehouse), "serve", "--port", "0", *words]
    )
    assert result.exit_code == 2
    assert says in result.stderr


def test_it_serves_the_warehouse_of_the_folder_and_warns_of_plain_http(warehouse, monkeypatch):
    monkeypatch.chdir(warehouse.parent)
    monkeypatch.setattr(
        listening, "_listen", lambda _, port: socket.create_server(("127.0.0.1", port))
    )
    monkeypatch.setattr(listening.Prepared, "run", lambda at: at.listening.close())
    env = {"ACLKIT_WAREHOUSE": None, "CI": None}
    result = CliRunner().invoke(cli, ["serve", "--port", "0", "--listen", "0.0.0.0"], env=env)
    assert result.exit_code == 0, result.stderr
    found, warning, serving, _ = result.stderr.splitlines()
    assert found.startswith("Using ./warehouse.")
    assert warning.startswith("warning: others than this machine reach 0.0.0.0, by plain HTTP")
    assert serving == "serving warehouse, read-only; Ctrl-C ends it. Open:"


def test_as_a_process_it_prints_its_address_once_answers_and_ends_by_a_signal(warehouse):
    words = [sys.executable, "-c", "from aclkit.cli import cli; cli()", "--warehouse",
             str(warehouse), "serve", "--port", "0"]  # fmt: skip
    with subprocess.Popen(words, stderr=subprocess.PIPE, encoding="utf-8") as process:
        told = [process.stderr.readline() for _ in range(2)]
        address = urlsplit(told[1].strip())
        asked = http.client.HTTPConnection(address.netloc, timeout=60)
        asked.request("GET", f"/?{address.query}")
        assert asked.getresponse().status == 303
        asked.close()
        rest = process.stderr.readline()  # the log's line is written when the answer has gone
        process.send_signal(signal.SIGTERM)
        rest += process.stderr.read()
    assert process.returncode == 143
    assert "GET / 303" in rest
    assert address.query.partition("=")[2] not in rest
