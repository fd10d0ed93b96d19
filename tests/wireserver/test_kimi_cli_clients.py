"""Clients of Kimi CLI, with `--agent kimi`: the shape of its messages, its sessions and its error codes."""

from collections.abc import Callable

from tests.e2e.program import Program, script, tool_call
from tests.wireserver.client import WireTestClient

Connect = Callable[..., WireTestClient]


def run_command(program: Program) -> None:
    program.script(script("text: hi", tool_call("c1", "Shell", command="touch made")), "text: done")


def test_missing_optional_fields_are_null(connect: Connect, program: Program) -> None:
    run_command(program)
    client = connect("--agent", "kimi")
    call = client.start_call("prompt", {"user_input": "go"})
    request = client.approve()
    assert request["source_kind"] == "foreground_turn"
    assert request["source_id"]
    assert (request["agent_id"], request["subagent_type"], request["source_description"]) == (None,) * 3
    assert client.answer_to(call)["result"] == {"status": "finished"}
    assert client.last_event("ToolCall")["extras"] is None
    assert client.last_event("ToolResult")["return_value"]["extras"] is None
    status = client.last_event("StatusUpdate")
    assert {"context_usage", "token_usage", "message_id", "plan_mode", "mcp_status"} <= status.keys()


def test_other_clients_get_no_nulls(connect: Connect, program: Program) -> None:
    program.script(script("text: hi", tool_call("c1", "Bash", command="touch made")), "text: done")
    client = connect("--yolo")
    client.prompt("go")
    assert "extras" not in client.last_event("ToolCall")


def test_a_missing_session_is_created_and_then_resumed(connect: Connect, program: Program) -> None:
    program.script("text: one", "text: two")
    first = connect("--agent", "kimi", "--session", "my-own-id")
    assert first.prompt("go")["result"]["status"] == "finished"
    first.close()
    (journal,) = program.context_files
    assert journal.parent.name == "my-own-id"
    second = connect("--agent", "kimi", "--session", "my-own-id")
    assert second.prompt("again")["result"]["status"] == "finished"
    assert "go" in journal.read_text()
    assert "again" in journal.read_text()


def test_a_provider_without_a_key_is_a_missing_model(connect: Connect, program: Program) -> None:
    program.configure(
        'default_model = "m"\n[providers.p]\ntype = "kimi"\n'
        '[models.m]\nprovider = "p"\nmodel = "x"\nmax_context_size = 9000\n'
    )
    client = connect()
    client.initialize()
    assert client.prompt("go")["error"]["code"] == -32001
    assert client.process.poll() is None
