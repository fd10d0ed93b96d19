"""Tests of sessions (create, list, load, resume, fork, close, delete) and of their modes and models."""

from pathlib import Path
from typing import Any

import pytest
from acp import RequestError

from kimi_tui.config.settings import ModelSettings
from tests.acp.fake_editor import HomeEngines, connect_editor
from tests.engine.fake_front_end import SessionEnv, script, write


async def test_the_agent_reports_its_capabilities_and_requires_no_authentication(home: SessionEnv) -> None:
    async with connect_editor(home) as harness:
        response = await harness.editor.initialize()
        assert response.protocol_version == 1
        assert (response.agent_info.name, response.agent_info.version) == ("kimi-tui", "1.2.3")
        assert response.auth_methods == []
        capabilities = response.agent_capabilities
        assert capabilities.load_session
        assert capabilities.prompt_capabilities.image
        assert capabilities.prompt_capabilities.embedded_context
        session_capabilities = capabilities.session_capabilities
        assert None not in (
            session_capabilities.list,
            session_capabilities.fork,
            session_capabilities.resume,
            session_capabilities.close,
        )


async def test_without_a_model_authentication_methods_are_listed(home: SessionEnv) -> None:
    engines = HomeEngines(home)
    engines.is_configured = False
    async with connect_editor(home, engines=engines) as harness:
        response = await harness.editor.initialize(auth={"terminal": True})
        ids = [method.id for method in response.auth_methods]
        assert {"config", "terminal", "kimi-api-key"} <= set(ids)
        for method in ids:
            with pytest.raises(RequestError, match="No model is configured"):
                await harness.editor.connection.authenticate(method)
        with pytest.raises(RequestError, match="“magic” doesn't exist"):
            await harness.editor.connection.authenticate("magic")
        engines.is_configured = True
        await harness.editor.connection.authenticate("config")


async def test_commands_are_sent_after_the_session_id(home: SessionEnv) -> None:
    home.script("text: one", "text: two")
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        [update] = await harness.editor.wait_for(
            lambda: harness.editor.updates_of(session, "available_commands_update")
        )
        known = {command.name: command for command in update.available_commands}
        assert known["compact"].input is not None
        assert known["clear"].input is None

        kinds = [line.get("method", "answer") for line in harness.recorder.lines]
        assert kinds.index("answer") < kinds.index("session/update")


async def test_a_slash_command_runs_without_the_model(home: SessionEnv) -> None:
    home.script("text: one", "text: two")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "hello")
        assert (await editor.prompt(session, "/title My work")).stop_reason == "end_turn"
        titles = [it.title for it in editor.updates_of(session, "session_info_update")]
        assert titles == ["hello", "My work"]
        await editor.prompt(session, "/checkpoints")
        assert "Checkpoints" in editor.text_of(session)
        await editor.prompt(session, "/unknown commands are sent to the model")
        assert editor.text_of(session).endswith("two")


async def test_a_slash_command_that_runs_a_turn_ends_with_it(home: SessionEnv) -> None:
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        assert (await harness.editor.prompt(session, "/compact")).stop_reason == "end_turn"
        assert "Nothing to compact" in harness.editor.text_of(session)


async def make_session(home: SessionEnv) -> str:
    """Create a session with one turn. Return its id."""
    home.script(script("think: hm", "text: I write", write("w1", "a.txt")), "text: done")
    async with connect_editor(home, yolo=True) as harness:
        session: str = await harness.editor.new(home.work_dir)
        await harness.editor.prompt(session, "please write")
        return session


async def test_the_history_of_a_loaded_session_is_sent_before_the_response(home: SessionEnv) -> None:
    session = await make_session(home)
    home.script("text: welcome back")
    async with connect_editor(home) as harness:
        editor = harness.editor
        await editor.connection.load_session(str(home.work_dir), session)
        answer = next(index for index, line in enumerate(harness.recorder.lines) if "result" in line)
        updates = [line["params"]["update"]["sessionUpdate"] for line in harness.recorder.lines[:answer]]
        assert updates[0] == "user_message_chunk"
        assert {"agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"} <= set(updates)
        assert editor.text_of(session, "user_message_chunk") == "please write"
        assert editor.text_of(session) == "I writedone"
        call_ = editor.call(session)
        assert call_.status == "completed"
        assert [content.type for content in call_.content or []] == ["diff"]
        await editor.prompt(session, "hi")
        assert editor.text_of(session).endswith("welcome back")


async def test_the_history_of_a_resumed_session_is_not_sent(home: SessionEnv) -> None:
    session = await make_session(home)
    home.script("text: welcome back")
    async with connect_editor(home) as harness:
        await harness.editor.connection.resume_session(session, str(home.work_dir))
        await harness.editor.prompt(session, "hi")
        assert harness.editor.text_of(session) == "welcome back"
        assert harness.editor.updates_of(session, "user_message_chunk") == []


async def test_a_fork_is_independent_and_both_sessions_are_listed(home: SessionEnv) -> None:
    session = await make_session(home)
    home.script("text: elsewhere")
    async with connect_editor(home) as harness:
        editor = harness.editor
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


