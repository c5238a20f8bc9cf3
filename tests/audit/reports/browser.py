"""The system's headless Chromium, driven over a pipe by the DevTools protocol. No network."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.pace import Limit

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60


def find_chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab. What the page writes to its console, and what it asks of the network, is kept."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = to_browser, from_browser
        self._buffer, self._number, self._session = b"", 0, None
        self.console: list[str] = []
        self.requests: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def open(
        self, page: Path | str, *, scheme: str = "light", width: int = 1280, height: int = 900,
        place: str = "",
    ):  # fmt: skip
        """Open a file or an address at a place (``#…``) of it; wait until its script has run."""
        self.send("Page.navigate", url="about:blank")
        self.console.clear()
        self.requests.clear()
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)
        self.send(
            "Page.navigate",
            url=(page if isinstance(page, str) else page.resolve().as_uri()) + place,
        )
        # Until its load has ended, a change of the hash would make no step in the history.
        self.wait_for(
            "location.href !== 'about:blank' && document.readyState === 'complete' && "
            "performance.getEntriesByType('navigation')[0].loadEventEnd > 0"
        )

    def js(self, expression: str) -> Any:
        """Evaluate an expression in the page; promises are waited for."""
        result = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait_for(self, expression: str) -> None:
        limit = Limit(SECONDS)
        while not self.js(expression):
            assert not limit.is_over(), f"never came true: {expression}"
            time.sleep(0.02)

    def audit(self) -> list[str]:
        """Return what axe-core finds against WCAG 2 AA: rules, each with what breaks it."""
        self.js(_axe())
        found = self.js(
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
            ".then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' | ')))"
        )
        return [line[:500] for line in found]

    def press(self, key: str) -> None:
        """Press and release a key, as a person does."""
        text = {"Enter": "\r", " ": " "}.get(key)
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}.get(key, 0) or {
            "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
        }.get(key, 0)  # fmt: skip
        down = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self.send("Input.dispatchKeyEvent", type="keyDown", **down)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path) -> None:
        shot = self.send("Page.captureScreenshot", format="png", optimizeForSpeed=False)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            limit = Limit(SECONDS)
            while not select.select([self._in], [], [], 1.0)[0]:
                assert not limit.is_over(), "Chromium does not answer"
            read = os.read(self._in, 1 << 20)
            assert read, "Chromium has ended"
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        self._keep(message.get("method"), message.get("params", {}))
        return message

    def _keep(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            self.console.append(str([arg.get("value") for arg in params["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(params["exceptionDetails"])[:1000])
        elif method == "Log.entryAdded":
            self.console.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.console.append(f"dialog: {params['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])


def _axe() -> str:
    """Return axe-core as the package axe-core-python holds it; its Python is not needed."""
    spec = find_spec("axe_core_python")
    assert spec, "axe-core is missing: pip install axe-core-python"
    assert spec.submodule_search_locations
    (folder,) = spec.submodule_search_locations
    return Path(folder, "axe.min.js").read_text(encoding="utf-8")


@contextmanager
def start_browser(folder: Path) -> Iterator[Browser]:
    """Start Chromium with a profile of its own, and end it."""
    chromium = find_chromium()
    assert chromium
    read_in, write_out = os.pipe()
    read_versions, write_back = os.pipe()
    flags = [
        "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
        "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--lang=en",
        "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
        f"--user-data-dir={folder}", "about:blank",
    ]  # fmt: skip
    # The protocol's ends are the browser's descriptors 3 and 4.
    program = 'in=$1 out=$2; shift 2; eval "exec \\"\\$@\\" 3<&$in 4>&$out"'
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["bash", "-c", program, "-", str(read_in), str(write_back), chromium, *flags],
            # It keeps settings in the home too.
            env={**os.environ, "HOME": str(folder)},
            pass_fds=(read_in, write_back),
            stdout=log,
            stderr=log,
        )
        os.close(read_in)
        os.close(write_back)
        try:
            browser = Browser(write_out, read_versions)
            yield browser
        finally:
            process.terminate()
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(write_out)
            os.close(read_versions)
