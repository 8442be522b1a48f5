"""A headless Chromium that tests drive through its DevTools protocol, over a pair of pipes.

Messages are JSON that ends with a zero byte, so nothing is needed beside the browser itself. Chromium's WebGPU runs on
the SwiftShader that comes with it where `--enable-unsafe-webgpu` is given, and finds no GPU otherwise.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

WEBGPU = "--enable-unsafe-webgpu"
PATIENCE = 120.0  # seconds for one answer: a software GPU on a busy machine


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One browser with one page. ``script`` runs in each document before the document's own scripts."""

    def __init__(self, *flags: str, script: str = "") -> None:
        command = chromium()
        assert command is not None, "there is no Chromium here. Fix: .ci/setup packages-slow"
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._read, at_write = os.pipe()
        at_read, self._write = os.pipe()
        # The browser reads at descriptor 3 and writes at 4. A shell puts the pipes there, from numbers beyond these.
        its_read, its_write = (fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (at_read, at_write))
        line = f'exec "$@" 3<&{its_read} 4>&{its_write} {its_read}<&- {its_write}>&-'
        self._process = subprocess.Popen(
            [
                *("bash", "-c", line, "browser", command, "--headless", "--no-sandbox", "--disable-dev-shm-usage"),
                *("--remote-debugging-pipe", f"--user-data-dir={self._profile.name}", "--window-size=1000,820"),
                *(*flags, "about:blank"),
            ],
            pass_fds=(its_read, its_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in (at_read, at_write, its_read, its_write):
            os.close(each)
        self._number, self._rest, self._session = 0, b"", None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"the browser says nothing for {PATIENCE} s"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._rest += part
        one, _, self._rest = self._rest.partition(b"\0")
        return json.loads(one)

    def value(self, code: str) -> Any:
        """What an expression of JavaScript gives in the page; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(self, page: Path) -> None:
        """Open a file, and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def picture(self) -> bytes:
        """The window as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        with contextlib.suppress(AssertionError, OSError):
            self._session = None
            self.call("Browser.close")
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
