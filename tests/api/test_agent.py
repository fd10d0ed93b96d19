"""The Python API, as a program uses it."""

import asyncio
from typing import Any

import pytest

from kimi_tui import (
    ApprovalRequest,
    ApprovalResponse,
    KimiTuiError,
    TextPart,
    ToolResult,
    TurnBegin,
    TurnEnd,
    TurnError,
)
from kimi_tui.base.errors import ModelNotSet, UsageError
from kimi_tui.wire.events import CompactionBegin
from tests.engine.fake_front_end import bash, call, script, write

from .conftest import ApiHome


async def test_a_turn_yields_its_events(home: ApiHome) -> None:
    home.script("text: It is 4.\nusage: input_other=10 output=3")
    async with home.create() as agent:
        turn = agent.run("2 + 2?")
        events = [event async for event in turn]
        result = await turn
    assert events[0] == TurnBegin("2 + 2?")
    assert "".join(event.text for event in events if isinstance(event, TextPart)) == "It is 4."
    assert events[-1] == TurnEnd("finished", 1)
    assert (result.text, result.outcome, result.steps) == ("It is 4.", "finished", 1)
    assert (result.usage.input_other, result.usage.output) == (10, 3)
    assert result.cost_usd == pytest.approx(16e-6)


async def test_ask_returns_only_the_response(home: ApiHome) -> None:
    home.script(script("text: I look", call("c1", "ReadFile", path="a.txt")), "text: It says one.")
    home.file("a.txt").write_text("one\n")
    async with home.create() as agent:
        assert await agent.ask("what does a.txt say?") == "It says one."


async def test_a_failed_turn_has_an_error_in_its_result_and_makes_ask_raise(home: ApiHome) -> None:
    home.script("error: 401 who are you", "error: 401 who are you", "text: fine")
    async with home.create() as agent:
        result = await agent.run("hello")
        assert result.outcome == "failed"
        assert result.error is not None
        assert result.error.status_code == 401
        with pytest.raises(TurnError) as caught:
            await agent.ask("hello")
        assert caught.value.result.outcome == "failed"
        assert await agent.ask("hello") == "fine"


async def test_queued_prompts_run_in_order(home: ApiHome) -> None:
    home.script("text: one", "text: two", "text: three")
    async with home.create() as agent:
        turns = [agent.run(text) for text in ("same", "same", "other")]
        assert [(await turn).text for turn in turns] == ["one", "two", "three"]


async def test_permission_requests_are_rejected_without_a_handler(home: ApiHome) -> None:
    home.script(script("text: go", write("c1", "a.txt")), "text: then not")
    async with home.create() as agent:
        result = await agent.run("write")
    assert result.denied == ("c1",)
    assert not home.file("a.txt").exists()


async def test_yolo_approves_and_the_result_names_the_files(home: ApiHome) -> None:
    calls = write("c1", "a.txt", "hi\n"), bash("c2", "echo hi > b.txt")
    home.script(script("text: go", *calls), "text: done")
    async with home.create(yolo=True) as agent:
        result = await agent.run("write")
    assert home.file("a.txt").read_text() == "hi\n"
    assert result.files_changed == ("a.txt", "b.txt")


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_function_decides_on_permission_requests(home: ApiHome, is_async: bool) -> None:
    asked: list[str] = []

    def decide(request: ApprovalRequest) -> Any:
        asked.append(request.sender)
        if "rm" in request.description:
            return ApprovalResponse(request.id, "reject", "Use trash.")
        return True

    async def decide_later(request: ApprovalRequest) -> Any:
        await asyncio.sleep(0)
        return decide(request)

    home.script(script("text: go", write("c1", "a.txt"), bash("c2", "rm a.txt")), "text: done")
    async with home.create(approve=decide_later if is_async else decide) as agent:
        results = {
            event.tool_call_id: event.return_value
            async for event in agent.run("write")
            if isinstance(event, ToolResult)
        }
    assert sorted(asked) == ["Bash", "WriteFile"]
    assert home.file("a.txt").exists()
    assert results["c2"].is_error
    assert "Use trash." in results["c2"].message


@pytest.mark.parametrize("nonsense", ["perhaps", None, 2])
async def test_an_invalid_answer_ends_the_turn_and_raises(home: ApiHome, nonsense: Any) -> None:
    home.script(script("text: go", write("c1", "a.txt")), "text: done", "text: fine")
    async with home.create(approve=lambda _: nonsense) as agent:
        with pytest.raises(UsageError, match="invalid answer"):
            await agent.run("write")
        assert not home.file("a.txt").exists()


async def test_exceptions_of_a_handler_are_raised_by_the_turn(home: ApiHome) -> None:
    def fail(_: ApprovalRequest) -> bool:
        raise LookupError("no policy")

    home.script(script("text: go", write("c1", "a.txt")), "text: done", "text: fine")
    async with home.create(approve=fail) as agent:
        turn = agent.run("write")
        with pytest.raises(LookupError, match="no policy"):
            async for _ in turn:
                pass
    assert not home.file("a.txt").exists()


async def test_questions_are_answered_by_a_function(home: ApiHome) -> None:
    question = {
        "question": "Which?",
        "header": "Which",
        "options": [{"label": "a", "description": ""}, {"label": "b", "description": ""}],
    }
    home.script(script("text: hm", call("q1", "AskUserQuestion", questions=[question])), "text: b then")
    async with home.create(answer=lambda request: {request.questions[0].question: "b"}) as agent:
        results = [event async for event in agent.run("go") if isinstance(event, ToolResult)]
    assert "Which?" in results[0].return_value.output
    assert "b" in results[0].return_value.output.split("Which?")[1]