async def test_an_open_session_can_be_loaded_again(home: SessionEnv) -> None:
    home.script("text: one", "text: two")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "hello")
        await editor.connection.load_session(str(home.work_dir), session)
        assert editor.text_of(session, "user_message_chunk") == "hello"
        await editor.prompt(session, "again")


async def test_a_session_can_only_be_loaded_in_its_working_directory(
    home: SessionEnv, tmp_path: Path
) -> None:
    session = await make_session(home)
    async with connect_editor(home) as harness:
        with pytest.raises(RequestError, match="The session's working directory is"):
            await harness.editor.connection.load_session(str(tmp_path), session)
        with pytest.raises(RequestError, match="doesn't exist"):
            await harness.editor.connection.load_session(str(home.work_dir), session[:8])


async def test_a_closed_session_must_be_loaded_before_use(home: SessionEnv) -> None:
    home.script(script("text: so far", "delay: 60"))
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "talk")
        await editor.wait_for(lambda: editor.text_of(session))
        await editor.connection.close_session(session)
        assert (await turn).stop_reason == "cancelled"
        with pytest.raises(RequestError, match="Load it first"):
            await editor.prompt(session, "hi")
        await editor.connection.load_session(str(home.work_dir), session)
        await editor.request("session/delete", {"sessionId": session})
        assert (await editor.connection.list_sessions()).sessions == []


async def test_setting_modes_and_options_sends_updates(home: SessionEnv) -> None:
    home.script(write("w1", "a.txt"), "text: done")
    async with connect_editor(home) as harness:
        editor = harness.editor
        created = await editor.connection.new_session(str(home.work_dir))
        session = created.session_id
        assert created.modes.current_mode_id == "default"
        assert {option.id for option in created.config_options} == {"mode", "model", "thinking"}

        await editor.connection.set_session_mode(session, "yolo")
        assert [it.current_mode_id for it in editor.updates_of(session, "current_mode_update")] == ["yolo"]
        await editor.prompt(session, "write")
        assert home.file("a.txt").exists()
        assert editor.permission_prompts.empty()

        response = await editor.connection.set_config_option("thinking", session, "on")
        assert {it.id: it.current_value for it in response.config_options}["thinking"] == "on"
        for option, value in (("mode", "wild"), ("model", "none"), ("thinking", "a bit"), ("color", "red")):
            with pytest.raises(RequestError, match=r"Invalid|doesn't exist"):
                await editor.connection.set_config_option(option, session, value)


async def test_a_client_that_supports_boolean_options_gets_one(home: SessionEnv) -> None:
    async with connect_editor(home) as harness:
        editor = harness.editor
        await editor.initialize(session={"configOptions": {"boolean": {}}})
        created = await editor.connection.new_session(str(home.work_dir))
        thinking = {option.id: option for option in created.config_options}["thinking"]
        assert (thinking.type, thinking.current_value) == ("boolean", False)
        response = await editor.connection.set_config_option("thinking", created.session_id, True)
        assert {it.id: it.current_value for it in response.config_options}["thinking"] is True


async def test_the_model_can_be_set_by_option_or_set_model(home: SessionEnv) -> None:
    settings = home.settings()
    model: Any = {"provider": "script", "model": "n", "max_context_size": 1000}
    settings = settings.model_copy(
        update={"models": {**settings.models, "other": ModelSettings.model_validate(model)}}
    )
    async with connect_editor(home, settings=settings) as harness:
        editor = harness.editor
        created = await editor.request("session/new", {"cwd": str(home.work_dir), "mcpServers": []})
        session = created["sessionId"]
        assert created["models"]["currentModelId"] == "scripted"
        await editor.request("session/set_model", {"sessionId": session, "modelId": "other"})
        response = await editor.connection.set_config_option("model", session, "scripted")
        assert {it.id: it.current_value for it in response.config_options}["model"] == "scripted"
        models = [
            {it.id: it.current_value for it in update.config_options}["model"]
            for update in editor.updates_of(session, "config_option_update")
        ]
        assert models == ["other", "scripted"]


async def test_stopping_the_server_cancels_and_saves_its_turns(home: SessionEnv) -> None:
    home.script(script("text: so far", "delay: 60"))
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "talk")
        await editor.wait_for(lambda: editor.text_of(session))
        harness.interruption.request_stop(2)
        assert (await turn).stop_reason == "cancelled"
    assert "so far" in home.journal


async def test_an_empty_session_can_be_loaded_resumed_forked_and_deleted(
    home: SessionEnv,
) -> None:
    home.script("text: fine")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        await editor.connection.load_session(str(home.work_dir), session)
        await editor.connection.resume_session(session, str(home.work_dir))
        fork = (await editor.connection.fork_session(session, str(home.work_dir))).session_id
        assert fork != session
        assert (await editor.prompt(session, "hi")).stop_reason == "end_turn"
        assert editor.text_of(session) == "fine"
        await editor.request("session/delete", {"sessionId": fork})
        with pytest.raises(RequestError, match="isn't open"):
            await editor.prompt(fork, "hi")
