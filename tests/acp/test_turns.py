"""Turns: prompts, what is told of them, and how they end."""

import asyncio
import os

import pytest
from acp import RequestError
from acp.schema import PromptResponse

from tests.acp.editor import Desk, at_desk
from tests.engine.front import Home, bash, call, script, write

SLOW = script("text: so far", "delay: 60")


async def test_a_prompt_is_answered_when_everything_was_told(home: Home) -> None:
    home.script(script("think: hm", "text: hello there"))
    async with at_desk(home) as desk:
        editor = desk.editor
        await editor.initialize()
        session = await editor.new(home.work_dir)
        response = await editor.prompt(session, "hi")

        assert response.stop_reason == "end_turn"
        assert editor.said(session) == "hello there"
        assert editor.said(session, "agent_thought_chunk") == "hm"
        assert {it.message_id for it in editor.of(session, "agent_message_chunk")} != {None}


async def test_an_allowed_call_is_told_from_its_first_word_to_its_result(home: Home) -> None:
    home.script(write("w1", "a.txt", "A\n"), "text: done")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "write")
        asked = await editor.permission()

        assert [option.kind for option in asked.options] == [
            "allow_once", "allow_always", "allow_always", "reject_once",
        ]  # fmt: skip
        assert asked.call.tool_call_id in editor.calls(session)
        [diff] = asked.call.content or []
        assert (diff.path, diff.old_text, diff.new_text) == (str(home.file("a.txt")), None, "A\n")
        asked.choose("allow_once")

        assert (await turn).stop_reason == "end_turn"
        call_ = editor.call(session)
        assert (call_.kind, call_.status, call_.title) == ("edit", "completed", "WriteFile: a.txt")
        assert [place.path for place in call_.locations or ()] == [str(home.file("a.txt"))]
        assert call_.raw_input == {"path": "a.txt", "content": "A\n"}
        statuses = [it.status for it in editor.of(session, "tool_call_update") if it.status]
        assert statuses == ["in_progress", "completed"]
        assert home.file("a.txt").read_text() == "A\n"


async def test_two_sessions_talk_at_once_and_each_is_told_its_own(home: Home) -> None:
    other = home.path / "other"
    other.mkdir()
    home.script(write("w1", "a.txt"), "text: one is done")
    async with at_desk(home) as desk:
        editor = desk.editor
        first, second = await editor.new(home.work_dir), await editor.new(other)
        turns = [editor.begin(first, "write"), editor.begin(second, "write")]
        asked = {request.session_id: request for request in [await editor.permission() for _ in turns]}

        asked[second].choose("reject_once")
        assert (await turns[1]).stop_reason == "end_turn"
        assert editor.call(second).status == "failed"
        assert not turns[0].done()
        asked[first].choose("allow_once")
        assert (await turns[0]).stop_reason == "end_turn"

        assert home.file("a.txt").exists()
        assert not (other / "a.txt").exists()
        assert editor.said(first) == "one is done"
        assert editor.said(second) == ""
        assert editor.call(first).tool_call_id != editor.call(second).tool_call_id


async def test_what_is_allowed_always_is_asked_once(home: Home) -> None:
    home.script(bash("b1", "echo 1 > a"), bash("b2", "echo 1 > a"), "text: done")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "run")
        asked = await editor.permission()
        assert any("Bash(" in option.name for option in asked.options)
        asked.choose("allow_always")
        await turn
        assert editor.asked.empty()
        assert [it.status for it in editor.calls(session).values()] == ["completed", "completed"]


async def test_what_is_dangerous_can_be_allowed_once_only(home: Home) -> None:
    home.script(bash("b1", "rm -rf ~"))
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        turn = desk.editor.begin(session, "run")
        asked = await desk.editor.permission()
        assert [option.kind for option in asked.options] == ["allow_once", "reject_once"]
        asked.choose("reject_once")
        await turn


async def test_a_model_that_uses_an_id_again_gets_a_new_one_each_time(home: Home) -> None:
    home.script(call("same", "LS", path="."), call("same", "LS", path="."), "text: done")
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        await desk.editor.prompt(session, "look")
        assert [it.status for it in desk.editor.calls(session).values()] == ["completed", "completed"]


async def cancelled(desk: Desk, session: str, turn: "asyncio.Task[PromptResponse]") -> None:
    await desk.editor.connection.cancel(session)
    assert (await turn).stop_reason == "cancelled"


async def test_a_turn_is_cancelled_while_it_speaks_and_the_next_one_works(home: Home) -> None:
    home.script(SLOW, "text: here again")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "talk")
        await editor.until(lambda: editor.said(session))
        await cancelled(desk, session, turn)
        assert (await editor.prompt(session, "again")).stop_reason == "end_turn"
        assert editor.said(session).endswith("here again")


async def test_a_command_is_cancelled_in_the_middle_and_ends(home: Home) -> None:
    home.script(bash("b1", "echo $$ > pid; echo begun; sleep 60"))
    async with at_desk(home, yolo=True) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "run")
        await editor.until(lambda: "begun" in str(editor.of(session, "tool_call_update")))
        await cancelled(desk, session, turn)
        assert editor.call(session).status == "failed"
        pid = int(home.file("pid").read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_turn_is_cancelled_while_it_waits_for_consent(home: Home) -> None:
    home.script(write("w1", "a.txt"), "text: on we go")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "write")
        asked = await editor.permission()
        await cancelled(desk, session, turn)
        asked.choose("cancelled")
        assert not home.file("a.txt").exists()
        assert (await editor.prompt(session, "go on")).stop_reason == "end_turn"


