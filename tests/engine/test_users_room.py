"""The user's own shell, the other sessions, and what is kept in files or brought from them."""

import json
from typing import Any

import pytest

from kimi_tui.base.secrets import keep_hidden
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    PreviewSession,
    RenameSession,
    RunShell,
    RunSlash,
    StopShell,
)
from kimi_tui.wire.events import Notification, SessionInfo, ToolOutput, TurnBegin
from kimi_tui.wire.sessions import SaidWords, SessionList, SessionPreview
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd
from tests.engine.front import Front, Home, script


async def ran(front: Front, command: str) -> ShellCommandEnd:
    front.give(RunShell(command, command))
    return await front.until(ShellCommandEnd)


async def test_folder_variables_functions_and_aliases_last(home: Home) -> None:
    (home.work_dir / "sub").mkdir()
    async with home.opened() as front:
        begun = await ran(
            front,
            "cd sub && export COLOUR='deep blue' && plain=1 && hi() { echo hi $1; } && alias ho='echo ho'",
        )
        assert begun.status == 0
        assert begun.work_dir == str(home.work_dir / "sub")
        ended = await ran(front, 'pwd; echo "$COLOUR $plain"; hi you; ho')
        assert ended.output == f"{home.work_dir / 'sub'}\ndeep blue 1\nhi you\nho\n"
        (_, second) = front.of(ShellCommandBegin)
        assert second.work_dir == str(home.work_dir / "sub")


async def test_output_streams_and_the_exit_code_is_told(home: Home) -> None:
    async with home.opened() as front:
        ended = await ran(front, "echo one; echo two >&2; exit 3")
        assert (ended.status, ended.output, ended.stopped) == (3, "one\ntwo\n", False)
        assert "".join(event.text for event in front.of(ToolOutput)) == "one\ntwo\n"


async def test_what_was_set_before_an_exit_lasts_too(home: Home) -> None:
    async with home.opened() as front:
        await ran(front, "left=over; exit 4")
        assert (await ran(front, "echo $left")).output == "over\n"


async def test_a_command_with_quotes_newlines_and_chinese_runs_as_it_stands(home: Home) -> None:
    async with home.opened() as front:
        assert (
            await ran(front, "printf '%s\\n' \"it's\" '$x' 你好\nfor n in 1 2; do echo $n; done")
        ).output == "it's\n$x\n你好\n1\n2\n"


async def test_a_command_is_stopped_and_the_shell_goes_on(home: Home) -> None:
    async with home.opened() as front:
        await ran(front, "here=1")
        front.give(RunShell("s", "echo begun; sleep 60"))
        await front.until(ToolOutput)
        front.give(StopShell())
        ended = await front.until(ShellCommandEnd)
        assert ended.stopped
        assert (await ran(front, "echo $here")).output == "1\n"


async def test_the_model_learns_with_the_next_prompt_what_was_run(home: Home) -> None:
    home.script("text: I see")
    async with home.opened() as front:
        await ran(front, "echo 42; false")
        assert (await front.turn("what was it?")).outcome == "finished"
        assert "The user ran a command in their own shell" in home.journal
        assert "echo 42; false" in home.journal
        assert "Exit code 1." in home.journal


async def test_the_model_learns_nothing_when_the_config_says_so(home: Home) -> None:
    home.script("text: I see")
    async with home.opened(settings=home.settings(shell={"tell_model": False})) as front:
        await ran(front, "echo 42")
        await front.turn("what was it?")
        assert "echo 42" not in home.journal


async def test_a_resumed_conversation_has_the_commands_where_they_were_run(home: Home) -> None:
    home.script(script("text: one"), script("text: two"))
    async with home.opened() as front:
        await ran(front, "echo before")
        await front.turn("first")
        await ran(front, "echo between; false")
        await front.turn("second")
        await ran(front, "echo after")
    async with home.opened(continue_last=True) as front:
        told = [
            it.command if isinstance(it, ShellCommandBegin) else it.user_input
            for it in front.replay
            if isinstance(it, ShellCommandBegin | TurnBegin)
        ]
        assert told == ["echo before", "first", "echo between; false", "second", "echo after"]
        ends = [it for it in front.replay if isinstance(it, ShellCommandEnd)]
        assert [(it.output, it.status) for it in ends] == [("before\n", 0), ("between\n", 1), ("after\n", 0)]


async def test_the_folder_that_the_shell_stands_in_may_vanish(home: Home) -> None:
    (home.work_dir / "sub").mkdir()
    async with home.opened() as front:
        await ran(front, "cd sub; rmdir ../sub")
        assert (await ran(front, "pwd")).output == f"{home.work_dir}\n"


# sessions


