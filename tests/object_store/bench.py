"""A process of its own → a store with buckets, and what controls it; gone behind the ``with``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from tests.object_store.counts import Request
from tests.object_store.server import CLOCK, KEY, REGION

ROOT: Final = Path(__file__).parents[2]
_START_SECONDS: Final = 60
_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Store:
    """A running server.

    Attributes:
        port: where it listens, on 127.0.0.1.
        process: it.
    """

    port: int
    process: subprocess.Popen[bytes]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        """What a process is told to reach it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": REGION,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": KEY[0],
            "AWS_SECRET_ACCESS_KEY": KEY[1],
        }

    def bucket(self, name: str) -> Bucket:
        """Make a bucket."""
        self._tell("bucket", name=name)
        return Bucket(self, name)

    def fail(self, kind: str, method: str = "*", key: str = "*", **more: float) -> None:
        """Let the next requests meet a fault; see ``faults.Fault``."""
        self._tell("fault", kind=kind, method=method, key=key, **more)

    def met(self) -> dict[str, int]:
        """Return how many requests have met each fault since the last ``reset``."""
        return self._tell("met")

    def reset(self) -> None:
        """Forget faults and counts."""
        self._tell("reset")

    def set_clock(self, ahead: timedelta) -> None:
        """Let the server's clock be ahead of the machine's."""
        self._tell("clock", ahead=ahead.total_seconds())

    def requests(self) -> list[Request]:
        """Return all requests since the last ``reset``."""
        return [Request(*told) for told in self._tell("requests")]

    def totals(self) -> dict[tuple[str, str], tuple[int, int, int]]:
        """Return method and kind of key → requests, bytes received, bytes sent."""
        return {(method, kind): tuple(rest) for method, kind, *rest in self._tell("totals")}

    def read(self) -> tuple[int, int]:
        """Return how many requests asked for something, and how many bytes they were sent."""
        told = [total for (method, _), total in self.totals().items() if method in ("GET", "HEAD")]
        return sum(requests for requests, _, _ in told), sum(sent for _, _, sent in told)

    def _tell(self, what: str, **said: Any) -> Any:
        request = urllib.request.Request(
            f"{self.endpoint}/-/{what}", json.dumps(said).encode(), method="POST"
        )
        try:
            with _DIRECT.open(request, timeout=_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)) from None


_DIRECT: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of a store: ``uri`` is what commands and Spark take."""

    store: Store
    name: str

    @property
    def uri(self) -> str:
        return f"s3a://{self.name}"

    @property
    def env(self) -> dict[str, str]:
        return self.store.env

    def keys(self) -> Counter[str]:
        """Return which keys were asked for, and how often, without the bucket's name."""
        asked = (told.key.partition("/")[2] for told in self.store.requests())
        return Counter(key for key in asked if key)


@contextmanager
def start_store(ahead: timedelta = timedelta()) -> Iterator[Store]:
    """Start a server, its clock ahead by so much, and end it behind the block."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), CLOCK: str(ahead.total_seconds())}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.object_store.server"],
        cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with process:
        try:
            yield Store(_port_of(process), process)
        finally:
            process.kill()


def _port_of(process: subprocess.Popen[bytes]) -> int:
    """Return what the server prints when it is ready."""
    watch = threading.Timer(_START_SECONDS, process.kill)
    watch.start()
    try:
        line = process.stdout.readline() if process.stdout else b""
    finally:
        watch.cancel()
    if not line.strip().isdigit():
        raise RuntimeError(f"the store did not start within {_START_SECONDS} s, or at all")
    return int(line)
