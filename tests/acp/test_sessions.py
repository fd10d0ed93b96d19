"""Sessions: opened, listed, loaded, resumed, forked, closed, deleted; their modes and models."""

from pathlib import Path
from typing import Any

import pytest
from acp import RequestError

from kimi_tui.config.settings import Model
from tests.acp.editor import at_desk
from tests.engine.front import Home, script, write


async def test_the_agent_says_what_it_can_do_and_asks_nobody_to_log_in(home: Home) -> None:
    async with at_desk(home) as desk:
        told = await desk.editor.initialize()
        assert told.protocol_version == 1
        assert (told.agent_info.name, told.agent_info.version) == ("kimi-tui", "1.2.3")
        assert told.auth_methods == []
        can = told.agent_capabilities
        assert can.load_session
        assert can.prompt_capabilities.image
        assert can.prompt_capabilities.embedded_context
        of_sessions = can.session_capabilities
        assert None not in (of_sessions.list, of_sessions.fork, of_sessions.resume, of_sessions.close)


async def test_without_a_model_the_ways_to_one_are_named(home: Home) -> None:
    found = [False]
    async with at_desk(home, has_model=lambda: found[0]) as desk:
        told = await desk.editor.initialize(auth={"terminal": True})
        ids = [method.id for method in told.auth_methods]
        assert {"config", "terminal", "kimi-api-key"} <= set(ids)
        for method in ids:
            with pytest.raises(RequestError, match="No model is set up"):
                await desk.editor.connection.authenticate(method)
        with pytest.raises(RequestError, match="no way to log in"):
            await desk.editor.connection.authenticate("magic")
        found[0] = True
        await desk.editor.connection.authenticate("config")


async def test_the_commands_come_after_the_session_is_known(home: Home) -> None:
    home.script("text: one", "text: two")
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        [update] = await desk.editor.until(lambda: desk.editor.of(session, "available_commands_update"))
        known = {command.name: command for command in update.available_commands}
        assert known["compact"].input is not None
        assert known["clear"].input is None

        kinds = [line.get("method", "answer") for line in desk.tap.lines]
        assert kinds.index("answer") < kinds.index("session/update")


async def test_a_command_is_carried_out_without_the_model(home: Home) -> None:
    home.script("text: one", "text: two")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "hello")
        assert (await editor.prompt(session, "/title My work")).stop_reason == "end_turn"
        titles = [it.title for it in editor.of(session, "session_info_update")]
        assert titles == ["hello", "My work"]
        await editor.prompt(session, "/checkpoints")
        assert "Checkpoints" in editor.said(session)
        await editor.prompt(session, "/nonsense is said to the model")
        assert editor.said(session).endswith("two")


async def test_a_command_that_takes_a_turn_ends_with_it(home: Home) -> None:
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        assert (await desk.editor.prompt(session, "/compact")).stop_reason == "end_turn"
        assert "nothing to compact" in desk.editor.said(session)


async def held(home: Home) -> str:
    """A session in which something was said and done."""
    home.script(script("think: hm", "text: I write", write("w1", "a.txt")), "text: done")
    async with at_desk(home, yolo=True) as desk:
        session: str = await desk.editor.new(home.work_dir)
        await desk.editor.prompt(session, "please write")
        return session


async def test_a_loaded_session_is_told_again_before_the_answer(home: Home) -> None:
    session = await held(home)
    home.script("text: welcome back")
    async with at_desk(home) as desk:
        editor = desk.editor
        await editor.connection.load_session(str(home.work_dir), session)
        answer = next(index for index, line in enumerate(desk.tap.lines) if "result" in line)
        told = [line["params"]["update"]["sessionUpdate"] for line in desk.tap.lines[:answer]]
        assert told[0] == "user_message_chunk"
        assert {"agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"} <= set(told)
        assert editor.said(session, "user_message_chunk") == "please write"
        assert editor.said(session) == "I writedone"
        call_ = editor.call(session)
        assert call_.status == "completed"
        assert [content.type for content in call_.content or []] == ["diff"]
        await editor.prompt(session, "hi")
        assert editor.said(session).endswith("welcome back")


async def test_a_resumed_session_is_not_told_again(home: Home) -> None:
    session = await held(home)
    home.script("text: welcome back")
    async with at_desk(home) as desk:
        await desk.editor.connection.resume_session(session, str(home.work_dir))
        await desk.editor.prompt(session, "hi")
        assert desk.editor.said(session) == "welcome back"
        assert desk.editor.of(session, "user_message_chunk") == []


async def test_a_fork_goes_its_own_way_and_both_are_listed(home: Home) -> None:
    session = await held(home)
    home.script("text: elsewhere")
    async with at_desk(home) as desk:
        editor = desk.editor
        fork = (await editor.connection.fork_session(session, str(home.work_dir))).session_id
        assert fork != session
        await editor.prompt(fork, "hi")
        listed = (await editor.connection.list_sessions(str(home.work_dir))).sessions
        assert {(it.session_id, it.title) for it in listed} == {
            (session, "please write"),
            (fork, "please write (fork)"),
        }
        assert all(it.cwd == str(home.work_dir) and it.updated_at for it in listed)
        assert (await editor.connection.list_sessions("/")).sessions == []


