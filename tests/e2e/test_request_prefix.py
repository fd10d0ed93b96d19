"""Requests of sub-agents and of a fleet's attempts begin with the same bytes, so that servers cache them."""

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.e2e.test_background_work import start_subagents_script
from tests.e2e.test_providers import PROTOCOLS, connect
from tests.llm.servers import Call, Fault, Protocol, ScriptedResponse, assert_prefix_extension, serving


def errand(number: int) -> Call:
    return Call(
        "Task", {"description": f"errand {number}", "prompt": f"errand {number}.", "subagent_type": "worker"}
    )


def first_prompt(body: dict[str, Any]) -> str:
    return json.dumps(next(message for message in body["messages"] if message["role"] == "user"))


def bytes_in_common(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the share of the shorter body that both begin with. Tools and system prompt come first."""
    texts = [
        json.dumps([body["tools"], body.get("system"), body["messages"]], ensure_ascii=False)
        for body in (one, other)
    ]
    same = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    return same / min(map(len, texts))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_sub_agents_begin_their_requests_with_the_same_bytes_also_after_a_resume(
    program: Program, protocol: Protocol
) -> None:
    agent = start_subagents_script(program)
    look = ScriptedResponse(tool_calls=(Call("Bash", {"command": "echo looked"}),))
    report = ScriptedResponse(text="A report.")
    responses = [
        ScriptedResponse(tool_calls=(errand(1),)), look, report,
        ScriptedResponse(tool_calls=(errand(2),)), look, report,
        ScriptedResponse(text="one"),
        ScriptedResponse(tool_calls=(errand(3),)), look, report, ScriptedResponse(text="two"),
    ]  # fmt: skip
    with serving(protocol, responses) as server:
        connect(program, protocol, server.base_url)
        options = ("--print", "--yolo", "--agent-file", agent)
        assert program.run(*options, "-p", "first").stdout == "one\n"
        (program.work_dir / "new.txt").write_text("x")
        assert program.run(*options, "--continue", "-p", "second").stdout == "two\n"
    bodies = server.bodies
    main = [body for body in bodies if "errand" not in first_prompt(body)]
    subagents = [body for body in bodies if body not in main]
    assert (len(main), len(subagents)) == (5, 6)
    for earlier, later in pairwise(main):
        assert_prefix_extension(earlier, later)
    for first, second in (subagents[0:2], subagents[2:4], subagents[4:6]):
        assert_prefix_extension(first, second)
    for other in subagents[2::2]:
        assert "looked" not in json.dumps(other)
        assert [other["tools"], other.get("system")] == [subagents[0]["tools"], subagents[0].get("system")]
        assert bytes_in_common(subagents[0], other) > 0.9


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_attempts_at_a_task_send_the_same_bytes_and_other_tasks_most_of_them(
    program: Program, protocol: Protocol
) -> None:
    program.env["TMPDIR"] = str(program.home)  # a task "a" of another test would use the same directory
    tasks = [{"id": name, "prompt": "say hi"} for name in ("a", "b")]
    (program.work_dir / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    hi = ScriptedResponse(text="hi")
    with serving(protocol, [Fault.status_is(503), Fault.status_is(503), hi, hi]) as server:
        connect(program, protocol, server.base_url)
        with (program.data_dir / "config.toml").open("a") as file:
            file.write("\n[loop_control]\nmax_retries_per_step = 1\n")
        done = program.run("fleet", "run", "tasks.jsonl", "-j", "1", "--retries", "2")
    assert done.exit_code == 0, done
    assert "↻ a runs again: temporary failure" in done.stderr
    *attempts, other = server.bodies
    assert len(attempts) == 3
    assert attempts[0] == attempts[1] == attempts[2]
    assert bytes_in_common(attempts[0], other) > 0.75