async def test_an_editor_that_answers_cancelled_cancels_the_turn(home: Home) -> None:
    home.script(write("w1", "a.txt"))
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        turn = desk.editor.begin(session, "write")
        (await desk.editor.permission()).choose("cancelled")
        assert (await turn).stop_reason == "cancelled"


async def test_a_prompt_is_cancelled_by_its_request_too(home: Home) -> None:
    home.script(SLOW)
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "talk")
        await editor.until(lambda: editor.said(session))
        prompt = editor.connection._conn._next_request_id - 1
        await editor.notify("$/cancel_request", {"requestId": 4711})
        await editor.notify("$/cancel_request", {"requestId": prompt})
        assert (await turn).stop_reason == "cancelled"


async def test_a_second_prompt_is_refused_while_a_turn_runs(home: Home) -> None:
    home.script(SLOW)
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        turn = desk.editor.begin(session, "talk")
        await desk.editor.until(lambda: desk.editor.said(session))
        with pytest.raises(RequestError, match="A turn is in progress"):
            await desk.editor.prompt(session, "me too")
        await cancelled(desk, session, turn)


async def test_a_provider_that_fails_ends_the_turn_with_words(home: Home) -> None:
    home.script("error: 401 who are you", "text: better now")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        assert (await editor.prompt(session, "hi")).stop_reason == "end_turn"
        assert "who are you" in editor.said(session)
        await editor.prompt(session, "again")
        assert editor.said(session).endswith("better now")


async def test_an_answer_that_breaks_off_begins_anew_as_another_message(home: Home) -> None:
    home.script(script("text: half", "error_after: 503 busy"), "text: whole")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "hi")
        by_message: dict[str, str] = {}
        for it in editor.of(session, "agent_message_chunk"):
            by_message[it.message_id] = by_message.get(it.message_id, "") + it.content.text
        assert list(by_message.values()) == ["half", "whole"]
        assert "attempt 2" in editor.said(session, "agent_thought_chunk")


async def test_too_many_steps_are_told_by_their_own_reason(home: Home) -> None:
    home.script(*[call(f"l{n}", "LS", path=".") for n in range(3)])
    more = {"loop_control": {"max_steps_per_turn": 2}}
    async with at_desk(home, settings=home.settings(**more)) as desk:
        session = await desk.editor.new(home.work_dir)
        assert (await desk.editor.prompt(session, "look")).stop_reason == "max_turn_requests"
        assert "2 steps" in desk.editor.said(session)


async def test_a_megabyte_goes_both_ways(home: Home) -> None:
    big = "x" * 1_000_000
    home.script(f"text: {big}")
    model = {"provider": "script", "model": "m", "max_context_size": 2_000_000}
    async with at_desk(home, settings=home.settings(models={"scripted": model})) as desk:
        session = await desk.editor.new(home.work_dir)
        assert (await desk.editor.prompt(session, big)).stop_reason == "end_turn"
        assert desk.editor.said(session) == big
    assert big in home.journal


async def test_todos_are_the_plan(home: Home) -> None:
    todos = [{"title": "one", "status": "done"}, {"title": "two", "status": "in_progress"}]
    home.script(call("t1", "SetTodoList", todos=todos), "text: done")
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        await desk.editor.prompt(session, "plan")
        [plan] = desk.editor.of(session, "plan")
        assert [(it.content, it.status) for it in plan.entries] == [
            ("one", "completed"),
            ("two", "in_progress"),
        ]


async def test_the_output_of_a_command_is_shown_while_it_runs(home: Home) -> None:
    home.script(bash("b1", "echo early; while [ ! -e go ]; do sleep 0.05; done; echo late"), "text: done")
    async with at_desk(home, yolo=True) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "run")
        await editor.until(lambda: "early" in str(editor.of(session, "tool_call_update")))
        home.file("go").touch()
        await turn
        [content] = editor.call(session).content or []
        assert content.content.text == "```\nearly\nlate\n```"


async def test_usage_and_cost_come_with_the_turn(home: Home) -> None:
    home.script(script('usage: {"input_other": 100, "output": 20}', "text: hi"))
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        response = await editor.prompt(session, "hi")
        assert response.usage is not None
        assert (response.usage.input_tokens, response.usage.output_tokens) == (100, 20)
        usage = editor.of(session, "usage_update")[-1]
        assert (usage.used, usage.size) == (120, 200_000)


async def test_after_a_jump_the_client_is_told_what_still_counts(home: Home) -> None:
    home.script("text: one", "text: two", "text: three")
    async with at_desk(home) as desk:
        editor = desk.editor
        await editor.initialize()
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "first")
        await editor.prompt(session, "second")
        await editor.prompt(session, "/revert 2")
        assert "at checkpoint 2 now" in editor.said(session)
        assert "from “second” on counts no more" in editor.said(session)
        await editor.prompt(session, "/undo")
        await editor.until(lambda: editor.said(session).rstrip().endswith("> **Agent:** two"))
        assert "> **You:** second" in editor.said(session)
        assert (await editor.prompt(session, "third")).stop_reason == "end_turn"
        assert editor.said(session).endswith("three")
