"""Commands that don't involve the model: shell, sessions, export and import."""

import json
from typing import Any

import pytest

from kimi_tui.base.redaction import register_secrets
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    PreviewSession,
    RenameSession,
    RunShell,
    RunSlash,
    SearchMessages,
    StopShell,
)
from kimi_tui.wire.events import Notification, SessionInfo, ToolOutput, TurnBegin
from kimi_tui.wire.message_search import MessageMatches
from kimi_tui.wire.session_list import SessionExcerpt, SessionList, SessionPreview
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, script


async def run_shell(front: FakeFrontEnd, command: str) -> ShellCommandEnd:
    front.send(RunShell(command, command))
    return await front.wait_for(ShellCommandEnd)


async def test_the_directory_variables_functions_and_aliases_persist(home: SessionEnv) -> None:
    (home.work_dir / "sub").mkdir()
    async with home.open_session() as front:
        first = await run_shell(
            front,
            "cd sub && export COLOR='deep blue' && plain=1 && hi() { echo hi $1; } && alias ho='echo ho'",
        )
        assert first.status == 0
        assert first.work_dir == str(home.work_dir / "sub")
        ended = await run_shell(front, 'pwd; echo "$COLOR $plain"; hi you; ho')
        assert ended.output == f"{home.work_dir / 'sub'}\ndeep blue 1\nhi you\nho\n"
        (_, second) = front.of(ShellCommandBegin)
        assert second.work_dir == str(home.work_dir / "sub")


async def test_output_is_streamed_and_the_exit_code_is_sent(home: SessionEnv) -> None:
    async with home.open_session() as front:
        ended = await run_shell(front, "echo one; echo two >&2; exit 3")
        assert (ended.status, ended.output, ended.stopped) == (3, "one\ntwo\n", False)
        assert "".join(event.text for event in front.of(ToolOutput)) == "one\ntwo\n"


async def test_variables_set_before_an_exit_persist(home: SessionEnv) -> None:
    async with home.open_session() as front:
        await run_shell(front, "left=over; exit 4")
        assert (await run_shell(front, "echo $left")).output == "over\n"


async def test_a_command_with_quotes_newlines_and_chinese_runs_unchanged(home: SessionEnv) -> None:
    async with home.open_session() as front:
        assert (
            await run_shell(front, "printf '%s\\n' \"it's\" '$x' 你好\nfor n in 1 2; do echo $n; done")
        ).output == "it's\n$x\n你好\n1\n2\n"


async def test_a_stopped_command_leaves_the_shell_usable(home: SessionEnv) -> None:
    async with home.open_session() as front:
        await run_shell(front, "here=1")
        front.send(RunShell("s", "echo begun; sleep 60"))
        await front.wait_for(ToolOutput)
        front.send(StopShell())
        ended = await front.wait_for(ShellCommandEnd)
        assert ended.stopped
        assert (await run_shell(front, "echo $here")).output == "1\n"


async def test_the_next_prompt_includes_a_note_about_shell_commands(home: SessionEnv) -> None:
    home.script("text: I see")
    async with home.open_session() as front:
        await run_shell(front, "echo 42; false")
        assert (await front.turn("what was it?")).outcome == "finished"
        assert "The user ran a command in their own shell" in home.journal
        assert "echo 42; false" in home.journal
        assert "Exit code 1." in home.journal


async def test_shell_notes_can_be_disabled_in_the_config(home: SessionEnv) -> None:
    home.script("text: I see")
    async with home.open_session(settings=home.settings(shell={"tell_model": False})) as front:
        await run_shell(front, "echo 42")
        await front.turn("what was it?")
        assert "echo 42" not in home.journal


async def test_a_replay_contains_shell_commands_in_order(home: SessionEnv) -> None:
    home.script(script("text: one"), script("text: two"))
    async with home.open_session() as front:
        await run_shell(front, "echo before")
        await front.turn("first")
        await run_shell(front, "echo between; false")
        await front.turn("second")
        await run_shell(front, "echo after")
    async with home.open_session(continue_last=True) as front:
        replayed = [
            it.command if isinstance(it, ShellCommandBegin) else it.user_input
            for it in front.replay
            if isinstance(it, ShellCommandBegin | TurnBegin)
        ]
        assert replayed == ["echo before", "first", "echo between; false", "second", "echo after"]
        ends = [it for it in front.replay if isinstance(it, ShellCommandEnd)]
        assert [(it.output, it.status) for it in ends] == [("before\n", 0), ("between\n", 1), ("after\n", 0)]


async def test_the_shell_survives_removal_of_its_directory(home: SessionEnv) -> None:
    (home.work_dir / "sub").mkdir()
    async with home.open_session() as front:
        await run_shell(front, "cd sub; rmdir ../sub")
        assert (await run_shell(front, "pwd")).output == f"{home.work_dir}\n"


# sessions


async def test_sessions_are_listed_searched_and_previewed(home: SessionEnv) -> None:
    home.script("text: the door is blue")
    async with home.open_session() as front:
        await front.turn("which color is the door?")
    home.script("text: no idea")
    async with home.open_session() as front:
        await front.turn("and the window?")
        front.send(ListSessions())
        listed = await front.wait_for(SessionList)
        assert [it.title for it in listed.sessions] == ["and the window?", "which color is the door?"]
        front.send(ListSessions("BLUE"))
        (match,) = (await front.wait_for(SessionList)).sessions
        assert match.snippet == "the door is blue"
        front.send(PreviewSession(match.id))
        preview = await front.wait_for(SessionPreview)
        assert preview.said == (
            SessionExcerpt("user", "which color is the door?"),
            SessionExcerpt("agent", "the door is blue"),
        )