async def test_an_open_session_can_be_loaded_anew(home: Home) -> None:
    home.script("text: one", "text: two")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "hello")
        await editor.connection.load_session(str(home.work_dir), session)
        assert editor.said(session, "user_message_chunk") == "hello"
        await editor.prompt(session, "again")


async def test_a_session_belongs_to_its_folder(home: Home, tmp_path: Path) -> None:
    session = await held(home)
    async with at_desk(home) as desk:
        with pytest.raises(RequestError, match="The session works in"):
            await desk.editor.connection.load_session(str(tmp_path), session)
        with pytest.raises(RequestError, match="There is no session"):
            await desk.editor.connection.load_session(str(home.work_dir), session[:8])


async def test_a_closed_session_is_gone_until_it_is_loaded(home: Home) -> None:
    home.script(script("text: so far", "delay: 60"))
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "talk")
        await editor.until(lambda: editor.said(session))
        await editor.connection.close_session(session)
        assert (await turn).stop_reason == "cancelled"
        with pytest.raises(RequestError, match="Load it first"):
            await editor.prompt(session, "hi")
        await editor.connection.load_session(str(home.work_dir), session)
        await editor.request("session/delete", {"sessionId": session})
        assert (await editor.connection.list_sessions()).sessions == []


async def test_modes_and_options_are_set_and_told(home: Home) -> None:
    home.script(write("w1", "a.txt"), "text: done")
    async with at_desk(home) as desk:
        editor = desk.editor
        created = await editor.connection.new_session(str(home.work_dir))
        session = created.session_id
        assert created.modes.current_mode_id == "default"
        assert {option.id for option in created.config_options} == {"mode", "model", "thinking"}

        await editor.connection.set_session_mode(session, "yolo")
        assert [it.current_mode_id for it in editor.of(session, "current_mode_update")] == ["yolo"]
        await editor.prompt(session, "write")
        assert home.file("a.txt").exists()
        assert editor.asked.empty()

        told = await editor.connection.set_config_option("thinking", session, "on")
        assert {it.id: it.current_value for it in told.config_options}["thinking"] == "on"
        for option, value in (("mode", "wild"), ("model", "none"), ("thinking", "a bit"), ("colour", "red")):
            with pytest.raises(RequestError, match="no "):
                await editor.connection.set_config_option(option, session, value)


async def test_a_client_that_knows_switches_gets_one(home: Home) -> None:
    async with at_desk(home) as desk:
        editor = desk.editor
        await editor.initialize(session={"configOptions": {"boolean": {}}})
        created = await editor.connection.new_session(str(home.work_dir))
        thinking = {option.id: option for option in created.config_options}["thinking"]
        assert (thinking.type, thinking.current_value) == ("boolean", False)
        told = await editor.connection.set_config_option("thinking", created.session_id, True)
        assert {it.id: it.current_value for it in told.config_options}["thinking"] is True


async def test_models_are_chosen_by_option_or_by_the_older_request(home: Home) -> None:
    settings = home.settings()
    model: Any = {"provider": "script", "model": "n", "max_context_size": 1000}
    settings = settings.model_copy(
        update={"models": {**settings.models, "other": Model.model_validate(model)}}
    )
    async with at_desk(home, settings=settings) as desk:
        editor = desk.editor
        created = await editor.request("session/new", {"cwd": str(home.work_dir), "mcpServers": []})
        session = created["sessionId"]
        assert created["models"]["currentModelId"] == "scripted"
        await editor.request("session/set_model", {"sessionId": session, "modelId": "other"})
        told = await editor.connection.set_config_option("model", session, "scripted")
        assert {it.id: it.current_value for it in told.config_options}["model"] == "scripted"
        models = [
            {it.id: it.current_value for it in update.config_options}["model"]
            for update in editor.of(session, "config_option_update")
        ]
        assert models == ["other", "scripted"]


async def test_a_server_that_is_told_to_stop_ends_its_turns_in_order(home: Home) -> None:
    home.script(script("text: so far", "delay: 60"))
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "talk")
        await editor.until(lambda: editor.said(session))
        desk.interruption.stop(2)
        assert (await turn).stop_reason == "cancelled"
    assert "so far" in home.journal


async def test_a_session_in_which_nothing_was_said_can_be_loaded_resumed_forked_and_deleted(
    home: Home,
) -> None:
    home.script("text: fine")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        await editor.connection.load_session(str(home.work_dir), session)
        await editor.connection.resume_session(session, str(home.work_dir))
        fork = (await editor.connection.fork_session(session, str(home.work_dir))).session_id
        assert fork != session
        assert (await editor.prompt(session, "hi")).stop_reason == "end_turn"
        assert editor.said(session) == "fine"
        await editor.request("session/delete", {"sessionId": fork})
        with pytest.raises(RequestError, match="is open here"):
            await editor.prompt(fork, "hi")
