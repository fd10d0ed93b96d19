"""Clients of Kimi CLI, with `--agent kimi`: the shape of its messages, its sessions and its error codes."""

import json
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


def test_slash_commands_answer_with_text(connect: Connect, program: Program) -> None:
    program.script("text: hello", "text: a summary")
    client = connect("--agent", "kimi")
    client.prompt("hi")
    for command, answer in (
        ("/compact", ""),
        ("/clear", "The context has been cleared."),
        ("/reset", "The context has been cleared."),
        ("/yolo", "Yolo mode: on. Everything is approved."),
        ("/yolo", "Yolo mode: off."),
        ("/afk", "Afk mode: on Everything is approved, and questions are dismissed."),
        ("/afk", "Afk mode: off"),
        ("/add-dir", "Added directories None. Add one with /add-dir PATH."),
    ):
        start = len(client.seen)
        assert client.prompt(command)["result"] == {"status": "finished"}
        kinds = [it["params"]["type"] for it in client.seen[start:] if "method" in it]
        assert (kinds[0], kinds[-1]) == ("TurnBegin", "TurnEnd")
        text = client.last_event("ContentPart")["text"]
        assert text == answer or not answer, command


def test_afk_mode_approves_commands_and_dismisses_questions(connect: Connect, program: Program) -> None:
    question = {"question": "Which?", "options": [{"label": "x"}, {"label": "y"}]}
    program.script(
        script(tool_call("a", "Shell", command="touch made")),
        script(tool_call("b", "AskUserQuestion", questions=[question])),
        "text: done",
    )
    client = connect("--agent", "kimi")
    client.initialize(capabilities={"supports_question": True})
    client.prompt("/afk on")
    assert client.prompt("go")["result"] == {"status": "finished"}
    assert (program.work_dir / "made").exists()
    assert "ApprovalRequest" not in client.kinds
    assert "QuestionRequest" not in client.kinds


def test_an_added_directory_is_used_like_the_working_directory(connect: Connect, program: Program) -> None:
    other = program.home / "other"
    other.mkdir()
    (other / "file.txt").write_text("inside")
    program.script(
        script(tool_call("a", "ReadFile", path=str(other / "file.txt"))), "text: done", "text: hello"
    )
    client = connect("--agent", "kimi", "--session", "s")
    assert client.prompt(f"/add-dir {other}")["result"] == {"status": "finished"}
    assert client.last_event("ContentPart")["text"] == f"Added {other}"
    client.prompt("read it")
    assert "ApprovalRequest" not in client.kinds
    assert "inside" in str(client.last_event("ToolResult")["return_value"])
    client.close_stdin()
    again = connect("--agent", "kimi", "--session", "s")
    again.prompt("/add-dir")
    assert str(other) in again.last_event("ContentPart")["text"]


def test_each_step_of_a_flow_is_a_turn(connect: Connect, program: Program) -> None:
    folder = program.home / "skills" / "release"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: release\ndescription: Releases\ntype: flow\n---\n```mermaid\nflowchart TD\n"
        "A([BEGIN]) --> B[Build it] --> C{Does it work?}\nC -->|no| B\nC -->|yes| D([END])\n```\n"
    )
    program.script(
        "text: built",
        "text: hm",
        "text: <choice>no</choice>",
        "text: built again",
        "text: <choice>yes</choice>",
    )
    client = connect("--agent", "kimi", "--skills-dir", str(folder.parent))
    start = len(client.seen)
    assert client.prompt("/flow:release")["result"] == {"status": "finished"}
    turns = [it["params"] for it in client.seen[start:] if it.get("params", {}).get("type") == "TurnBegin"]
    prompts = [str(turn["payload"]["user_input"]).split("\n")[0] for turn in turns]
    assert prompts == [
        "/flow:release",
        "Build it",
        "Does it work?",
        "Does it work?",
        "Build it",
        "Does it work?",
    ]
    assert client.kinds.count("TurnEnd") == len(turns)


def test_a_flow_ends_in_other_front_ends_too(program: Program) -> None:
    folder = program.home / "skills" / "release"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: release\ndescription: Releases\ntype: flow\n---\n```mermaid\nflowchart TD\n"
        "A([BEGIN]) --> B[Build it] --> C[Ship it] --> D([END])\n```\n"
    )
    program.script("text: built", "text: shipped")
    done = program.run("--skills-dir", str(folder.parent), "-p", "/flow:release")
    assert done.exit_code == 0, done.stderr
    assert "shipped" in done.stdout


def test_an_agent_file_can_be_added(connect: Connect, program: Program) -> None:
    agent = program.home / "agent.yaml"
    agent.write_text(
        "version: 1\nagent:\n  extend: default\n  exclude_tools:\n    - 'kimi_cli.tools.shell:Shell'\n"
    )
    program.script(script(tool_call("a", "Shell", command="true")), "text: done")
    client = connect("--agent", "kimi", "--agent-file", str(agent))
    client.prompt("go")
    assert client.last_event("ToolResult")["return_value"]["message"] == "Tool `Shell` not found"


def test_a_skills_prompt_is_its_file(connect: Connect, program: Program) -> None:
    text = "---\nname: forms\ndescription: Fills forms\n---\n\nUse fill.py.\n"
    folder = program.home / "skills" / "forms"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    for options, is_file in ((("--agent", "kimi"), True), ((), False)):
        program.script("text: done")
        client = connect(*options, "--skills-dir", str(folder.parent))
        client.prompt("/skill:forms")
        client.close_stdin()
        journal = max(program.context_files, key=lambda it: it.stat().st_mtime)
        messages = [json.loads(line) for line in journal.read_text().splitlines()]
        contents = [it["content"] for it in messages if it["role"] == "user"]
        assert ([[{"type": "text", "text": text.strip()}]] == contents) == is_file
        assert "Use fill.py." in str(contents)
