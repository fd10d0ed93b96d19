"""The MCP servers on the screen: the list, the count in the status bar, and resources after `@`."""

from dataclasses import replace

import pytest

from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import StatusUpdate
from kimi_tui.wire.mcp import McpResource, McpServerStatus, McpStatus

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
LOST = McpServerStatus(
    name="notes",
    status="failed",
    error="The program notes is not there. Install it, or write its whole path.",
    transport="stdio",
    target="notes --all",
)
STATUS = McpStatus(loading=False, connected=1, total=2, tools=2, servers=(GITHUB, LOST))


def told(status: McpStatus = STATUS) -> StatusUpdate:
    return StatusUpdate(mcp_status=status)


@pytest.mark.parametrize("size", [(100, 30), (80, 24)])
async def test_the_list_shows_each_server_and_what_is_wrong_with_it(open_desk, size):
    async with open_desk(size=size) as desk:
        await desk.say(told())
        await desk.write("/mcp")
        await desk.pilot.press("enter")
        await desk.until(lambda: "1 of 2 connected · 2 tools" in desk.shown())
        assert "search, get_issue" in desk.shown()
        assert "/mcp:github:triage" in desk.shown()
        await desk.pilot.press("down")
        await desk.until(lambda: "The program notes is not there." in desk.words())
        await desk.pilot.press("r", "up", "s")
        assert desk.told(RunSlash) == [RunSlash("mcp reconnect notes"), RunSlash("mcp auth github")]
        await desk.pilot.press("escape")
        await desk.until(lambda: "1 of 2 connected" not in desk.shown())
        assert "MCP 1/2" in desk.shown()


async def test_the_list_follows_what_happens_and_keeps_its_mark(open_desk):
    async with open_desk() as desk:
        await desk.say(told())
        await desk.write("/mcp")
        await desk.pilot.press("enter")
        await desk.until(lambda: "1 of 2" in desk.shown())
        await desk.pilot.press("down")
        found = replace(LOST, status="connected", error="", tools=("write_note",))
        await desk.say(told(replace(STATUS, connected=2, tools=3, servers=(GITHUB, found))))
        await desk.until(lambda: "2 of 2 connected · 3 tools" in desk.shown())
        assert "write_note" in desk.shown()
        assert "is not there" not in desk.words()


async def test_without_servers_it_says_how_to_add_one(open_desk):
    async with open_desk() as desk:
        await desk.write("/mcp")
        await desk.pilot.press("enter")
        await desk.until(lambda: "This session has no MCP servers." in desk.words())
        assert "kimi-tui mcp add" in desk.words()


async def test_words_after_the_command_go_to_the_engine(open_desk):
    async with open_desk() as desk:
        await desk.say(told())
        await desk.write("/mcp reconnect notes")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(RunSlash))
        assert desk.told(RunSlash) == [RunSlash("mcp reconnect notes")]


async def test_a_resource_completes_after_the_at_sign(open_desk):
    async with open_desk() as desk:
        await desk.say(told())
        await desk.write("see @github:re")
        await desk.until(lambda: "github:repo://readme" in desk.shown())
        assert "\x1b" not in desk.shown()
        await desk.pilot.press("tab")
        await desk.until(lambda: desk.prompt_text == "see @github:repo://readme ")
