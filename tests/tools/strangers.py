"""Connections of strangers to a server of aclkit → how long its users wait meanwhile.

``python -m tests.tools.strangers serve WAREHOUSE [COUNT]`` (or ``mcp``) starts the server on
loopback and holds COUNT idle connections, 300 half heads, a body without an end and a request that
drips a letter a second. A user with the token asks once a second. Descriptors and memory are
printed before, during and after. Run it on an idle machine.
"""

from __future__ import annotations

import contextlib
import re
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

HALF_HEADS = 300
SECONDS = 20
HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
COOKIE = 'Cookie: a="' + '\\"' * 22_000 + '"\r\n'
TOOLS = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'


def main() -> None:
    """Start the server, and print a line for each stage."""
    which, warehouse, *rest = sys.argv[1:]
    count = int(rest[0]) if rest else 5_000
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 1_000, count + 1_000))
    words = ["serve", "--port", "0"] if which == "serve" else ["mcp", "--http", "127.0.0.1:0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "aclkit", "--warehouse", warehouse, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    try:
        port, token = _address(process)
        _tell("before", _asked(which, port, token), _figures(process.pid))
        held = [_connected(port) for _ in range(count)]
        for one in held[:HALF_HEADS]:
            _send(one, HEAD.format(port=port) + "X: ")
        _send(held[-1], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n")
        bomb, drips = _connected(port), _connected(port)
        _send(bomb, HEAD.format(port=port) + COOKIE + "\r\n")
        waits = []
        for _ in range(SECONDS):
            waits.append(_asked(which, port, token))
            _send(drips, "G")
            _send(held[-1], "x")
            time.sleep(1)
        _tell(f"while {count} are open: slowest answer {max(waits):.2f} s", _figures(process.pid))
        for one in (*held, bomb, drips):
            one.close()
        time.sleep(1)
        _tell("after", _asked(which, port, token), _figures(process.pid))
    finally:
        process.terminate()
        process.wait(30)


def _tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def _address(process: subprocess.Popen[str]) -> tuple[int, str]:
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        found = re.search(r"127\.0\.0\.1:(\d+)[\s\S]*?(?:\?token=|Bearer )(\S+)", said)
        if found:
            return int(found[1]), found[2]
    raise SystemExit(said)


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def _send(one: socket.socket, text: str) -> None:
    with contextlib.suppress(OSError):  # it was closed: that is what is measured
        one.sendall(text.encode())


def _asked(which: str, port: int, token: str) -> float:
    """Ask as a user; return how many seconds the answer took."""
    began = time.monotonic()
    first, body = ("GET /", b"") if which == "serve" else ("POST /mcp", TOOLS)
    head = (
        f"{first} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with _connected(port) as one:
        one.sendall(head.encode() + body)
        answer = one.recv(100)
    assert b" 200 " in answer, answer
    return round(time.monotonic() - began, 3)


def _figures(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    memory = re.search(r"VmRSS:\s+(\d+)", status)
    descriptors = len([*Path(f"/proc/{pid}/fd").iterdir()])
    return f"{descriptors} descriptors, {int(memory[1]) // 1024 if memory else 0} MiB"


if __name__ == "__main__":
    main()
