"""Third-party servers: those of the reference collection, in Python and in JavaScript."""

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest

from kimi_tui.mcp.client_handler import ElicitationResult
from kimi_tui.mcp.result import McpMedia, text_content
from kimi_tui.mcp.server import McpServer
from kimi_tui.mcp.server_config import RemoteServer, StdioServer
from tests.mcp.odd_servers import FakeRequestHandler, ProgressList, connect_server
from tests.mcp.remote_servers import free_socket
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.call_context import build_context

pytestmark = pytest.mark.slow

NODE_PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
)
INSTALL_TIMEOUT_S = 90
FETCH_OPTIONS = ("--ignore-robots-txt", "--allow-private-ips")


async def call_for_text(server: McpServer, tool: str, **arguments: object) -> str:
    result = await server.call_tool(tool, arguments, build_context(), ProgressList())
    return text_content(result.content)


def python_server(module: str, *arguments: str) -> StdioServer:
    if find_spec(module) is None:
        pytest.skip(f"{module} isn't installed")
    return StdioServer(name="real", command=sys.executable, args=("-m", module, *arguments))


@pytest.fixture(scope="session")
def node_servers() -> Path:
    """Return the folder with the JavaScript servers' programs. They are installed once per environment."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm aren't installed")
    folder = Path(sys.prefix) / "mcp-servers"
    folder.mkdir(exist_ok=True)
    installed = folder / "installed.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists() or json.loads(installed.read_text()) != list(NODE_PACKAGES):
            command = [
                npm,
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(folder),
                *NODE_PACKAGES,
            ]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_TIMEOUT_S)
            except (OSError, subprocess.SubprocessError) as error:
                pytest.skip(f"npm can't install the servers: {error}")
            installed.write_text(json.dumps(NODE_PACKAGES))
    return folder / "node_modules" / ".bin"


def node_server(programs: Path, name: str, *arguments: str) -> StdioServer:
    return StdioServer(name="real", command=str(programs / name), args=arguments)


@asynccontextmanager
async def serve_everything(programs: Path, transport: Literal["http", "sse"]) -> AsyncIterator[str]:
    """Run server-everything until it listens; yields its URL."""
    sock, address = free_socket()
    sock.close()
    mode, path = ("streamableHttp", "mcp") if transport == "http" else ("sse", "sse")
    process = await asyncio.create_subprocess_exec(
        str(programs / "mcp-server-everything"), mode,
        env={"PATH": os.environ["PATH"], "PORT": address.rpartition(":")[2]},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while b"port" not in (line := await process.stderr.readline()):
                assert line, "the server exited"
        yield f"{address}/{path}"
    finally:
        process.kill()
        await process.wait()


async def test_the_time_server(tmp_path):
    async with connect_server(python_server("mcp_server_time"), tmp_path) as server:
        text = await call_for_text(
            server, "convert_time", source_timezone="Asia/Tokyo", time="12:00", target_timezone="UTC"
        )
        assert json.loads(text)["time_difference"] == "-9.0h"


async def test_the_git_server(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "new.txt").write_text("new")
    async with connect_server(python_server("mcp_server_git"), tmp_path) as server:
        assert "new.txt" in await call_for_text(server, "git_status", repo_path=str(tmp_path))
        assert "git_commit" in {tool.name for tool in server.features.tools}


async def test_the_fetch_server(tmp_path):
    page = tmp_path / "page.txt"
    page.write_text("a page of text")
    web = await asyncio.create_subprocess_exec(
        sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert web.stdout is not None
    address = (await web.stdout.readline()).decode().partition("(")[2].partition("/)")[0]
    try:
        async with connect_server(python_server("mcp_server_fetch", *FETCH_OPTIONS), tmp_path) as server:
            assert "a page of text" in await call_for_text(server, "fetch", url=f"{address}/page.txt")
            assert [prompt.name for prompt in server.features.prompts] == ["fetch"]
    finally:
        web.kill()
        await web.wait()


async def test_the_filesystem_server_only_reads_below_its_roots(tmp_path, node_servers):
    (tmp_path / "a.txt").write_text("hello")
    async with connect_server(node_server(node_servers, "mcp-server-filesystem", "/"), tmp_path) as server:
        assert await call_for_text(server, "read_text_file", path=str(tmp_path / "a.txt")) == "hello"
        result = await server.call_tool(
            "read_text_file", {"path": "/etc/passwd"}, build_context(), ProgressList()
        )
        assert result.is_error


async def test_the_everything_server(tmp_path, node_servers):
    request_handler = FakeRequestHandler()
    request_handler.elicitation_result = ElicitationResult("accept", {"name": "Ada"})
    progress = ProgressList()
    server_config = node_server(node_servers, "mcp-server-everything")
    async with connect_server(server_config, tmp_path, request_handler=request_handler) as server:
        assert await call_for_text(server, "echo", message="hö") == "Echo: hö"
        image = await server.call_tool("get-tiny-image", {}, build_context(), ProgressList())
        assert any(isinstance(item, McpMedia) for item in image.content)
        assert "Resource: " in await call_for_text(server, "get-resource-links", count=2)
        assert json.loads(await call_for_text(server, "get-structured-content", location="New York"))[
            "temperature"
        ]
        await server.call_tool(
            "trigger-long-running-operation",
            {"duration": 0.3, "steps": 3},
            build_context(),
            progress,
        )
        assert [step for step, _, _ in progress] == [1, 2, 3]
        assert '"text": "4"' in await call_for_text(server, "trigger-sampling-request", prompt="2 + 2?")
        await call_for_text(server, "trigger-elicitation-request")
        assert len(request_handler.requests) == 2
        assert "simple-prompt" in {prompt.name for prompt in server.features.prompts}
        resource = server.features.resources[0]
        assert text_content((await server.read_resource(resource.uri)).content)
        assert "fish" in await call_for_text(
            server, "simulate-research-query", topic="fish"
        )  # runs as a task only


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_the_everything_server_over(tmp_path, node_servers, transport):
    async with (
        serve_everything(node_servers, transport) as url,
        connect_server(RemoteServer(name="real", url=url, transport=transport), tmp_path) as server,
    ):
        assert server.state == "connected", server.error
        assert await call_for_text(server, "echo", message="hi") == "Echo: hi"
        assert "/" in await call_for_text(server, "get-roots-list")
