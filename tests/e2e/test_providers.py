"""The real program in print mode with servers of both protocols: tasks, faults and exit codes."""

import json
from itertools import pairwise

import pytest

from tests.e2e.program import Program
from tests.llm.servers import (
    Call,
    Fault,
    Protocol,
    ScriptedResponse,
    assert_prefix_extension,
    assert_valid_request,
    serving,
)

PROTOCOLS: tuple[Protocol, ...] = ("openai", "anthropic")

TASK = (
    ScriptedResponse(
        thinking="I need to read two files.",
        text="I'll read both files.",
        tool_calls=(Call("LS", {"path": "."}), Call("ReadFile", {"path": "greeting.txt"})),
    ),
    ScriptedResponse(
        tool_calls=(Call("EditFile", {"path": "greeting.txt", "edit": {"old": "helo", "new": "hello"}}),)
    ),
    ScriptedResponse(
        tool_calls=(
            Call("Bash", {"command": "cat greeting.txt; exit 3"}),
            Call("NoSuchTool", {}),
            Call("ReadFile", "{not json"),
        )
    ),
    ScriptedResponse(text="I fixed the greeting."),
)


def connect(program: Program, protocol: Protocol, base_url: str, *, idle_timeout_s: float = 100) -> None:
    program.configure(
        f"""
        default_model = "m"
        default_thinking = true
        [providers.p]
        type = "{protocol}"
        base_url = "{base_url}"
        api_key = "sk-secret-key"
        idle_timeout_s = {idle_timeout_s}
        [models.m]
        provider = "p"
        model = "model-1"
        max_context_size = 100000
        capabilities = ["thinking"]
        price = {{ input = 1.0, output = 2.0, cached = 0.5 }}
        """
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_task_with_several_tool_calls_sends_valid_requests_that_extend_each_other(
    program: Program, protocol: Protocol
) -> None:
    (program.work_dir / "greeting.txt").write_text("helo\n")
    with serving(protocol, TASK) as server:
        connect(program, protocol, server.base_url)
        finished = program.run(
            "--print", "-p", "fix the greeting", "--yolo", "--output-format", "stream-json"
        )

    assert finished.exit_code == 0, finished.stderr
    assert (program.work_dir / "greeting.txt").read_text() == "hello\n"
    assert len(server.bodies) == 4
    for body in server.bodies:
        assert_valid_request(body)
    for earlier, later in pairwise(server.bodies):
        assert_prefix_extension(earlier, later)
    assert [line["role"] for line in finished.lines[1:-1]] == [
        "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool", "tool", "tool", "assistant",
    ]  # fmt: skip
    assert finished.result["files_changed"] == ["greeting.txt"]
    assert finished.result["steps"] == 4
    assert finished.result["usage"]["output"] == 80
    assert finished.result["cost_usd"] > 0


@pytest.mark.parametrize("options", [("--continue",), ("--continue", "--fork")], ids=["resumed", "forked"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_later_run_begins_its_requests_as_the_first_one(
    program: Program, protocol: Protocol, options: tuple[str, ...]
) -> None:
    responses = [ScriptedResponse(thinking="hm", text="one"), ScriptedResponse(text="two")]
    with serving(protocol, responses) as server:
        connect(program, protocol, server.base_url)
        assert program.run("--print", "-p", "first").stdout == "one\n"
        (program.work_dir / "new.txt").write_text("in the list of files of a new session\n")
        assert program.run("--print", *options, "-p", "second").stdout == "two\n"

    first, second = server.bodies
    assert_valid_request(second)
    assert_prefix_extension(first, second)
    assert "first" in json.dumps(second)
    assert "new.txt" not in json.dumps(second)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "fault",
    [
        Fault.status_is(429, headers={"Retry-After": "1"}),
        Fault.status_is(503),
        Fault.reset_after(3),
        Fault.stall_after(3),
        Fault.malformed_after(3),
        Fault.empty(),
    ],
    ids=["429", "503", "reset", "stall", "malformed", "empty"],
)
def test_a_transient_fault_costs_only_a_retry(program: Program, protocol: Protocol, fault: Fault) -> None:
    with serving(protocol, [fault, ScriptedResponse(text="all is well")]) as server:
        connect(program, protocol, server.base_url, idle_timeout_s=3 if fault.kind == "stall" else 100)
        finished = program.run("--print", "-p", "hi", "--output-format", "json")

    assert finished.exit_code == 0, finished.stdout + finished.stderr
    assert finished.result["result"] == "all is well"
    assert len(server.bodies) == 2
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("status", "exit_code"), [(401, 1), (404, 1), (429, 75), (529, 75)])
def test_a_lasting_fault_ends_with_an_error_a_hint_and_its_exit_code(
    program: Program, protocol: Protocol, status: int, exit_code: int
) -> None:
    with serving(protocol, [Fault.status_is(status)] * 3) as server:
        connect(program, protocol, server.base_url)
        finished = program.run(
            "--print", "-p", "hi", "--output-format", "json", "--max-retries-per-step", "1"
        )

    assert finished.exit_code == exit_code
    assert finished.result["retryable"] is (exit_code == 75)
    assert finished.result["error"]["what"]
    assert finished.result["error"]["hint"]
    assert "sk-secret-key" not in finished.stdout + finished.stderr


def test_the_next_run_sends_the_prompt_of_a_failed_turn(program: Program) -> None:
    with serving("openai", [Fault.status_is(401), ScriptedResponse(text="welcome back")]) as server:
        connect(program, "openai", server.base_url)
        assert program.run("--print", "-p", "an important request").exit_code == 1
        finished = program.run("--print", "--continue", "-p", "again")

    assert finished.stdout == "welcome back\n"
    assert "an important request" in json.dumps(server.bodies[1])
