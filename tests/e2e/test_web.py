"""Web pages and images in the program, with a scripted model."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from PIL import Image

from tests.e2e.program import Program, script, tool_call


class OnePage(BaseHTTPRequestHandler):
    """Request handler that serves one page at every path."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><title>Tea</title><body><h1>Tea</h1><p>Brew it for three minutes.</p>")

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def one_page() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), OnePage) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/tea"
        finally:
            server.shutdown()
            thread.join()


def journal_of(program: Program) -> str:
    (file,) = program.context_files
    return file.read_text()


def test_local_pages_are_fetched_only_if_the_settings_allow_it(tmp_path: Path) -> None:
    for is_allowed in (False, True):
        program = Program(tmp_path / str(is_allowed))
        with one_page() as url:
            program.script(script("text: a", tool_call("1", "FetchURL", url=url)), "text: b")
            if is_allowed:
                config = program.data_dir / "config.toml"
                config.write_text(f"{config.read_text()}\n[web]\nallow_private_addresses = true\n")
            finished = program.run("-p", "fetch it", "--allow", "Web(127.0.0.1)")

        assert finished.exit_code == 0
        assert ("Brew it for three minutes." in journal_of(program)) == is_allowed
        assert ("not a public address" in journal_of(program)) != is_allowed


def test_an_image_is_written_to_the_context_file_as_an_image(tmp_path: Path) -> None:
    program = Program(tmp_path)
    Image.new("RGB", (8, 8)).save(program.work_dir / "shot.png")
    program.script(script("text: a", tool_call("1", "ReadMediaFile", path="shot.png")), "text: b")

    assert "a PNG image, 8 × 8" in program.run("-p", "look").stderr
    assert "data:image/png;base64," in journal_of(program)
