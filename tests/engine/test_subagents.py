"""Sub-agents in a session: what they do, what they may, what becomes of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.content import TextPart
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
from tests.engine.front import Front, Home, bash, call, write
from tests.engine.household import hire, part, task


@pytest.fixture
def agent(home: Home) -> Path:
    return hire(home)


def told(front: Front, call_id: str) -> str:
    """What the model was told of a call."""
    result = front.results[call_id].return_value
    return f"{result.message}\n{result.output}"


def nested(front: Front, call_id: str) -> list[Any]:
    """The events of the sub-agent that a call waited for."""
    return [unwrap(it.event) for it in front.of(SubagentEvent) if it.parent_tool_call_id == call_id]


def state_of(home: Home, agent_id: str) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((home.session_dir / "subagents" / agent_id / "state.json").read_text())
    return state


def agent_id(front: Front, call_id: str) -> str:
    return next(it.agent_id for it in front.of(SubagentEvent) if it.parent_tool_call_id == call_id)


async def test_its_report_is_the_result_and_its_events_are_nested(home: Home, agent: Path) -> None:
    home.script(
        part("look around", "text: hm", call("c1", "SetTodoList", todos=[{"title": "x", "status": "done"}])),
        part("look around", "text: All is well."),
        part("begin", task("t1", "look around")),
        part("begin", "text: thanks"),
    )
    async with home.opened(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"

    assert "All is well." in told(front, "t1")
    kinds = [type(event).__name__ for event in nested(front, "t1")]
    assert [it for it in kinds if it in ("StepBegin", "TextPart", "ToolCall", "ToolResult")] == [
        "StepBegin",
        "TextPart",
        "ToolCall",
        "ToolResult",
        "StepBegin",
        "TextPart",
    ]
    (subagent,) = {it.agent_id for it in front.of(SubagentEvent)}
    assert f'resume="{subagent}"' in told(front, "t1")
    state = state_of(home, subagent)
    assert (state["status"], state["steps"], state["kind"]) == ("finished", 2, "worker")
    assert home.state.get("todos", []) == []  # its list is its own
    assert "look around" in (home.session_dir / "subagents" / subagent / "context.jsonl").read_text()


async def test_it_knows_nothing_of_the_conversation_and_cannot_give_work_on(home: Home, agent: Path) -> None:
    home.script(
        part("dig", call("c1", "Task", description="d", prompt="p", subagent_type="worker")),
        part("dig", "text: could not"),
        part("a secret", task("t1", "dig")),
        part("a secret", "text: ok"),
    )
    async with home.opened(agent_file=agent) as front:
        await front.turn("a secret")
    (result,) = [it for it in nested(front, "t1") if isinstance(it, ToolResult)]
    assert "There is no tool “Task”" in result.return_value.message
    journal = (home.session_dir / "subagents" / agent_id(front, "t1") / "context.jsonl").read_text()
    assert "a secret" not in journal
    assert "You are a sub-agent." in journal


async def test_one_whose_own_file_names_sub_agents_gives_work_on(home: Home, agent: Path) -> None:
    home.script(
        part("the deepest", "text: found gold"),
        part("the middle", task("t2", "the deepest")),
        part("the middle", "text: they found gold"),
        part("begin", task("t1", "the middle", subagent_type="chief")),
        part("begin", "text: well"),
    )
    async with home.opened(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"
    inner = [it for it in nested(front, "t1") if isinstance(it, SubagentEvent)]
    assert {it.parent_tool_call_id for it in inner} == {"t2"}
    assert any(unwrap(it.event) == TextPart("found gold") for it in inner)


async def test_several_work_at_the_same_time(home: Home, agent: Path) -> None:
    calls = [task(f"t{n}", f"errand {n}.") for n in range(5)]
    home.script(
        # Each waits for the one after it, but the last: one after another they would never end.
        *(
            part(f"errand {n}.", bash("b", f"until test -e {n + 1}; do sleep 0.01; done; touch {n}"))
            for n in range(4)
        ),
        part("errand 4.", bash("b", "touch 4")),
        *(part(f"errand {n}.", f"text: done {n}") for n in range(5)),
        part("begin", *calls),
        part("begin", "text: all done"),
    )
    async with home.opened(agent_file=agent, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert all(f"done {n}" in told(front, f"t{n}") for n in range(5))


async def test_only_so_many_work_at_once_and_the_others_wait(home: Home, agent: Path) -> None:
    home.script(
        *(part(f"errand {n}", bash("b", "set -C; : > busy && sleep 0.02 && rm busy")) for n in range(3)),
        *(part(f"errand {n}", "text: done") for n in range(3)),
        part("begin", *(task(f"t{n}", f"errand {n}") for n in range(3))),
        part("begin", "text: all done"),
    )
    async with home.opened(
        agent_file=agent, yolo=True, settings=home.settings(subagents={"max_at_once": 1})
    ) as front:
        await front.turn("begin")
    results = [it for n in range(3) for it in nested(front, f"t{n}") if isinstance(it, ToolResult)]
    assert [it.return_value.is_error for it in results] == [False] * 3


async def test_two_with_the_same_ids_are_told_apart(home: Home, agent: Path) -> None:
    home.script(
        *(part(f"errand {n}", write("c1", f"{n}.txt", f"{n}\n")) for n in range(2)),
        *(part(f"errand {n}", "text: done") for n in range(2)),
        part("begin", task("c1", "errand 0"), task("c2", "errand 1")),
        part("begin", "text: all done"),
    )
    async with home.opened(agent_file=agent) as front:
        front.give(Prompt("begin"))
        requests = [await front.asked(), await front.asked()]
        for request in requests:
            front.answer(request, "approve")
        await front.until(TurnEnd)
    ids = [it.id for call_id in ("c1", "c2") for it in nested(front, call_id) if isinstance(it, ToolCall)]
    assert len({*ids, "c1", "c2"}) == 4
    assert {it.tool_call_id for it in requests} == set(ids)
    assert [home.file(f"{n}.txt").read_text() for n in range(2)] == ["0\n", "1\n"]


async def test_what_it_wants_is_asked_in_its_name(home: Home, agent: Path) -> None:
    home.script(
        part("errand", write("c1", "a.txt")),
        part("errand", "text: done"),
        part("begin", task("t1", "errand", description="Write\nit")),
        part("begin", "text: fine"),
    )
    async with home.opened(agent_file=agent) as front:
        front.give(Prompt("begin"))
        request = await front.asked()
        assert (request.subagent_type, request.source_description) == ("worker", "Write it")
        assert request.agent_id == agent_id(front, "t1")
        assert (request.source_kind, request.source_id) == ("foreground_turn", "t1")
        front.answer(request, "approve")
        await front.until(TurnEnd)
    assert home.file("a.txt").exists()


async def test_a_grant_holds_for_all_agents_and_for_those_that_wait(home: Home, agent: Path) -> None:
    home.script(
        *(part(f"errand {n}", bash("b", "date +%Y")) for n in range(3)),
        *(part(f"errand {n}", "text: done") for n in range(3)),
        part("begin", *(task(f"t{n}", f"errand {n}") for n in range(3))),
        part("begin", bash("b", "date +%m")),
        part("begin", "text: fine"),
    )
    async with home.opened(agent_file=agent) as front:
        front.give(Prompt("begin"))
        requests = [await front.asked() for _ in range(3)]
        front.answer(requests[1], "approve_for_session")
        assert (await front.until(TurnEnd)).outcome == "finished"
    assert len(front.of(ApprovalRequest)) == 3


async def test_it_has_no_more_rights_than_its_parent(home: Home, agent: Path) -> None:
    home.permissions = {"deny": ["Bash(touch *)"]}
    home.script(
        part("errand", bash("b", "touch a")),
        part("errand", "text: not allowed"),
        part("begin", task("t1", "errand")),
        part("begin", "text: fine"),
    )
    async with home.opened(agent_file=agent) as front:
        front.give(SetYolo(True))
        await front.turn("begin")
    assert not home.file("a").exists()
    assert not front.of(ApprovalRequest)


async def test_a_plain_no_ends_its_work_alone(home: Home, agent: Path) -> None:
    home.script(
        part("errand 0", write("c", "a")),
        part("errand 1", write("c", "b")),
        part("errand 1", "text: b is written"),
        part("begin", task("t0", "errand 0"), task("t1", "errand 1")),
        part("begin", "text: only one"),
    )
    async with home.opened(agent_file=agent) as front:
        front.give(Prompt("begin"))
        for _ in range(2):
            request = await front.asked()
            is_first = request.source_id == "t0"
            front.answer(request, "reject" if is_first else "approve")
        assert (await front.until(TurnEnd)).outcome == "finished"
    assert front.results["t0"].return_value.is_error
    assert "the user rejected" in told(front, "t0")
    assert "b is written" in told(front, "t1")
    assert state_of(home, agent_id(front, "t0"))["status"] == "failed"


@pytest.mark.parametrize(
    ("lines", "arguments", "words"),
    [
        (["error: 400 no credit"], {}, "no credit"),
        (["text: wait", bash("b", "sleep 30")], {"timeout": 1}, "stopped after 1 s"),
        ([], {"subagent_type": "nobody"}, "There are: worker, chief"),
        ([], {"prompt": " "}, "prompt is empty"),
        ([], {"resume": "a00000000"}, "could go on"),
        ([], {"resume": "../../x"}, "could go on"),
        ([], {"model": "nothing"}, "There is no model"),
    ],
    ids=["provider", "time", "kind", "prompt", "unknown", "path", "model"],
)
async def test_one_that_fails_is_a_result(
    home: Home, agent: Path, lines: list[str], arguments: dict[str, Any], words: str
) -> None:
    home.script(
        *([part("errand", *lines)] if lines else []),
        part("begin", task("t1", "errand", **arguments)),
        part("begin", "text: well"),
    )
    async with home.opened(agent_file=agent, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert front.results["t1"].return_value.is_error
    assert words in told(front, "t1")


async def test_its_steps_are_limited(home: Home, agent: Path) -> None:
    home.script(
        *(part("errand", "text: on it", call("c", "ReadFile", path="nothing")) for _ in range(2)),
        part("begin", task("t1", "errand")),
        part("begin", "text: well"),
    )
    settings = home.settings(subagents={"max_steps": 2})
    async with home.opened(agent_file=agent, settings=settings) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert "it took 2 steps" in told(front, "t1")
    assert "on it" in told(front, "t1")


async def test_an_agent_file_with_a_mistake_costs_the_task_alone(home: Home, agent: Path) -> None:
    (agent.parent / "worker" / "agent.yaml").write_text("nonsense: true\n")
    home.script(part("begin", task("t1", "errand")), part("begin", "text: well"))
    async with home.opened(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert "nonsense" in told(front, "t1")


async def test_it_goes_on_where_it_was(home: Home, agent: Path) -> None:
    home.script(
        part("errand", "text: half of it"), part("begin", task("t1", "errand")), part("begin", "text: ok")
    )
    async with home.opened(agent_file=agent) as front:
        await front.turn("begin")
    subagent = agent_id(front, "t1")
    home.script(
        part("the rest", "text: all of it"),
        part("go on", task("t2", "do the rest", resume=subagent, subagent_type="")),
        part("go on", "text: ok"),
    )
    async with home.opened(agent_file=agent, continue_last=True) as front:
        await front.turn("go on")
    assert "all of it" in told(front, "t2")
    journal = (home.session_dir / "subagents" / subagent / "context.jsonl").read_text()
    assert all(words in journal for words in ("errand", "half of it", "the rest", "all of it"))
    state = state_of(home, subagent)
    assert (state["calls"], state["steps"]) == (["t1", "t2"], 2)


async def test_an_interrupt_stops_it_and_names_it_to_go_on(home: Home, agent: Path) -> None:
    home.script(
        part("errand", "text: on it", bash("b", "sleep 60")),
        part("begin", task("t1", "errand")),
    )
    async with home.opened(agent_file=agent, yolo=True) as front:
        front.give(Prompt("begin"))
        await front.until(SubagentEvent, where=lambda it: it.event.type == "ToolCall")
        front.give(Interrupt())
        assert (await front.until(TurnEnd)).outcome == "cancelled"
    subagent = agent_id(front, "t1")
    assert f'resume="{subagent}"' in told(front, "t1")
    assert state_of(home, subagent)["status"] == "interrupted"
    async with home.opened(agent_file=agent, continue_last=True) as front:
        pass
    assert not front.of(Notification)  # it was told of already


async def test_what_it_costs_is_the_sessions(home: Home, agent: Path) -> None:
    home.price = ModelPrice(input=10.0)
    home.script(
        part("errand", 'usage: {"input_other": 100000}', "text: done"),
        part("begin", 'usage: {"input_other": 100000}', task("t1", "errand")),
        part("begin", 'usage: {"input_other": 100000}', "text: fine"),
    )
    async with home.opened(agent_file=agent) as front:
        await front.turn("begin")
    assert front.of(CostUpdate)[-1].cost_usd == pytest.approx(3.0)
    before_result = front.events[: front.events.index(front.results["t1"])]
    assert [it.cost_usd for it in before_result if isinstance(it, CostUpdate)][-1] == pytest.approx(2.0)
    assert front.of(StatusUpdate)[-1].session_usage.input_other == 300_000


async def test_the_limit_of_cost_holds_for_all(home: Home, agent: Path) -> None:
    home.price = ModelPrice(input=10.0)
    home.script(
        part("errand", 'usage: {"input_other": 100000}', call("c", "ReadFile", path="x")),
        part("begin", task("t1", "errand")),
    )
    async with home.opened(agent_file=agent, max_cost_usd=0.5) as front:
        end = await front.turn("begin")
    assert end.outcome == "limit"
    assert "limit is $0.50" in told(front, "t1")


async def test_a_long_stream_arrives_in_few_events(home: Home, agent: Path) -> None:
    home.script(
        part("errand", "chunk: 20000", f"text: {'word ' * 400}"),
        part("begin", task("t1", "errand")),
        part("begin", "text: fine"),
    )
    async with home.opened(agent_file=agent) as front:
        await front.turn("begin")
    parts = [it for it in nested(front, "t1") if isinstance(it, TextPart)]
    assert "".join(it.text for it in parts) == ("word " * 400).strip()
    assert len(parts) < 10


async def test_ten_at_once_are_all_accounted_for(home: Home, agent: Path) -> None:
    home.script(
        *(
            part(f"errand {n}.", write("c", f"{n}.txt"), call("d", "ReadFile", path=f"{n}.txt"))
            for n in range(10)
        ),
        part("errand 3.", "error: 400 broken"),
        *(part(f"errand {n}.", f"text: report {n}") for n in range(10) if n != 3),
        part("begin", *(task(f"t{n}", f"errand {n}.") for n in range(10))),
        part("begin", "text: all of them"),
    )
    async with home.opened(agent_file=agent) as front:
        front.give(Prompt("begin"))
        for _ in range(10):
            request = await front.asked()
            front.answer(request, "reject" if request.source_id == "t7" else "approve")
        assert (await front.until(TurnEnd)).outcome == "finished"
        assert front.of(StepBegin)[-1].n == 2
    for n in range(10):
        words = {3: "broken", 7: "the user rejected"}.get(n, f"report {n}")
        assert words in told(front, f"t{n}")
        assert home.file(f"{n}.txt").exists() == (n != 7)
    states = [json.loads(path.read_text()) for path in home.session_dir.glob("subagents/*/state.json")]
    assert sorted(it["status"] for it in states) == ["failed"] * 2 + ["finished"] * 8
