"""Tests of turns: prompts, updates, permission requests and outcomes."""

import asyncio
import os

import pytest
from acp import RequestError
from acp.schema import PromptResponse

from tests.acp.fake_editor import EditorHarness, connect_editor
from tests.engine.fake_front_end import SessionEnv, bash, call, script, write

SLOW = script("text: so far", "delay: 60")


async def test_a_prompt_is_answered_after_all_its_updates(home: SessionEnv) -> None:
    home.script(script("think: hm", "text: hello there"))
    async with connect_editor(home) as harness:
        editor = harness.editor
        await editor.initialize()
        session = await editor.new(home.work_dir)
        response = await editor.prompt(session, "hi")

        assert response.stop_reason == "end_turn"
        assert editor.text_of(session) == "hello there"
        assert editor.text_of(session, "agent_thought_chunk") == "hm"
        assert {it.message_id for it in editor.updates_of(session, "agent_message_chunk")} != {None}


async def test_an_allowed_call_is_updated_until_its_result(home: SessionEnv) -> None:
    home.script(write("w1", "a.txt", "A\n"), "text: done")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "write")
        prompt = await editor.next_permission_prompt()

        assert [option.kind for option in prompt.options] == [
            "allow_once", "allow_always", "allow_always", "reject_once",
        ]  # fmt: skip
        assert prompt.call.tool_call_id in editor.calls(session)
        [diff] = prompt.call.content or []
        assert (diff.path, diff.old_text, diff.new_text) == (str(home.file("a.txt")), None, "A\n")
        prompt.choose("allow_once")

        assert (await turn).stop_reason == "end_turn"
        call_ = editor.call(session)
        assert (call_.kind, call_.status, call_.title) == ("edit", "completed", "WriteFile: a.txt")
        assert [location.path for location in call_.locations or ()] == [str(home.file("a.txt"))]
        assert call_.raw_input == {"path": "a.txt", "content": "A\n"}
        statuses = [it.status for it in editor.updates_of(session, "tool_call_update") if it.status]
        assert statuses == ["in_progress", "completed"]
        assert home.file("a.txt").read_text() == "A\n"


async def test_concurrent_sessions_get_only_their_own_updates(home: SessionEnv) -> None:
    other = home.path / "other"
    other.mkdir()
    home.script(write("w1", "a.txt"), "text: one is done")
    async with connect_editor(home) as harness:
        editor = harness.editor
        first, second = await editor.new(home.work_dir), await editor.new(other)
        turns = [editor.start_prompt(first, "write"), editor.start_prompt(second, "write")]
        prompts = {
            request.session_id: request for request in [await editor.next_permission_prompt() for _ in turns]
        }

        prompts[second].choose("reject_once")
        assert (await turns[1]).stop_reason == "end_turn"
        assert editor.call(second).status == "failed"
        assert not turns[0].done()
        prompts[first].choose("allow_once")
        assert (await turns[0]).stop_reason == "end_turn"

        assert home.file("a.txt").exists()
        assert not (other / "a.txt").exists()
        assert editor.text_of(first) == "one is done"
        assert editor.text_of(second) == ""
        assert editor.call(first).tool_call_id != editor.call(second).tool_call_id


async def test_a_call_that_is_always_allowed_is_requested_once(home: SessionEnv) -> None:
    home.script(bash("b1", "echo 1 > a"), bash("b2", "echo 1 > a"), "text: done")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "run")
        prompt = await editor.next_permission_prompt()
        assert any("Bash(" in option.name for option in prompt.options)
        prompt.choose("allow_always")
        await turn
        assert editor.permission_prompts.empty()
        assert [it.status for it in editor.calls(session).values()] == ["completed", "completed"]


async def test_a_dangerous_command_can_only_be_allowed_once(home: SessionEnv) -> None:
    home.script(bash("b1", "rm -rf ~"))
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        turn = harness.editor.start_prompt(session, "run")
        prompt = await harness.editor.next_permission_prompt()
        assert [option.kind for option in prompt.options] == ["allow_once", "reject_once"]
        prompt.choose("reject_once")
        await turn


async def test_reused_tool_call_ids_are_made_unique(home: SessionEnv) -> None:
    home.script(call("same", "LS", path="."), call("same", "LS", path="."), "text: done")
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        await harness.editor.prompt(session, "look")
        assert [it.status for it in harness.editor.calls(session).values()] == ["completed", "completed"]


async def cancel_and_wait(harness: EditorHarness, session: str, turn: "asyncio.Task[PromptResponse]") -> None:
    await harness.editor.connection.cancel(session)
    assert (await turn).stop_reason == "cancelled"


async def test_a_streaming_turn_can_be_cancelled_and_the_next_one_works(home: SessionEnv) -> None:
    home.script(SLOW, "text: here again")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "talk")
        await editor.wait_for(lambda: editor.text_of(session))
        await cancel_and_wait(harness, session, turn)
        assert (await editor.prompt(session, "again")).stop_reason == "end_turn"
        assert editor.text_of(session).endswith("here again")


async def test_cancelling_kills_the_running_command(home: SessionEnv) -> None:
    home.script(bash("b1", "echo $$ > pid; echo begun; sleep 60"))
    async with connect_editor(home, yolo=True) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "run")
        await editor.wait_for(lambda: "begun" in str(editor.updates_of(session, "tool_call_update")))
        await cancel_and_wait(harness, session, turn)
        assert editor.call(session).status == "failed"
        pid = int(home.file("pid").read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_turn_can_be_cancelled_while_awaiting_approval(home: SessionEnv) -> None:
    home.script(write("w1", "a.txt"), "text: continuing")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "write")
        prompt = await editor.next_permission_prompt()
        await cancel_and_wait(harness, session, turn)
        await editor.wait_for(lambda: harness.recorder.canceled_requests() == ["session/request_permission"])
        prompt.choose("cancelled")
        assert not home.file("a.txt").exists()
        assert (await editor.prompt(session, "go on")).stop_reason == "end_turn"


