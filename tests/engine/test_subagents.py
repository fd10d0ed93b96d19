"""Sub-agents in a session: delegation, permissions and results."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import ToolCall
from kimi_tui.config.settings import ModelPrice
from kimi_tui.wire.codec import unwrap
from kimi_tui.wire.commands import Interrupt, Prompt, SetYolo
from kimi_tui.wire.events import (
    CostUpdate,
    Notification,
    StatusUpdate,
    StepBegin,
    SubagentEvent,
    ToolResult,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, write
from tests.engine.subagent_scripts import script_for, task_call, write_agent_files


@pytest.fixture
def agent(home: SessionEnv) -> Path:
    return write_agent_files(home)


def result_text(front: FakeFrontEnd, call_id: str) -> str:
    """Return the message and output that the model got for a call."""
    result = front.results[call_id].return_value
    return f"{result.message}\n{result.output}"


def nested_events(front: FakeFrontEnd, call_id: str) -> list[Any]:
    """Return the events of the sub-agent that a call waited for."""
    return [unwrap(it.event) for it in front.of(SubagentEvent) if it.parent_tool_call_id == call_id]


def state_of(home: SessionEnv, agent_id: str) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((home.session_dir / "subagents" / agent_id / "state.json").read_text())
    return state


def agent_id(front: FakeFrontEnd, call_id: str) -> str:
    return next(it.agent_id for it in front.of(SubagentEvent) if it.parent_tool_call_id == call_id)


async def test_the_report_is_the_tool_result_and_events_are_nested(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for(
            "look around", "text: hm", call("c1", "SetTodoList", todos=[{"title": "x", "status": "done"}])
        ),
        script_for("look around", "text: All is well."),
        script_for("begin", task_call("t1", "look around")),
        script_for("begin", "text: thanks"),
    )
    async with home.open_session(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"

    assert "All is well." in result_text(front, "t1")
    kinds = [type(event).__name__ for event in nested_events(front, "t1")]
    assert [it for it in kinds if it in ("StepBegin", "TextPart", "ToolCall", "ToolResult")] == [
        "StepBegin",
        "TextPart",
        "ToolCall",
        "ToolResult",
        "StepBegin",
        "TextPart",
    ]
    (subagent,) = {it.agent_id for it in front.of(SubagentEvent)}
    assert f'resume="{subagent}"' in result_text(front, "t1")
    state = state_of(home, subagent)
    assert (state["status"], state["steps"], state["kind"]) == ("finished", 2, "worker")
    assert home.state.get("todos", []) == []  # a sub-agent has its own todo list
    assert "look around" in (home.session_dir / "subagents" / subagent / "context.jsonl").read_text()


async def test_a_subagent_sees_no_conversation_and_cannot_delegate(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("dig", call("c1", "Task", description="d", prompt="p", subagent_type="worker")),
        script_for("dig", "text: could not"),
        script_for("a secret", task_call("t1", "dig")),
        script_for("a secret", "text: ok"),
    )
    async with home.open_session(agent_file=agent) as front:
        await front.turn("a secret")
    (result,) = [it for it in nested_events(front, "t1") if isinstance(it, ToolResult)]
    assert "There is no tool “Task”" in result.return_value.message
    journal = (home.session_dir / "subagents" / agent_id(front, "t1") / "context.jsonl").read_text()
    assert "a secret" not in journal
    assert "You are a sub-agent." in journal


async def test_a_subagent_whose_file_names_subagents_can_delegate(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("the deepest", "text: found gold"),
        script_for("the middle", task_call("t2", "the deepest")),
        script_for("the middle", "text: they found gold"),
        script_for("begin", task_call("t1", "the middle", subagent_type="chief")),
        script_for("begin", "text: well"),
    )
    async with home.open_session(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"
    inner = [it for it in nested_events(front, "t1") if isinstance(it, SubagentEvent)]
    assert {it.parent_tool_call_id for it in inner} == {"t2"}
    assert any(unwrap(it.event) == TextPart("found gold") for it in inner)


async def test_several_subagents_run_concurrently(home: SessionEnv, agent: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"  # commands see each other's files in the working directory only at their end
    shared.mkdir()
    calls = [task_call(f"t{n}", f"errand {n}.") for n in range(5)]
    home.script(
        # Each waits for the next one, so they finish only if they run concurrently.
        *(
            script_for(
                f"errand {n}.",
                bash("b", f"until test -e {shared}/{n + 1}; do sleep 0.01; done; touch {shared}/{n}"),
            )
            for n in range(4)
        ),
        script_for("errand 4.", bash("b", f"touch {shared}/4")),
        *(script_for(f"errand {n}.", f"text: done {n}") for n in range(5)),
        script_for("begin", *calls),
        script_for("begin", "text: all done"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert all(f"done {n}" in result_text(front, f"t{n}") for n in range(5))
    commands = [it for n in range(5) for it in nested_events(front, f"t{n}") if isinstance(it, ToolResult)]
    assert [it.return_value.is_error for it in commands] == [False] * 5


async def test_the_number_of_concurrent_subagents_is_limited(home: SessionEnv, agent: Path) -> None:
    home.script(
        *(
            script_for(f"errand {n}", bash("b", "set -C; : > busy && sleep 0.02 && rm busy"))
            for n in range(3)
        ),
        *(script_for(f"errand {n}", "text: done") for n in range(3)),
        script_for("begin", *(task_call(f"t{n}", f"errand {n}") for n in range(3))),
        script_for("begin", "text: all done"),
    )
    async with home.open_session(
        agent_file=agent, yolo=True, settings=home.settings(subagents={"max_at_once": 1})
    ) as front:
        await front.turn("begin")
    results = [it for n in range(3) for it in nested_events(front, f"t{n}") if isinstance(it, ToolResult)]
    assert [it.return_value.is_error for it in results] == [False] * 3


async def test_calls_with_the_same_ids_are_distinguished(home: SessionEnv, agent: Path) -> None:
    home.script(
        *(script_for(f"errand {n}", write("c1", f"{n}.txt", f"{n}\n")) for n in range(2)),
        *(script_for(f"errand {n}", "text: done") for n in range(2)),
        script_for("begin", task_call("c1", "errand 0"), task_call("c2", "errand 1")),
        script_for("begin", "text: all done"),
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("begin"))
        requests = [await front.next_approval_request(), await front.next_approval_request()]
        for request in requests:
            front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    ids = [
        it.id for call_id in ("c1", "c2") for it in nested_events(front, call_id) if isinstance(it, ToolCall)
    ]
    assert len({*ids, "c1", "c2"}) == 4
    assert {it.tool_call_id for it in requests} == set(ids)
    assert [home.file(f"{n}.txt").read_text() for n in range(2)] == ["0\n", "1\n"]


async def test_permission_requests_name_the_subagent(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("errand", write("c1", "a.txt")),
        script_for("errand", "text: done"),
        script_for("begin", task_call("t1", "errand", description="Write\nit")),
        script_for("begin", "text: fine"),
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("begin"))
        request = await front.next_approval_request()
        assert (request.subagent_type, request.source_description) == ("worker", "Write it")
        assert request.agent_id == agent_id(front, "t1")
        assert (request.source_kind, request.source_id) == ("foreground_turn", "t1")
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert home.file("a.txt").exists()


async def test_a_grant_applies_to_all_agents_and_their_open_requests(home: SessionEnv, agent: Path) -> None:
    home.script(
        *(script_for(f"errand {n}", bash("b", "date +%Y")) for n in range(3)),
        *(script_for(f"errand {n}", "text: done") for n in range(3)),
        script_for("begin", *(task_call(f"t{n}", f"errand {n}") for n in range(3))),
        script_for("begin", bash("b", "date +%m")),
        script_for("begin", "text: fine"),
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("begin"))
        requests = [await front.next_approval_request() for _ in range(3)]
        front.answer(requests[1], "approve_for_session")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
    assert len(front.of(ApprovalRequest)) == 3


async def test_a_subagent_has_no_more_permissions_than_its_parent(home: SessionEnv, agent: Path) -> None:
    home.permissions = {"deny": ["Bash(touch *)"]}
    home.script(
        script_for("errand", bash("b", "touch a")),
        script_for("errand", "text: not allowed"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: fine"),
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(SetYolo(True))
        await front.turn("begin")
    assert not home.file("a").exists()
    assert not front.of(ApprovalRequest)


async def test_a_rejection_ends_only_that_subagent(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("errand 0", write("c", "a")),
        script_for("errand 1", write("c", "b")),
        script_for("errand 1", "text: b is written"),
        script_for("begin", task_call("t0", "errand 0"), task_call("t1", "errand 1")),
        script_for("begin", "text: only one"),
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("begin"))
        for _ in range(2):
            request = await front.next_approval_request()
            is_first = request.source_id == "t0"
            front.answer(request, "reject" if is_first else "approve")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
    assert front.results["t0"].return_value.is_error
    assert "the user rejected" in result_text(front, "t0")
    assert "b is written" in result_text(front, "t1")
    assert state_of(home, agent_id(front, "t0"))["status"] == "failed"


@pytest.mark.parametrize(
    ("lines", "arguments", "text"),
    [
        (["error: 400 no credit"], {}, "no credit"),
        (["text: wait", bash("b", "sleep 30")], {"timeout": 1}, "timed out after 1 s"),
        ([], {"subagent_type": "nobody"}, "Available sub-agents: worker, chief"),
        ([], {"prompt": " "}, "prompt is empty"),
        ([], {"resume": "a00000000"}, "can't be resumed"),
        ([], {"resume": "../../x"}, "can't be resumed"),
        ([], {"model": "nothing"}, "Unknown model"),
    ],
    ids=["provider", "time", "kind", "prompt", "unknown", "path", "model"],
)
async def test_a_failed_subagent_is_a_tool_error(
    home: SessionEnv, agent: Path, lines: list[str], arguments: dict[str, Any], text: str
) -> None:
    home.script(
        *([script_for("errand", *lines)] if lines else []),
        script_for("begin", task_call("t1", "errand", **arguments)),
        script_for("begin", "text: well"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert front.results["t1"].return_value.is_error
    assert text in result_text(front, "t1")


async def test_the_steps_of_a_subagent_are_limited(home: SessionEnv, agent: Path) -> None:
    home.script(
        *(script_for("errand", "text: on it", call("c", "ReadFile", path="nothing")) for _ in range(2)),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: well"),
    )
    settings = home.settings(subagents={"max_steps": 2})
    async with home.open_session(agent_file=agent, settings=settings) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert "the limit of 2 steps" in result_text(front, "t1")
    assert "on it" in result_text(front, "t1")


async def test_an_invalid_agent_file_fails_only_the_task(home: SessionEnv, agent: Path) -> None:
    (agent.parent / "worker" / "agent.yaml").write_text("nonsense: true\n")
    home.script(script_for("begin", task_call("t1", "errand")), script_for("begin", "text: well"))
    async with home.open_session(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert "nonsense" in result_text(front, "t1")


async def test_a_subagent_can_be_resumed(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("errand", "text: half of it"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: ok"),
    )
    async with home.open_session(agent_file=agent) as front:
        await front.turn("begin")
    subagent = agent_id(front, "t1")
    home.script(
        script_for("the rest", "text: all of it"),
        script_for("go on", task_call("t2", "do the rest", resume=subagent, subagent_type="")),
        script_for("go on", "text: ok"),
    )
    async with home.open_session(agent_file=agent, continue_last=True) as front:
        await front.turn("go on")
    assert "all of it" in result_text(front, "t2")
    journal = (home.session_dir / "subagents" / subagent / "context.jsonl").read_text()
    assert all(text in journal for text in ("errand", "half of it", "the rest", "all of it"))
    state = state_of(home, subagent)
    assert (state["calls"], state["steps"]) == (["t1", "t2"], 2)


async def test_an_interrupted_subagent_can_be_resumed_by_its_id(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("errand", "text: on it", bash("b", "sleep 60")),
        script_for("begin", task_call("t1", "errand")),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        front.send(Prompt("begin"))
        await front.wait_for(SubagentEvent, where=lambda it: it.event.type == "ToolCall")
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
    subagent = agent_id(front, "t1")
    assert f'resume="{subagent}"' in result_text(front, "t1")
    assert state_of(home, subagent)["status"] == "interrupted"
    async with home.open_session(agent_file=agent, continue_last=True) as front:
        pass
    assert not front.of(Notification)  # it was reported already


async def test_the_cost_of_a_subagent_counts_for_the_session(home: SessionEnv, agent: Path) -> None:
    home.price = ModelPrice(input=10.0)
    home.script(
        script_for("errand", 'usage: {"input_other": 100000}', "text: done"),
        script_for("begin", 'usage: {"input_other": 100000}', task_call("t1", "errand")),
        script_for("begin", 'usage: {"input_other": 100000}', "text: fine"),
    )
    async with home.open_session(agent_file=agent) as front:
        await front.turn("begin")
    assert front.of(CostUpdate)[-1].cost_usd == pytest.approx(3.0)
    before_result = front.events[: front.events.index(front.results["t1"])]
    assert [it.cost_usd for it in before_result if isinstance(it, CostUpdate)][-1] == pytest.approx(2.0)
    assert front.of(StatusUpdate)[-1].session_usage.input_other == 300_000


async def test_the_cost_limit_applies_to_all_agents(home: SessionEnv, agent: Path) -> None:
    home.price = ModelPrice(input=10.0)
    home.script(
        script_for("errand", 'usage: {"input_other": 100000}', call("c", "ReadFile", path="x")),
        script_for("begin", task_call("t1", "errand")),
    )
    async with home.open_session(agent_file=agent, max_cost_usd=0.5) as front:
        end = await front.turn("begin")
    assert end.outcome == "limit"
    assert "of $0.50" in result_text(front, "t1")


async def test_a_long_stream_is_merged_into_few_events(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("errand", "chunk: 20000", f"text: {'word ' * 400}"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: fine"),
    )
    async with home.open_session(agent_file=agent) as front:
        await front.turn("begin")
    parts = [it for it in nested_events(front, "t1") if isinstance(it, TextPart)]
    assert "".join(it.text for it in parts) == ("word " * 400).strip()
    assert len(parts) < 10


async def test_ten_concurrent_subagents_all_return_a_result(home: SessionEnv, agent: Path) -> None:
    home.script(
        *(
            script_for(f"errand {n}.", write("c", f"{n}.txt"), call("d", "ReadFile", path=f"{n}.txt"))
            for n in range(10)
        ),
        script_for("errand 3.", "error: 400 broken"),
        *(script_for(f"errand {n}.", f"text: report {n}") for n in range(10) if n != 3),
        script_for("begin", *(task_call(f"t{n}", f"errand {n}.") for n in range(10))),
        script_for("begin", "text: all of them"),
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("begin"))
        for _ in range(10):
            request = await front.next_approval_request()
            front.answer(request, "reject" if request.source_id == "t7" else "approve")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert front.of(StepBegin)[-1].n == 2
    for n in range(10):
        text = {3: "broken", 7: "the user rejected"}.get(n, f"report {n}")
        assert text in result_text(front, f"t{n}")
        assert home.file(f"{n}.txt").exists() == (n != 7)
    states = [json.loads(path.read_text()) for path in home.session_dir.glob("subagents/*/state.json")]
    assert sorted(it["status"] for it in states) == ["failed"] * 2 + ["finished"] * 8
