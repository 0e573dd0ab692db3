"""A headless Chromium, spoken to over a pipe with its DevTools protocol. Needs Debian's `chromium` and nothing else.

    with Browser() as browser:
        page = browser.open(path)
        assert page.value("document.title") == "…"
        page.click("#theme")
        page.screenshot(path / "page.png")

Every page keeps what it must not do: messages on the console, exceptions, requests beyond its own file.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

TIMEOUT_S = 60
NO_CHROMIUM = "no chromium is here"


def find_chromium() -> str | None:
    """The program: $OPWRIGHT_CHROMIUM, else the first of the usual names."""
    named = os.environ.get("OPWRIGHT_CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    def __init__(self) -> None:
        program = find_chromium()
        if program is None:
            raise FileNotFoundError(f"{NO_CHROMIUM}; ./x setup installs it")
        self._profile = tempfile.TemporaryDirectory(prefix="opwright-browser-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        arguments = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"]
        arguments += ["--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"]
        arguments += ["--disable-background-networking", "--hide-scrollbars"]
        arguments += ["--force-color-profile=srgb", f"--user-data-dir={self._profile.name}", "about:blank"]

        def place_pipes() -> None:  # the protocol wants them as 3 and 4; moved away first, in case they lie there
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            [program, *arguments],
            preexec_fn=place_pipes,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self._profile.name},
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._last_id = 0
        self._pages: dict[str, Page] = {}

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, TimeoutError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def call(self, method: str, session: str | None = None, **parameters: object) -> dict:
        """One command and its answer; events that come meanwhile go to their pages."""
        self._last_id += 1
        message: dict = {"id": self._last_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self._next(deadline, method)
            if answer.get("id") != self._last_id:
                self._take_event(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def take_events(self, seconds: float) -> None:
        """Waits, and hands over what the browser tells meanwhile."""
        deadline = time.monotonic() + seconds
        while (message := self._next(deadline, None)) is not None:
            self._take_event(message)

    def _next(self, deadline: float, waiting_for: str | None) -> dict | None:
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                if waiting_for is None:
                    return None
                raise TimeoutError(f"chromium did not answer {waiting_for} in {TIMEOUT_S} s")
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError(f"chromium ended with status {self._process.wait()} (waiting for {waiting_for})")
            self._rest += chunk
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    def _take_event(self, message: dict) -> None:
        if page := self._pages.get(message.get("sessionId", "")):
            page.take_event(message["method"], message["params"])

    def open(self, path: Path, hash: str = "", *, width: int = 1280, height: int = 900, dark: bool = False) -> "Page":
        # A profile of its own: what an earlier page kept (its theme) is not there.
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session, target, context)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[scheme])
        page.call("Page.navigate", url=path.resolve().as_uri() + hash)
        return page


class Page:
    def __init__(self, browser: Browser, session: str, target: str, context: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target
        self._context = context
        self.complaints: list[str] = []  # console messages and exceptions
        self.requests: list[str] = []

    def call(self, method: str, **parameters: object) -> dict:
        return self._browser.call(method, self._session, **parameters)

    def close(self) -> None:
        self._browser.call("Target.closeTarget", targetId=self._target)
        self._browser.call("Target.disposeBrowserContext", browserContextId=self._context)

    def take_event(self, method: str, parameters: dict) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])

    def value(self, expression: str) -> object:
        """The value of a JavaScript expression, awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not true within {TIMEOUT_S} s: {expression}; the page says {self.complaints}")
            self._browser.take_events(0.02)

    def texts(self, selector: str) -> list[str]:
        return self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def text(self, selector: str) -> str:
        found = self.texts(selector)
        assert found, f"nothing on the page matches {selector}"
        return found[0]

    def click(self, selector: str) -> None:
        """A real click of the mouse, in the middle of the element."""
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect();"
            " return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()"
        )
        assert place, f"nothing on the page matches {selector}"
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def press(self, key: str) -> None:
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}
        more = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
        for kind in ("keyDown", "keyUp"):
            extra = more if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key], **extra)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """Chooses an option of a <select> as a reader does, with its change event."""
        self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};"
            " e.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path: Path, *, whole: bool = False) -> bytes:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._area(whole))
        data = base64.b64decode(shot["data"])
        path.write_bytes(data)
        return data

    def _area(self, whole: bool) -> dict:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
