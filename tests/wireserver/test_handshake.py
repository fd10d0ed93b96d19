"""Tests of the handshake: versions, capabilities, hooks and client tools."""

from collections.abc import Callable
from typing import Any

import pytest

from kimi_tui import __version__
from tests.e2e.program import Program, script, tool_call
from tests.wireserver.client import WireTestClient

Connect = Callable[..., WireTestClient]

EXTENSIONS = {
    "SessionInfo",
    "CheckpointCreated",
    "CostUpdate",
    "TodoUpdate",
    "ToolOutput",
    "Reverted",
    "RequestClosed",
}
TODO = script(tool_call("t1", "SetTodoList", todos=[{"title": "look", "status": "pending"}]))


def tool(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"name": name, "description": f"The tool {name}.", "parameters": schema, **more}


def test_the_handshake_describes_the_server(program: Program, connect: Connect) -> None:
    program.script("text: unused")
    client = connect()
    client.send(
        id=1, method="initialize", params={"protocol_version": "1.3", "client": {"name": "x"}, "hooks": []}
    )
    first = client.wait_for(lambda _: True)
    assert first["id"] == 1
    result = first["result"]
    assert result["protocol_version"] == "1.10"
    assert result["server"] == {"name": "kimi-tui", "version": __version__}
    assert {"name", "description", "aliases"} == result["slash_commands"][0].keys()
    assert result["hooks"]["configured"] == {}
    assert len(result["hooks"]["supported_events"]) == 13
    assert "external_tools" not in result


def test_extensions_are_sent_only_to_clients_that_support_them(program: Program, connect: Connect) -> None:
    program.script(TODO, "text: done")
    basic = connect()
    assert basic.prompt("go")["result"] == {"status": "finished"}
    assert not EXTENSIONS & set(basic.kinds)
    assert basic.last_event("TurnEnd") == {}

    extended = connect("--yolo")
    extended.initialize(capabilities={"supports_timeline": True})
    assert extended.prompt("go")["result"] == {"status": "finished"}
    assert {"SessionInfo", "CheckpointCreated", "TodoUpdate"} <= set(extended.kinds)
    assert extended.last_event("TurnEnd") == {"outcome": "finished", "steps": 2, "files": []}


def test_client_tools_run_in_the_client(program: Program, connect: Connect) -> None:
    program.script(script(tool_call("o1", "open_file", path="a.py", line=3)), "text: opened")
    client = connect()
    accepted = client.initialize(external_tools=[tool("open_file")])["external_tools"]
    assert accepted == {"accepted": ["open_file"], "rejected": []}

    prompt = client.start_call("prompt", {"user_input": "open it"})
    request = client.event("ToolCallRequest")
    assert request == {"id": "o1", "name": "open_file", "arguments": '{"path": "a.py", "line": 3}'}
    value = {"is_error": False, "output": "opened at 3", "message": "", "display": []}
    client.send(id=request["id"], result={"tool_call_id": request["id"], "return_value": value})

    assert client.event("ToolResult")["return_value"]["output"] == "opened at 3"
    assert client.answer_to(prompt)["result"] == {"status": "finished"}
    assert "opened at 3" in program.context_files[0].read_text()


def test_a_failed_client_tool_is_an_error_for_the_model(program: Program, connect: Connect) -> None:
    program.script(script(tool_call("o1", "open_file")), "text: failed")
    client = connect()
    client.initialize(external_tools=[tool("open_file")])
    prompt = client.start_call("prompt", {"user_input": "open it"})
    client.send(id=client.event("ToolCallRequest")["id"], error={"code": 1, "message": "no editor"})

    value = client.event("ToolResult")["return_value"]
    assert value["is_error"]
    assert "no editor" in value["message"]
    assert client.answer_to(prompt)["result"] == {"status": "finished"}


def test_a_client_hook_can_block_a_tool_call(program: Program, connect: Connect) -> None:
    program.script(script(tool_call("b1", "Bash", command="touch pushed")), "text: not pushed")
    client = connect("--yolo")
    hooks = [
        {"id": "guard", "event": "PreToolUse", "matcher": "Bash|Shell", "timeout": 20},
        {"id": "unknown", "event": "NoSuchEvent"},
    ]
    client.initialize(hooks=hooks)
    prompt = client.start_call("prompt", {"user_input": "push"})
    request = client.event("HookRequest")
    assert (request["subscription_id"], request["event"], request["target"]) == (
        "guard",
        "PreToolUse",
        "Bash",
    )
    assert request["input_data"]["tool_input"] == {"command": "touch pushed"}
    client.answer(request["id"], action="block", reason="not by this client")

    assert client.event("HookResolved")["action"] == "block"
    assert "not by this client" in client.event("ToolResult")["return_value"]["message"]
    assert client.answer_to(prompt)["result"] == {"status": "finished"}
    assert not (program.work_dir / "pushed").exists()


def test_a_prompt_blocked_by_a_hook_is_not_an_error(program: Program, connect: Connect) -> None:
    program.script("text: fine")
    client = connect()
    client.initialize(hooks=[{"id": "guard", "event": "UserPromptSubmit", "matcher": "secret"}])
    prompt = client.start_call("prompt", {"user_input": "a secret"})
    client.answer(client.event("HookRequest")["id"], action="block", reason="keep it")
    assert client.answer_to(prompt)["result"] == {"status": "finished"}
    assert client.last_event("HookResolved")["reason"] == "keep it"
    assert client.prompt("hello")["result"] == {"status": "finished"}
    assert client.text == "fine"


def test_a_client_tool_call_can_be_cancelled(program: Program, connect: Connect) -> None:
    program.script(script(tool_call("o1", "open_file")))
    client = connect()
    client.initialize(external_tools=[tool("open_file")])
    prompt = client.start_call("prompt", {"user_input": "open it"})
    client.event("ToolCallRequest")
    client.start_call("cancel")
    assert client.answer_to(prompt)["result"] == {"status": "cancelled"}


def test_invalid_client_tools_are_rejected_with_a_reason(program: Program, connect: Connect) -> None:
    program.script(script(tool_call("b1", "Bash", command="echo mine")), "text: done")
    client = connect("--yolo")
    tools = [
        tool("Bash"), tool("twice"), tool("twice"), tool("two words"),
        tool("odd", parameters={"type": "array"}),
    ]  # fmt: skip
    answer = client.initialize(external_tools=tools)["external_tools"]
    assert answer["accepted"] == ["twice"]
    assert [it["name"] for it in answer["rejected"]] == ["Bash", "twice", "two words", "odd"]
    assert all(it["reason"].endswith(".") for it in answer["rejected"])

    client.prompt("run it")
    assert "ToolCallRequest" not in client.kinds
    assert "mine" in client.last_event("ToolResult")["return_value"]["output"]


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        ({}, {"AskUserQuestion", "EnterPlanMode"}),
        ({"supports_question": True}, {"EnterPlanMode"}),
        ({"supports_question": True, "supports_plan_mode": True}, set()),
    ],
    ids=["nothing", "questions", "questions and plans"],
)
def test_the_model_has_no_tool_whose_questions_the_client_cannot_answer(
    program: Program, connect: Connect, capabilities: dict[str, bool], missing: set[str]
) -> None:
    program.script(script(tool_call("n1", "Nothing")), "text: done")
    client = connect()
    client.initialize(capabilities=capabilities)
    assert client.prompt("go")["result"] == {"status": "finished"}
    known = str(client.last_event("ToolResult"))
    assert {name for name in ("AskUserQuestion", "EnterPlanMode") if name not in known} == missing
    assert "ExitPlanMode" in known
