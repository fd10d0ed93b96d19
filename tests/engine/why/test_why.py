"""Who wrote a line, through the engine: the agent's edits and commands, the user's lines, reverts."""

import json
from pathlib import Path

from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.engine.why.why_service import explain_stored_line
from kimi_tui.wire.commands import Revert, RunSlash
from kimi_tui.wire.events import CheckpointCreated, Notification
from kimi_tui.wire.timeline import Reverted
from kimi_tui.wire.why import ExplainLine, LineReason
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls

THINKS = "think: the user wants a greeting\n"
WRITES = THINKS + tool_calls(("WriteFile", {"path": "a.py", "content": "import os\nprint('hello world')\n"}))
APPENDS = tool_calls(("Bash", {"command": "echo 'print(os.name)' >> a.py"}))
REWRITES = tool_calls(("WriteFile", {"path": "a.py", "content": "import os\nprint('bye')\n"}))


async def why(client: EngineClient, line: int, path: str = "a.py") -> LineReason:
    """Return the answer for a line."""
    client.events.clear()
    return await client.run_command(ExplainLine(path, line), LineReason)


async def test_the_prompt_and_the_step_behind_a_line_are_found(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, WRITES, text_reply("done"), APPENDS, text_reply("done")) as client:
        await client.ask("write a greeting")
        await client.ask("print the name")
        ids = [event.id for event in client.all(CheckpointCreated)]
        second = await why(client, 2)
        third = await why(client, 3)
    assert (second.by, second.text, second.prompt) == ("agent", "print('hello world')", "write a greeting")
    assert (second.tool, second.step, second.reasoning) == (
        "WriteFile",
        "WriteFile a.py",
        "the user wants a greeting",
    )
    assert (second.checkpoint, third.checkpoint) == (ids[1], ids[4])
    assert (third.prompt, third.command) == ("print the name", "echo 'print(os.name)' >> a.py")
    assert not second.is_other_session


async def test_lines_of_the_user_are_the_users(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "mine.txt").write_text("old\n")
    async with session(work_dir, data_dir, WRITES, text_reply("done")) as client:
        await client.ask("write a greeting")
        (work_dir / "a.py").write_text("import os\nimport sys\n    print('hello world')\n")
        assert [(await why(client, line)).by for line in (1, 2, 3)] == ["agent", "you", "agent"]
        old = await why(client, 1, "mine.txt")
    assert (old.by, old.note) == ("you", "It was there before the first file snapshot.")


async def test_a_revert_restores_the_origin_of_lines(work_dir: Path, data_dir: Path) -> None:
    scripts = WRITES, text_reply("done"), REWRITES, text_reply("done")
    async with session(work_dir, data_dir, *scripts) as client:
        await client.ask("write a greeting")
        await client.ask("say bye")
        ids = [event.id for event in client.all(CheckpointCreated)]
        before = await why(client, 2)
        await client.run_command(Revert(ids[3]), Reverted)
        after = await why(client, 2)
    assert (before.prompt, after.prompt) == ("say bye", "write a greeting")
    assert after.checkpoint == ids[1]


async def test_another_session_and_the_command_line_find_the_same(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, WRITES, text_reply("done")) as client:
        await client.ask("write a greeting")
        own = await why(client, 2)
        stored = explain_stored_line(data_dir, work_dir, "a.py", 2)
        assert to_jsonable(stored) == to_jsonable(own) | {"session_title": stored.session_title}
        (work_dir / "a.py").write_text("import os\nprint('hello world')\nnew\n")
        added = explain_stored_line(data_dir, work_dir, "a.py", 3)
        assert (added.by, added.note) == ("unknown", "Changed since the last file snapshot.")
    async with session(work_dir, data_dir) as client:
        again = await why(client, 2)
    assert (again.prompt, again.is_other_session) == ("write a greeting", True)
    assert again.session_id == own.session_id


async def test_the_model_of_a_step_is_in_the_journal(work_dir: Path, data_dir: Path) -> None:
    usage = 'usage: {"input_other": 1000, "output": 100}'
    async with session(work_dir, data_dir, f"{WRITES}\n{usage}", text_reply("done")) as client:
        await client.ask("write a greeting")
        reason = await why(client, 2)
    assert reason.model == "scripted"
    (journal,) = data_dir.rglob("context.jsonl")
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [record.get("model") for record in records if record["role"] == "_usage"] == ["scripted"]


async def test_wrong_lines_and_files_say_what_to_do(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "mine.txt").write_text("old\n")
    async with session(work_dir, data_dir) as client:
        expected = {
            "why": "/why requires a file and a line.",
            "why mine.txt": "/why requires a file and a line.",
            "why mine.txt:9": "mine.txt has 1 lines.",
            "why gone.txt:1": "gone.txt isn't a text file.",
        }
        for line, title in expected.items():
            client.events.clear()
            notice = await client.run_command(RunSlash(line), Notification)
            assert (notice.severity, notice.title) == ("error", title)
