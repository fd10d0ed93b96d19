import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.llm.servers import ScriptedResponse, serving


@contextmanager
def server_process(*arguments: str) -> Iterator[str]:
    """Run a server as a process and yield the base URL that it prints."""
    command = [sys.executable, "-m", "tests.llm.servers", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_server_runs_in_a_thread_and_records_requests():
    with serving("openai", [ScriptedResponse(text="hello")]) as server:
        reply = httpx.post(f"{server.base_url}/chat/completions", json={"model": "m"})
        assert "hello" in reply.text
        assert reply.text.endswith("data: [DONE]\n\n")
        assert httpx.post(f"{server.base_url}/chat/completions", json={}).status_code == 500
        assert server.bodies == [{"model": "m"}, {}]


@pytest.mark.parametrize(
    ("protocol", "path"), [("openai", "/chat/completions"), ("anthropic", "/v1/messages")]
)
def test_a_server_runs_as_a_process_from_a_script(protocol: str, path: str, tmp_path: Path):
    script, record = tmp_path / "script.json", tmp_path / "record.jsonl"
    script.write_text(
        json.dumps(
            [
                {"text": "hi", "tool_calls": [{"name": "LS", "arguments": {}}], "quirks": ["PLAIN_JSON"]},
                {"fault": "status", "status": 429, "headers": {"Retry-After": "2"}, "body": "{}"},
                {"fault": "cut", "after": 2, "text": "never whole"},
            ]
        )
    )
    with server_process("--protocol", protocol, "--script", str(script), "--record", str(record)) as base_url:
        assert "hi" in httpx.post(base_url + path, json={"n": 1}).text
        refused = httpx.post(base_url + path, json={"n": 2})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(base_url + path, json={"n": 3})
    assert [json.loads(line)["n"] for line in record.read_text().splitlines()] == [1, 2, 3]