async def test_sessions_can_be_renamed_and_deleted_but_the_open_one_only_renamed(home: SessionEnv) -> None:
    home.script("text: yes", "text: no")
    async with home.open_session() as front:
        await front.turn("old")
    async with home.open_session() as front:
        await front.turn("new")
        front.send(ListSessions())
        open_one, other = (await front.wait_for(SessionList)).sessions
        front.send(RenameSession(other.id, "renamed"))
        renamed = (await front.wait_for(SessionList)).sessions
        assert [it.title for it in renamed if it.id == other.id] == ["renamed"]
        front.send(RenameSession(open_one.id, "mine"))
        await front.wait_for(SessionInfo, where=lambda info: info.title == "mine")
        front.send(DeleteSession(open_one.id))
        assert "open session" in (await front.next_notification()).title
        front.send(DeleteSession(other.id))
        remaining = await front.wait_for(SessionList, where=lambda event: len(event.sessions) == 1)
        assert remaining.sessions[0].id == open_one.id


# export and import


async def test_a_conversation_is_exported_without_overwriting_files(
    home: SessionEnv,
) -> None:
    home.script("think: hm\ntext: **blue** ```x```")
    async with home.open_session() as front:
        await front.turn("which color?")
        front.send(RunSlash("export out/talk.md"))
        await front.next_notification()
        text = (home.work_dir / "out/talk.md").read_text()
        assert "## You\n\nwhich color?\n\n## Agent\n\n> hm\n\n**blue** ```x```" in text
        front.send(RunSlash("export json talk.json"))
        await front.next_notification()
        exported: dict[str, Any] = json.loads((home.work_dir / "talk.json").read_text())
        assert [message["role"] for message in exported["messages"]] == ["user", "assistant"]
        front.send(RunSlash("export out/talk.md"))
        assert "already exists" in (await front.next_notification()).title


async def test_an_export_redacts_secrets(home: SessionEnv) -> None:
    register_secrets(["unguessable-key-of-the-config"])
    home.script("text: the key is unguessable-key-of-the-config, the other sk-0123456789abcdef")
    async with home.open_session() as front:
        await front.turn("which key?")
        for name in ("talk.md", "talk.json"):
            front.send(RunSlash(f"export {name}"))
            await front.next_notification()
            exported = (home.work_dir / name).read_text()
            assert "the key is [hidden], the other [hidden]" in exported
        assert "unguessable-key-of-the-config" in home.journal  # only the user can read it


@pytest.mark.parametrize("source", ["a file", "an export", "a session"])
async def test_an_import_reaches_the_model(home: SessionEnv, source: str) -> None:
    home.script("text: the door is blue", "text: I know")
    async with home.open_session() as front:
        await front.turn("which color?")
        session_id = front.of(SessionInfo)[-1].session_id
        front.send(RunSlash("export kept.json"))
        await front.next_notification()
    (home.work_dir / "notes.txt").write_text("the door is blue\n")
    argument = {"a file": "notes.txt", "an export": "kept.json", "a session": session_id}[source]
    async with home.open_session() as front:
        front.send(RunSlash(f"import {argument}"))
        assert (await front.next_notification()).title == "Imported"
        await front.turn("well?")
        journal = max(
            home.path.glob("share/tui-sessions/*/*/context.jsonl"), key=lambda it: it.stat().st_mtime
        )
        assert "The user imported" in journal.read_text()
        assert "the door is blue" in journal.read_text()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import", "requires a file"),
        ("import nowhere", "No file or session"),
        ("export", "Nothing to export"),
    ],
)
async def test_invalid_arguments_are_errors_with_a_hint(home: SessionEnv, line: str, what: str) -> None:
    async with home.open_session() as front:
        front.send(RunSlash(line))
        error = await front.wait_for(Notification)
        assert what in error.title
        assert error.body


async def test_a_binary_file_is_not_imported(home: SessionEnv) -> None:
    (home.work_dir / "a.bin").write_bytes(b"\xff\xfe\x00")
    async with home.open_session() as front:
        front.send(RunSlash("import a.bin"))
        assert "Can't read" in (await front.next_notification()).title


# the search in all sessions


async def test_messages_of_other_sessions_and_of_this_one_are_found(home: SessionEnv) -> None:
    home.script("text: the door is blue")
    async with home.open_session() as front:
        await front.turn("which color is the door?")
    home.script("text: the window is blue, too")
    async with home.open_session() as front:
        await front.turn("and the window?")
        front.send(SearchMessages("blue"))
        found = await front.wait_for(MessageMatches, where=lambda it: it.indexed == 1 and it.matches)
        assert [(it.speaker, it.passage, it.title) for it in found.matches] == [
            ("agent", "the window is blue, too", "and the window?"),
            ("agent", "the door is blue", "which color is the door?"),
        ]
        front.send(SearchMessages("color blue"))
        assert (await front.wait_for(MessageMatches)).matches == ()
