"""`make browser`: the acceptance story of time travel in a real Chromium, 1280 and 390 pixels wide.

The page shows a canvas, so the story is checked by what it does to the files and to the session.
Screenshots are written for a person to look at.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.e2e.program import scripted_config, tool_call

WIDTHS = {1280: 800, 390: 844}
TIMEOUT_S = 60.0


class Story:
    """One browser on one session."""

    def __init__(self, folder: Path, driver: Any, screenshots: Path, width: int) -> None:
        self._folder = folder
        self._driver = driver
        self._screenshots = screenshots
        self._width = width
        self._count = 0
        self.work_dir = folder / "work"

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "KIMI_SHARE_DIR": str(self._folder / "share"), "HOME": str(self._folder)}

    def configure(self) -> None:
        """Use a model that writes a file."""
        data_dir, scripts = self._folder / "share", self._folder / "scripts.json"
        data_dir.mkdir(mode=0o700)
        call = tool_call("c-1", "WriteFile", path="notes.txt", content="hello")
        scripts.write_text(json.dumps([f"text: I'll write the file.\n{call}", "text: I wrote notes.txt."]))
        (data_dir / "config.toml").write_text(scripted_config(scripts))

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "kimi_tui", *arguments]
        return subprocess.run(
            command, cwd=self.work_dir, env=self.environment, capture_output=True, text=True, check=True
        ).stdout

    @property
    def session(self) -> dict[str, Any]:
        """The session as `kimi-tui ps` lists it; empty before it is open."""
        sessions = json.loads(self.run("ps", "--json"))
        return sessions[0] if sessions else {}

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                self.take_picture(f"timeout {what}")
                raise AssertionError(f"{self._width} px: timed out: {what}")
            time.sleep(0.2)

    def wait_for_state(self, state: str) -> None:
        self.wait_until(state, lambda: self.session.get("state") == state)

    def type(self, text: str) -> None:
        from selenium.webdriver.common.by import By

        self._driver.find_element(By.CLASS_NAME, "xterm-helper-textarea").send_keys(text)
        time.sleep(0.5)

    def tap(self, label: str) -> None:
        """Press a key below the terminal, as on a phone."""
        script = "[...document.querySelectorAll('#keys button')].find(it => it.textContent === arguments[0])"
        script += ".dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))"
        self._driver.execute_script(script, label)
        time.sleep(0.5)

    def take_picture(self, name: str) -> None:
        self._count += 1
        file = f"{self._width}-{self._count:02}-{name.replace(' ', '-')}.png"
        self._driver.save_screenshot(str(self._screenshots / file))

    def play(self, url: str) -> None:
        """Write a file, revert it, undo the revert, close the page and come back."""
        driver, file = self._driver, self.work_dir / "notes.txt"
        driver.get(url)
        classes = "return document.body ? document.body.className : ''"
        self.wait_until("the page", lambda: "-first-byte" in driver.execute_script(classes))
        assert "#" not in driver.current_url, "the token stays in the address"
        assert driver.execute_script("return document.cookie") == "", "scripts can read the cookie"
        self.wait_for_state("idle")
        time.sleep(2)
        self.take_picture("open")
        self.type("write notes.txt\n")
        self.wait_for_state("awaiting approval")
        time.sleep(2)
        self.take_picture("approval")
        self.type("y")
        self.wait_for_state("done")
        assert file.read_text() == "hello"
        self.take_picture("written")
        self.tap("f3") if self._width < 600 else self.type("\ue033")
        time.sleep(2)
        self.take_picture("timeline")
        self.tap("esc") if self._width < 600 else self.type("\ue00c")
        self.type("/revert 0\n")
        time.sleep(3)
        self.take_picture("plan")
        self.type("\n")
        self.wait_until("the revert", lambda: not file.exists())
        time.sleep(1)
        self.take_picture("reverted")
        self.type("/undo\n")
        time.sleep(3)
        self.type("\n")
        self.wait_until("the undo", lambda: file.exists() and file.read_text() == "hello")
        time.sleep(1)
        self.take_picture("undone")
        session_id = self.session["id"]
        driver.get("about:blank")
        self.wait_until("detached", lambda: self.session["clients"] == 0)
        driver.back()
        self.wait_until("attached again", lambda: self.session.get("clients") == 1)
        assert self.session["id"] == session_id
        time.sleep(2)
        self.take_picture("attached-again")


def find_chromium() -> str | None:
    """Return the path of the system's Chromium."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextlib.contextmanager
def start_browser(width: int) -> Iterator[Any]:
    """Start Chromium with pages of this width."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = find_chromium() or ""
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "enable-unsafe-swiftshader"):
        options.add_argument(f"--{flag}")
    if width < 600:
        # An emulated pixel ratio other than 1 reaches only a part of the terminal, unlike a real one.
        metrics = {"width": width, "height": WIDTHS[width], "pixelRatio": 1.0, "touch": True}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.set_window_size(width, WIDTHS[width])
        yield driver
    finally:
        driver.quit()


@contextlib.contextmanager
def start_server(story: Story) -> Iterator[str]:
    """Run `kimi-tui web` . Yields the link."""
    command = [sys.executable, "-m", "kimi_tui", "web", "--port", "0"]
    environment = {**story.environment, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=story.work_dir, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{16}/#[\w-]{43}", link), link
        yield link
    finally:
        process.terminate()
        process.wait()
        subprocess.run([*command[:3], "serve", "--stop"], env=story.environment, check=False)


def main() -> int:
    """Play the story at each width. Return the exit code."""
    parser = argparse.ArgumentParser(prog="make browser", description=__doc__)
    parser.add_argument("--screenshots", type=Path, default=Path(tempfile.gettempdir()) / "kimi-tui-browser")
    parser.add_argument("--width", type=int, choices=WIDTHS, action="append")
    arguments = parser.parse_args()
    if shutil.which("chromedriver") is None or find_chromium() is None:
        sys.stdout.write("Skipped: Chromium and chromedriver aren't installed.\n")
        return 0
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    for width in arguments.width or WIDTHS:
        with tempfile.TemporaryDirectory(prefix="kimi-tui-") as folder, start_browser(width) as driver:
            story = Story(Path(folder), driver, arguments.screenshots, width)
            story.work_dir.mkdir()
            story.configure()
            with start_server(story) as link:
                story.play(link)
        sys.stdout.write(f"{width} px: the story of time travel passes.\n")
    sys.stdout.write(f"Screenshots: {arguments.screenshots}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
