"""MCP dialog, the server count in the status bar, and completion of resources after `@`."""

from dataclasses import replace

import pytest

from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import StatusUpdate
from kimi_tui.wire.mcp_status import McpResource, McpServerStatus, McpStatus

GITHUB = McpServerStatus(
    name="github",
    status="connected",
    tools=("search", "get_issue"),
    transport="http",
    target="https://mcp.github.com",
    title="GitHub 2.0",
    prompts=("mcp:github:triage",),
    resources=(McpResource("repo://readme", "Read \x1b[2Jme"),),
)
FAILED = McpServerStatus(
    name="notes",
    status="failed",
    error="The program notes wasn't found. Install it, or use its full path.",
    transport="stdio",
    target="notes --all",
)
STATUS = McpStatus(loading=False, connected=1, total=2, tools=2, servers=(GITHUB, FAILED))


def build_status_update(status: McpStatus = STATUS) -> StatusUpdate:
    return StatusUpdate(mcp_status=status)


@pytest.mark.parametrize("size", [(100, 30), (80, 24)])
async def test_the_dialog_shows_each_server_and_its_error(open_app, size):
    async with open_app(size=size) as harness:
        await harness.send(build_status_update())
        await harness.type_text("/mcp")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "1 of 2 connected · 2 tools" in harness.screen_text())
        assert "search, get_issue" in harness.screen_text()
        assert "/mcp:github:triage" in harness.screen_text()
        await harness.driver.press("down")
        await harness.wait_until(lambda: "The program notes wasn't found." in harness.unwrapped_text())
        await harness.driver.press("r", "up", "s")
        assert harness.commands_of(RunSlash) == [RunSlash("mcp reconnect notes"), RunSlash("mcp auth github")]
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "1 of 2 connected" not in harness.screen_text())
        assert "MCP 1/2" in harness.screen_text()


async def test_the_dialog_follows_status_changes_and_keeps_the_highlight(open_app):
    async with open_app() as harness:
        await harness.send(build_status_update())
        await harness.type_text("/mcp")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "1 of 2" in harness.screen_text())
        await harness.driver.press("down")
        reconnected = replace(FAILED, status="connected", error="", tools=("write_note",))
        await harness.send(
            build_status_update(replace(STATUS, connected=2, tools=3, servers=(GITHUB, reconnected)))
        )
        await harness.wait_until(lambda: "2 of 2 connected · 3 tools" in harness.screen_text())
        assert "write_note" in harness.screen_text()
        assert "wasn't found" not in harness.unwrapped_text()


async def test_without_servers_the_dialog_explains_how_to_add_one(open_app):
    async with open_app() as harness:
        await harness.type_text("/mcp")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "No MCP servers configured." in harness.unwrapped_text())
        assert "kimi-tui mcp add" in harness.unwrapped_text()


async def test_arguments_of_the_command_are_sent_to_the_engine(open_app):
    async with open_app() as harness:
        await harness.send(build_status_update())
        await harness.type_text("/mcp reconnect notes")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(RunSlash))
        assert harness.commands_of(RunSlash) == [RunSlash("mcp reconnect notes")]


async def test_resources_are_completed_after_an_at_sign(open_app):
    async with open_app() as harness:
        await harness.send(build_status_update())
        await harness.type_text("see @github:re")
        await harness.wait_until(lambda: "github:repo://readme" in harness.screen_text())
        assert "\x1b" not in harness.screen_text()
        await harness.driver.press("tab")
        await harness.wait_until(lambda: harness.prompt_text == "see @github:repo://readme ")
