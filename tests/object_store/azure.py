"""Azurite, Microsoft's emulator of Azure's blobs, in a process of its own on 127.0.0.1.

It is a package of npm: ``make object-store-test`` installs it below build/azurite.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

PROGRAM: Final = Path(__file__).parents[2] / "build" / "azurite" / "node_modules" / ".bin"
PORT: Final = 10_000
"""The only one that clients of the emulator ask."""

_ACCOUNT: Final = "devstoreaccount1"
_KEY: Final = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
"""Known to all: the one account of every emulator."""

_START_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Container:
    """A container; as a bucket of ``bench``, but nothing can be made to fail."""

    name: str

    @property
    def uri(self) -> str:
        return f"abfss://{self.name}@{_ACCOUNT}.dfs.core.windows.net"


ENV: Final = {"AZURE_STORAGE_USE_EMULATOR": "true"}
"""What a process is told to reach it."""


@contextmanager
def start_azurite(folder: Path) -> Iterator[None]:
    """Start the emulator, and end it behind the block."""
    command = [
        PROGRAM / "azurite-blob", "--silent", "--disableTelemetry", "--inMemoryPersistence",
        "--skipApiVersionCheck", "--blobHost", "127.0.0.1", "--blobPort", str(PORT),
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL)
    with process:
        try:
            _wait(process)
            yield
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", PORT), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("Azurite did not start")


def make_container(name: str) -> Container:
    """Make a container; clients of object stores cannot."""
    now, version = f"{datetime.now(UTC):%a, %d %b %Y %H:%M:%S GMT}", "2021-08-06"
    headers = {"x-ms-date": now, "x-ms-version": version}
    signed = "".join(f"{key}:{value}\n" for key, value in headers.items())
    place = f"/{_ACCOUNT}/{_ACCOUNT}/{name}\nrestype:container"
    text = f"PUT{chr(10) * 12}{signed}{place}"
    digest = hmac.new(base64.b64decode(_KEY), text.encode(), hashlib.sha256).digest()
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/{_ACCOUNT}/{name}?restype=container",
        method="PUT",
        headers={
            **headers,
            "Authorization": f"SharedKey {_ACCOUNT}:{base64.b64encode(digest).decode()}",
            "Content-Length": "0",
        },
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        assert answer.status == 201
    return Container(name)
