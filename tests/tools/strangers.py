"""Connections of strangers to a server of aclkit → how long its users wait meanwhile.

``python -m tests.tools.strangers serve WAREHOUSE [COUNT]`` starts the server on loopback and holds
COUNT idle connections, 300 half heads, a body without an end and a request that drips a letter a
second. A user with the token asks once a second. Descriptors and memory are printed before, during
and after. ``mcp`` and ``watch`` instead of ``serve`` do the same; ``watch`` needs an empty folder,
is asked for /healthz, and must send an alert of each change meanwhile. Run it on an idle machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.audit.reports.hook import Hook, serving
from tests.pipeline.sources.growing_log import GrowingLog

HALF_HEADS = 300
SECONDS = 20
CHANGES = (0, 8)
"""Seconds at which an ACL is added to the log that is watched."""

HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
COOKIE = 'Cookie: a="' + '\\"' * 22_000 + '"\r\n'
TOOLS = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
ASKED = {"serve": ("GET /", b""), "mcp": ("POST /mcp", TOOLS), "watch": ("GET /healthz", b"")}
PRINTED = re.compile(r"(?:127\.0\.0\.1:|port )(\d+)(?:\.\n|[\s\S]*?(?:\?token=|Bearer )(\S+))")


def main() -> None:
    """Start the server, and print a line for each stage."""
    which, warehouse, *rest = sys.argv[1:]
    count = int(rest[0]) if rest else 5_000
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 1_000, count + 1_000))
    log = (
        GrowingLog(Path(warehouse, "source", "__cluster_metadata-0")) if which == "watch" else None
    )
    if log is not None:
        log.add()
    with serving(200) as hook, _started(which, warehouse, hook.address) as process:
        port, token = _address(process)
        _drain(process)
        if log is not None:
            _wait_for_alert(hook)
        _tell("before:", *_waits(which, port, token, 5), _figures(process.pid))
        held = [_connected(port) for _ in range(count)]
        for one in held[:HALF_HEADS]:
            _send(one, HEAD.format(port=port) + "X: ")
        _send(held[-1], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n")
        bomb, drips = _connected(port), _connected(port)
        _send(bomb, HEAD.format(port=port) + COOKIE + "\r\n")
        _tell(f"{count} are open:", _figures(process.pid))
        known = len(hook.got)
        waits = _waits(which, port, token, SECONDS, log, drips, held[-1])
        _tell("meanwhile:", *waits, _figures(process.pid))
        if log is not None:
            _tell(f"{len(CHANGES)} changes meanwhile,", len(hook.got) - known, "alerts")
        for one in (*held, bomb, drips):
            one.close()
        time.sleep(1)
        _tell("after:", *_waits(which, port, token, 5), _figures(process.pid))


@contextlib.contextmanager
def _started(which: str, warehouse: str, receiver: str) -> Iterator[subprocess.Popen[str]]:
    log = f"metadata-log:{warehouse}/source/__cluster_metadata-0"
    words = {
        "serve": ["serve", "--port", "0"],
        "mcp": ["mcp", "--http", "127.0.0.1:0"],
        "watch": [
            "watch", "--source", log, "--interval", "2", "--listen", "127.0.0.1:0",
            "--alert-on", "always",
        ],
    }  # fmt: skip
    folder = f"{warehouse}/w" if which == "watch" else warehouse
    brokers = {"ACLKIT_NO_SUPER_USERS": "1", "ACLKIT_ALLOW_EVERYONE": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "aclkit", "--warehouse", folder, *words[which]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, **brokers, "ACLKIT_ALERT_WEBHOOK": receiver},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _wait_for_alert(hook: Hook) -> None:
    """Wait until a watcher has begun: its first alert, of what is in force."""
    while not hook.got:
        time.sleep(0.2)


def _waits(
    which: str, port: int, token: str, times: int, log: GrowingLog | None = None,
    *drips: socket.socket,
) -> tuple[str, ...]:  # fmt: skip
    """Ask once a second, and send a letter on each connection that drips."""
    found = []
    for second in range(times):
        if log is not None and second in CHANGES:
            log.add()
        found.append(_asked(which, port, token))
        for one in drips:
            _send(one, "x")
        time.sleep(1)
    least, middle, most = min(found), statistics.median(found), max(found)
    return (f"answers after {least:.3f} / {middle:.3f} / {most:.3f} s (least, median, most);",)


def _tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def _address(process: subprocess.Popen[str]) -> tuple[int, str]:
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if found := PRINTED.search(said):
            return int(found[1]), found[2] or ""
    raise SystemExit(said)


def _drain(process: subprocess.Popen[str]) -> None:
    """Read what a server says, or it would wait for a reader."""
    assert process.stdout is not None
    threading.Thread(target=process.stdout.read, daemon=True).start()


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def _send(one: socket.socket, text: str) -> None:
    with contextlib.suppress(OSError):  # it was closed: that is what is measured
        one.sendall(text.encode())


def _asked(which: str, port: int, token: str) -> float:
    """Ask as a user; return how many seconds the answer took."""
    began = time.monotonic()
    first, body = ASKED[which]
    head = (
        f"{first} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with _connected(port) as one:
        one.sendall(head.encode() + body)
        answer = one.recv(100)
    assert b" 200 " in answer, answer
    return time.monotonic() - began


def _figures(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    memory = re.search(r"VmRSS:\s+(\d+)", status)
    descriptors = len([*Path(f"/proc/{pid}/fd").iterdir()])
    return f"{descriptors} descriptors, {int(memory[1]) // 1024 if memory else 0} MiB"


if __name__ == "__main__":
    main()
