"""Turns: prompts, what is told of them, and how they end."""

from tests.acp.editor import at_desk
from tests.engine.front import Home, script, write


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