async def test_sessions_are_listed_searched_and_looked_into(home: Home) -> None:
    home.script("text: the door is blue")
    async with home.opened() as front:
        await front.turn("which colour has the door?")
    home.script("text: no idea")
    async with home.opened() as front:
        await front.turn("and the window?")
        front.give(ListSessions())
        listed = await front.until(SessionList)
        assert [it.title for it in listed.sessions] == ["and the window?", "which colour has the door?"]
        front.give(ListSessions("BLUE"))
        (found,) = (await front.until(SessionList)).sessions
        assert found.snippet == "the door is blue"
        front.give(PreviewSession(found.id))
        preview = await front.until(SessionPreview)
        assert preview.said == (
            SaidWords("user", "which colour has the door?"),
            SaidWords("agent", "the door is blue"),
        )


async def test_another_session_is_renamed_and_deleted_and_the_open_one_only_renamed(home: Home) -> None:
    home.script("text: yes", "text: no")
    async with home.opened() as front:
        await front.turn("old")
    async with home.opened() as front:
        await front.turn("new")
        front.give(ListSessions())
        open_one, other = (await front.until(SessionList)).sessions
        front.give(RenameSession(other.id, "renamed"))
        renamed = (await front.until(SessionList)).sessions
        assert [it.title for it in renamed if it.id == other.id] == ["renamed"]
        front.give(RenameSession(open_one.id, "mine"))
        await front.until(SessionInfo, where=lambda info: info.title == "mine")
        front.give(DeleteSession(open_one.id))
        assert "session that is open" in (await front.told()).title
        front.give(DeleteSession(other.id))
        left = await front.until(SessionList, where=lambda event: len(event.sessions) == 1)
        assert left.sessions[0].id == open_one.id


# export and import


async def test_a_conversation_is_exported_as_markdown_and_json_and_never_over_a_file(home: Home) -> None:
    home.script("think: hm\ntext: **blue** ```x```")
    async with home.opened() as front:
        await front.turn("which colour?")
        front.give(RunSlash("export out/talk.md"))
        await front.told()
        text = (home.work_dir / "out/talk.md").read_text()
        assert "## You\n\nwhich colour?\n\n## Agent\n\n> hm\n\n**blue** ```x```" in text
        front.give(RunSlash("export json talk.json"))
        await front.told()
        exported: dict[str, Any] = json.loads((home.work_dir / "talk.json").read_text())
        assert [message["role"] for message in exported["messages"]] == ["user", "assistant"]
        front.give(RunSlash("export out/talk.md"))
        assert "is there already" in (await front.told()).title


async def test_an_export_holds_no_secret_whatever_was_printed(home: Home) -> None:
    keep_hidden(["unguessable-key-of-the-config"])
    home.script("text: the key is unguessable-key-of-the-config, the other sk-0123456789abcdef")
    async with home.opened() as front:
        await front.turn("which key?")
        for name in ("talk.md", "talk.json"):
            front.give(RunSlash(f"export {name}"))
            await front.told()
            exported = (home.work_dir / name).read_text()
            assert "the key is [hidden], the other [hidden]" in exported
        assert "unguessable-key-of-the-config" in home.journal  # which is the user's alone, and goes on


@pytest.mark.parametrize("source", ["a file", "an export", "a session"])
async def test_what_is_imported_reaches_the_model(home: Home, source: str) -> None:
    home.script("text: the door is blue", "text: I know")
    async with home.opened() as front:
        await front.turn("which colour?")
        session_id = front.of(SessionInfo)[-1].session_id
        front.give(RunSlash("export kept.json"))
        await front.told()
    (home.work_dir / "notes.txt").write_text("the door is blue\n")
    named = {"a file": "notes.txt", "an export": "kept.json", "a session": session_id}[source]
    async with home.opened() as front:
        front.give(RunSlash(f"import {named}"))
        assert (await front.told()).title == "Imported"
        await front.turn("well?")
        journal = max(home.path.glob("share/sessions/*/*/context.jsonl"), key=lambda it: it.stat().st_mtime)
        assert "The user imported" in journal.read_text()
        assert "the door is blue" in journal.read_text()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import", "needs to know what"),
        ("import nowhere", "neither a file nor a session"),
        ("export", "nothing to export"),
    ],
)
async def test_nonsense_is_answered_with_what_to_do(home: Home, line: str, what: str) -> None:
    async with home.opened() as front:
        front.give(RunSlash(line))
        told = await front.until(Notification)
        assert what in told.title
        assert told.body


async def test_what_is_no_text_is_not_imported(home: Home) -> None:
    (home.work_dir / "a.bin").write_bytes(b"\xff\xfe\x00")
    async with home.opened() as front:
        front.give(RunSlash("import a.bin"))
        assert "can't be read as text" in (await front.told()).title
