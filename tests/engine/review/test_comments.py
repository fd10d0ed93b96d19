"""Comments on lines: they follow their lines and are sent as one prompt."""

from pathlib import Path

from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import Notification, TurnBegin, TurnEnd
from kimi_tui.wire.review import CommentList
from tests.engine.engine_client import EngineClient, session, text_reply

LINES = "def first_function():\n    return 'the first value'\n\ndef second_function():\n    pass\n"


async def comment(client: EngineClient, argument: str) -> CommentList:
    """Run /comment and return the list."""
    client.events.clear()
    return await client.run_command(RunSlash(f"comment {argument}"), CommentList)


async def test_a_comment_follows_its_line_through_edits_and_a_rename(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "a.py").write_text(LINES)
    async with session(work_dir, data_dir) as client:
        await comment(client, "a.py:2 Return an int")
        await comment(client, "a.py:4 Add a docstring")
        (work_dir / "a.py").write_text(
            "import os\n" + LINES.replace("    return 'the", "        return 'the")
        )
        moved = await comment(client, "")
        assert [(it.path, it.line) for it in moved.comments] == [("a.py", 3), ("a.py", 5)]
        (work_dir / "a.py").rename(work_dir / "b.py")
        renamed = await comment(client, "")
        assert [(it.path, it.line) for it in renamed.comments] == [("b.py", 3), ("b.py", 5)]
        (work_dir / "b.py").write_text("import os\n" + LINES.replace("def second_function():", "x = 1"))
        changed = await comment(client, "")
    assert [(it.line, it.code) for it in changed.comments] == [
        (3, "    return 'the first value'"),
        (None, "def second_function():"),
    ]


async def test_comments_are_sent_as_one_prompt_and_survive_a_restart(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "a.py").write_text(LINES)
    async with session(work_dir, data_dir, text_reply("Hello")) as client:
        await client.ask("hello")
        await comment(client, "a.py:2 Return an int")
        await comment(client, "a.py:4 Add a docstring")
        left = await comment(client, "--remove 1")
        assert [it.text for it in left.comments] == ["Add a docstring"]
    async with session(work_dir, data_dir, text_reply("Done."), continue_last=True) as client:
        assert len((await comment(client, "")).comments) == 1  # the replay has arrived
        client.events.clear()
        client.command(RunSlash("comment --send"))
        await client.next(TurnEnd)
        (turn,) = client.all(TurnBegin)
        assert isinstance(turn.user_input, str)
        assert "1. a.py:4\n   `def second_function():`\n   Add a docstring" in turn.user_input
        assert (await comment(client, "")).comments == ()
        client.events.clear()
        await client.run_command(RunSlash("comment a.py:-2 Why?"), Notification)
        assert client.all(Notification)[-1].title == "No review yet."
        client.events.clear()
        nothing = await client.run_command(RunSlash("comment --send"), Notification)
    assert nothing.title == "No comments to send."
