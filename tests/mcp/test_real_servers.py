"""Servers that others wrote: those of the reference collection, in Python and in JavaScript."""

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

from kimi_tui.tools.mcp.answer import Medium, words_of
from kimi_tui.tools.mcp.listener import Elicited
from kimi_tui.tools.mcp.server import McpServer
from kimi_tui.tools.mcp.server_config import RemoteServer, StdioServer
from tests.mcp.odd import Askings, one_connected
from tests.mcp.remote_servers import free_socket
from tests.patience import PATIENCE_S
from tests.tools.calls import running_call

pytestmark = pytest.mark.slow

NODE_PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
)
INSTALLING_S = 90
FETCHING = ("--ignore-robots-txt", "--allow-private-ips")


async def said(server: McpServer, tool: str, **arguments: object) -> str:
    answer = await server.call(tool, arguments, running_call(), on_progress=lambda *_: None)
    return words_of(answer.pieces)


def python_server(module: str, *arguments: str) -> StdioServer:
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    return StdioServer(name="real", command=sys.executable, args=("-m", module, *arguments))


@pytest.fixture(scope="session")
def node_servers() -> Path:
    """The folder of the JavaScript servers' programs. They are installed once, beside the environment."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not here")
    folder = Path(sys.prefix) / "mcp-servers"
    folder.mkdir(exist_ok=True)
    done = folder / "installed.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or json.loads(done.read_text()) != list(NODE_PACKAGES):
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
                subprocess.run(command, check=True, capture_output=True, timeout=INSTALLING_S)
            except (OSError, subprocess.SubprocessError) as error:
                pytest.skip(f"npm can't install the servers: {error}")
            done.write_text(json.dumps(NODE_PACKAGES))
    return folder / "node_modules" / ".bin"


def node_server(programs: Path, name: str, *arguments: str) -> StdioServer:
    return StdioServer(name="real", command=str(programs / name), args=arguments)


@asynccontextmanager
async def everything_at_an_address(programs: Path, transport: Literal["http", "sse"]) -> AsyncIterator[str]:
    """server-everything at an address, up to its first answer; its URL."""
    sock, address = free_socket()
    sock.close()
    how, path = ("streamableHttp", "mcp") if transport == "http" else ("sse", "sse")
    process = await asyncio.create_subprocess_exec(
        str(programs / "mcp-server-everything"), how,
        env={"PATH": os.environ["PATH"], "PORT": address.rpartition(":")[2]},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        async with asyncio.timeout(PATIENCE_S):
            while b"port" not in (line := await process.stderr.readline()):
                assert line, "the server ended"
        yield f"{address}/{path}"
    finally:
        process.kill()
        await process.wait()


async def test_the_time_server(tmp_path):
    async with one_connected(python_server("mcp_server_time"), tmp_path) as server:
        told = await said(
            server, "convert_time", source_timezone="Asia/Tokyo", time="12:00", target_timezone="UTC"
        )
        assert json.loads(told)["time_difference"] == "-9.0h"


async def test_the_git_server(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "new.txt").write_text("new")
    async with one_connected(python_server("mcp_server_git"), tmp_path) as server:
        assert "new.txt" in await said(server, "git_status", repo_path=str(tmp_path))
        assert "git_commit" in {tool.name for tool in server.offer.tools}


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
        async with one_connected(python_server("mcp_server_fetch", *FETCHING), tmp_path) as server:
            assert "a page of text" in await said(server, "fetch", url=f"{address}/page.txt")
            assert [prompt.name for prompt in server.offer.prompts] == ["fetch"]
    finally:
        web.kill()
        await web.wait()


async def test_the_filesystem_server_keeps_to_the_folders_that_it_is_told(tmp_path, node_servers):
    (tmp_path / "a.txt").write_text("hello")
    async with one_connected(node_server(node_servers, "mcp-server-filesystem", "/"), tmp_path) as server:
        assert await said(server, "read_text_file", path=str(tmp_path / "a.txt")) == "hello"
        refused = await server.call(
            "read_text_file", {"path": "/etc/passwd"}, running_call(), on_progress=lambda *_: None
        )
        assert refused.is_error


async def test_the_server_with_everything(tmp_path, node_servers):
    askings = Askings()
    askings.elicited = Elicited("accept", {"name": "Ada"})
    heard: list[float] = []
    server_config = node_server(node_servers, "mcp-server-everything")
    async with one_connected(server_config, tmp_path, askings=askings) as server:
        assert await said(server, "echo", message="hö") == "Echo: hö"
        image = await server.call("get-tiny-image", {}, running_call(), on_progress=lambda *_: None)
        assert any(isinstance(piece, Medium) for piece in image.pieces)
        assert "A resource: " in await said(server, "get-resource-links", count=2)
        assert json.loads(await said(server, "get-structured-content", location="New York"))["temperature"]
        await server.call(
            "trigger-long-running-operation",
            {"duration": 0.3, "steps": 3},
            running_call(),
            on_progress=lambda far, *_: heard.append(far),
        )
        assert heard == [1, 2, 3]
        assert '"text": "4"' in await said(server, "trigger-sampling-request", prompt="2 + 2?")
        await said(server, "trigger-elicitation-request")
        assert len(askings.wanted) == 2
        assert "simple-prompt" in {prompt.name for prompt in server.offer.prompts}
        resource = server.offer.resources[0]
        assert words_of((await server.resource(resource.uri)).pieces)
        assert "fish" in await said(server, "simulate-research-query", topic="fish")  # runs as a task only


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_the_server_with_everything_over(tmp_path, node_servers, transport):
    async with (
        everything_at_an_address(node_servers, transport) as url,
        one_connected(RemoteServer(name="real", url=url, transport=transport), tmp_path) as server,
    ):
        assert server.state == "connected", server.problem
        assert await said(server, "echo", message="hi") == "Echo: hi"
        assert "/" in await said(server, "get-roots-list")
