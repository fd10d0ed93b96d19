"""Those that help the agent: its sub-agents, and the MCP servers that a client brings along."""

import pytest
from acp import RequestError
from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio, SseMcpServer

from kimi_tui.acp.mcp_servers import servers_of
from kimi_tui.tools.mcp.server_config import RemoteServer, StdioServer
from tests.acp.editor import at_desk
from tests.engine.front import Home, write
from tests.engine.household import hire, part, task


async def test_a_sub_agents_calls_are_shown_and_asked_for_in_its_name(home: Home) -> None:
    home.script(
        part("write it", "text: I am on it", write("c1", "a.txt")),
        part("write it", "text: It is written."),
        part("begin", task("t1", "write it")),
        part("begin", "text: thanks"),
    )
    async with at_desk(home, agent_file=hire(home)) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "begin")
        asked = await editor.permission()
        calls = editor.calls(session)
        assert calls[asked.call.tool_call_id].title == "worker: WriteFile: a.txt"
        asked.choose("allow_once")
        await turn

        calls = editor.calls(session)
        assert [it.status for it in calls.values()] == ["completed", "completed"]
        own = next(it for it in calls.values() if it.title.startswith("Task"))
        assert "It is written." in str(own.content)
        assert editor.said(session) == "thanks"


def test_servers_of_a_client_get_names_that_tools_can_have() -> None:
    env, headers = [EnvVariable(name="A", value="1")], [HttpHeader(name="X", value="y")]
    assert servers_of(
        [
            McpServerStdio(name="my tools", command="/bin/tool", args=["-v"], env=env),
            HttpMcpServer(type="http", name="web", url="https://x.org", headers=headers),
            SseMcpServer(type="sse", name="old", url="https://y.org", headers=[]),
        ]
    ) == (
        StdioServer(name="my-tools", command="/bin/tool", args=("-v",), env={"A": "1"}),
        RemoteServer(name="web", url="https://x.org", headers={"X": "y"}),
        RemoteServer(name="old", url="https://y.org", transport="sse"),
    )
    with pytest.raises(RequestError, match="name"):
        servers_of([McpServerStdio(name=" ", command="x", args=[], env=[])])