async def test_a_cancelled_permission_request_cancels_the_turn(home: SessionEnv) -> None:
    home.script(write("w1", "a.txt"))
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        turn = harness.editor.start_prompt(session, "write")
        (await harness.editor.next_permission_prompt()).choose("cancelled")
        assert (await turn).stop_reason == "cancelled"


async def test_cancelling_the_prompt_request_cancels_the_turn(home: SessionEnv) -> None:
    home.script(SLOW)
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "talk")
        await editor.wait_for(lambda: editor.text_of(session))
        prompt = editor.connection._conn._next_request_id - 1
        await editor.notify("$/cancel_request", {"requestId": 4711})
        await editor.notify("$/cancel_request", {"requestId": prompt})
        assert (await turn).stop_reason == "cancelled"


async def test_a_second_prompt_is_rejected_while_a_turn_runs(home: SessionEnv) -> None:
    home.script(SLOW)
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        turn = harness.editor.start_prompt(session, "talk")
        await harness.editor.wait_for(lambda: harness.editor.text_of(session))
        with pytest.raises(RequestError, match="A turn is already running"):
            await harness.editor.prompt(session, "me too")
        await cancel_and_wait(harness, session, turn)


async def test_a_provider_error_ends_the_turn_with_a_message(home: SessionEnv) -> None:
    home.script("error: 401 who are you", "text: better now")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        assert (await editor.prompt(session, "hi")).stop_reason == "end_turn"
        assert "who are you" in editor.text_of(session)
        await editor.prompt(session, "again")
        assert editor.text_of(session).endswith("better now")


async def test_a_retried_response_is_a_new_message(home: SessionEnv) -> None:
    home.script(script("text: half", "error_after: 503 busy"), "text: whole")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "hi")
        by_message: dict[str, str] = {}
        for it in editor.updates_of(session, "agent_message_chunk"):
            by_message[it.message_id] = by_message.get(it.message_id, "") + it.content.text
        assert list(by_message.values()) == ["half", "whole"]
        assert "attempt 2" in editor.text_of(session, "agent_thought_chunk")


async def test_the_step_limit_has_its_own_stop_reason(home: SessionEnv) -> None:
    home.script(*[call(f"l{n}", "LS", path=".") for n in range(3)])
    more = {"loop_control": {"max_steps_per_turn": 2}}
    async with connect_editor(home, settings=home.settings(**more)) as harness:
        session = await harness.editor.new(home.work_dir)
        assert (await harness.editor.prompt(session, "look")).stop_reason == "max_turn_requests"
        assert "2 steps" in harness.editor.text_of(session)


async def test_prompts_and_responses_can_be_a_megabyte_long(home: SessionEnv) -> None:
    big = "x" * 1_000_000
    home.script(f"text: {big}")
    model = {"provider": "script", "model": "m", "max_context_size": 2_000_000}
    async with connect_editor(home, settings=home.settings(models={"scripted": model})) as harness:
        session = await harness.editor.new(home.work_dir)
        assert (await harness.editor.prompt(session, big)).stop_reason == "end_turn"
        assert harness.editor.text_of(session) == big
    assert big in home.journal


async def test_todos_are_sent_as_the_plan(home: SessionEnv) -> None:
    todos = [{"title": "one", "status": "done"}, {"title": "two", "status": "in_progress"}]
    home.script(call("t1", "SetTodoList", todos=todos), "text: done")
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        await harness.editor.prompt(session, "plan")
        [plan] = harness.editor.updates_of(session, "plan")
        assert [(it.content, it.status) for it in plan.entries] == [
            ("one", "completed"),
            ("two", "in_progress"),
        ]


async def test_command_output_is_streamed(home: SessionEnv) -> None:
    go = home.path / "go"  # outside of the command's view of the working directory
    home.script(bash("b1", f"echo early; while [ ! -e {go} ]; do sleep 0.05; done; echo late"), "text: done")
    async with connect_editor(home, yolo=True) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "run")
        await editor.wait_for(lambda: "early" in str(editor.updates_of(session, "tool_call_update")))
        go.touch()
        await turn
        [content] = editor.call(session).content or []
        assert content.content.text == "```\nearly\nlate\n```"


async def test_usage_is_sent_with_the_turn(home: SessionEnv) -> None:
    home.script(script('usage: {"input_other": 100, "output": 20}', "text: hi"))
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        response = await editor.prompt(session, "hi")
        assert response.usage is not None
        assert (response.usage.input_tokens, response.usage.output_tokens) == (100, 20)
        usage = editor.updates_of(session, "usage_update")[-1]
        assert (usage.used, usage.size) == (120, 200_000)


async def test_a_revert_sends_a_notice_about_the_current_branch(home: SessionEnv) -> None:
    home.script("text: one", "text: two", "text: three")
    async with connect_editor(home) as harness:
        editor = harness.editor
        await editor.initialize()
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "first")
        await editor.prompt(session, "second")
        await editor.prompt(session, "/revert 2")
        assert "Reverted to checkpoint 2" in editor.text_of(session)
        assert "starting with “second”" in editor.text_of(session)
        await editor.prompt(session, "/undo")
        await editor.wait_for(lambda: editor.text_of(session).rstrip().endswith("> **Agent:** two"))
        assert "> **You:** second" in editor.text_of(session)
        assert (await editor.prompt(session, "third")).stop_reason == "end_turn"
        assert editor.text_of(session).endswith("three")