async def test_an_interrupted_turn_is_cancelled_and_the_session_continues(home: ApiHome) -> None:
    home.script(script("text: go", bash("c1", "sleep 60")), "text: still here")
    async with home.create(yolo=True) as agent:
        turn = agent.run("wait")
        async for event in turn:
            if isinstance(event, TextPart):
                turn.interrupt()
        assert (await turn).outcome == "cancelled"
        turn.interrupt()  # too late to matter
        assert await agent.ask("are you there?") == "still here"


async def test_a_queued_turn_can_be_interrupted(home: ApiHome) -> None:
    home.script("text: one", "delay: 30\ntext: two", "text: three")
    async with home.create() as agent:
        first, second = agent.run("first"), agent.run("second")
        second.interrupt()
        assert (await first).text == "one"
        assert (await second).outcome == "cancelled"


async def test_a_cancelled_ask_interrupts_its_turn(home: ApiHome) -> None:
    asked = asyncio.Event()

    async def never(_: ApprovalRequest) -> bool:
        asked.set()
        await asyncio.Event().wait()
        return True

    home.script(script("text: go", write("c1", "a.txt")), "text: next")
    async with home.create(approve=never) as agent:
        asking = asyncio.create_task(agent.ask("write"))
        await asked.wait()
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        assert await agent.ask("and now?") == "next"


async def test_a_running_turn_can_be_steered(home: ApiHome) -> None:
    home.script(script("text: go", bash("c1", "echo hi")), "text: as you say")
    async with home.create(yolo=True) as agent:
        turn = agent.run("work")
        async for event in turn:
            if isinstance(event, TextPart) and event.text == "go":
                agent.steer("be brief")
        assert "be brief" in home.journal
        with pytest.raises(KimiTuiError, match="No turn is running"):
            agent.steer("too late")


async def test_revert_undo_redo_and_switch(home: ApiHome) -> None:
    home.script("text: red it is", "text: blue it is")
    async with home.create() as agent:
        first = await agent.run("remember red")
        second = await agent.run("no, blue")
        assert first.checkpoint is not None
        assert second.checkpoint is not None
        plan = await agent.plan_revert(second.checkpoint)
        assert plan.turns == 1
        assert (await agent.revert(second.checkpoint)).prompt == "no, blue"
        timeline = await agent.timeline()
        assert len(timeline.branches) == 1
        assert (await agent.undo()).reason == "undo"
        assert (await agent.redo()).reason == "redo"
        assert (await agent.switch_branch(timeline.branches[0].number)).reason == "switch"
        with pytest.raises(KimiTuiError):
            await agent.revert(999)


async def test_a_command_is_run_as_a_turn(home: ApiHome) -> None:
    home.script(*["text: " + "word " * 500] * 3, "text: THE SUMMARY")
    async with home.create() as agent:
        for _ in range(3):
            await agent.run("tell me much")
        events = [event async for event in agent.command("/compact")]
        assert any(isinstance(event, CompactionBegin) for event in events)
        for line in ("/help", "nonsense", ""):
            with pytest.raises(KimiTuiError, match="can't be run as a turn"):
                agent.command(line)


async def test_a_custom_compaction_strategy_is_used(home: ApiHome) -> None:
    class DropAll:
        def __init__(self) -> None:
            self.asked = 0

        async def compact(self, context: Any) -> Any:
            self.asked += 1
            return context.history[-1:]

    strategy = DropAll()
    home.script(*["text: " + "word " * 500] * 3)
    async with home.create(compaction=strategy) as agent:
        for _ in range(3):
            await agent.run("tell me much")
        assert (await agent.command("compact")).outcome == "finished"
    assert strategy.asked == 1
    with pytest.raises(KimiTuiError, match="Nowhere"):
        async with home.create(compaction="kimi_tui.compaction.llm_summary:Nowhere"):
            pass


async def test_a_session_is_resumed(home: ApiHome) -> None:
    home.script("text: I am one")
    async with home.create() as agent:
        await agent.ask("who are you?")
        session_id = agent.session_id
    async with home.create(session=session_id) as agent:
        assert agent.session_id == session_id
        assert len((await agent.timeline()).nodes) >= 2


async def test_exceptions_of_the_block_are_raised_unchanged(home: ApiHome) -> None:
    home.script("delay: 30\ntext: late")
    agent = home.create()

    async def fail() -> None:
        async with agent:
            agent.run("work")
            raise LookupError("mine")

    with pytest.raises(LookupError):
        await fail()
    with pytest.raises(KimiTuiError, match="session has ended"):
        await agent.run("anyone?")


async def test_errors_while_opening_are_raised(home: ApiHome) -> None:
    home.data_dir.mkdir()
    with pytest.raises(ModelNotSet):
        async with home.create():
            pass
    with pytest.raises(UsageError, match="doesn't exist"):
        async with home.create(add_dirs=[home.path / "nowhere"]):
            pass
    with pytest.raises(KimiTuiError, match="isn't open"):
        home.create().run("hello")


async def test_limits_end_a_turn(home: ApiHome) -> None:
    home.script(*[script("text: go", bash(f"c{n}", f"echo {n}")) for n in range(5)])
    async with home.create(yolo=True, max_steps=2) as agent:
        assert (await agent.run("work")).outcome == "max_steps"


async def test_a_closed_session_leaves_no_tasks(home: ApiHome) -> None:
    home.script("text: hi")
    before = asyncio.all_tasks()
    async with home.create() as agent:
        await agent.ask("hello")
    assert asyncio.all_tasks() == before
