"""Tests of sub-agents and of MCP servers that the client configures."""

import pytest
from acp import RequestError
from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio, SseMcpServer

from kimi_tui.acp.mcp_servers import to_server_configs
from kimi_tui.mcp.server_config import RemoteServer, StdioServer
from tests.acp.fake_editor import connect_editor
from tests.engine.fake_front_end import SessionEnv, write
from tests.engine.subagent_scripts import script_for, task_call, write_agent_files


async def test_tool_calls_and_permission_requests_name_their_subagent(home: SessionEnv) -> None:
    home.script(
        script_for("write it", "text: I am on it", write("c1", "a.txt")),
        script_for("write it", "text: It is written."),
        script_for("begin", task_call("t1", "write it")),
        script_for("begin", "text: thanks"),
    )
    async with connect_editor(home, agent_file=write_agent_files(home)) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "begin")
        prompt = await editor.next_permission_prompt()
        calls = editor.calls(session)
        assert calls[prompt.call.tool_call_id].title == "worker: WriteFile: a.txt"
        prompt.choose("allow_once")
        await turn

        calls = editor.calls(session)
        assert [it.status for it in calls.values()] == ["completed", "completed"]
        own = next(it for it in calls.values() if it.title.startswith("Task"))
        assert "It is written." in str(own.content)
        assert editor.text_of(session) == "thanks"


def test_server_names_are_made_valid_for_tool_names() -> None:
    env, headers = [EnvVariable(name="A", value="1")], [HttpHeader(name="X", value="y")]
    assert to_server_configs(
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
        to_server_configs([McpServerStdio(name=" ", command="x", args=[], env=[])])
