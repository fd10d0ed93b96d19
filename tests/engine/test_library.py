"""Skills, custom commands and /init in a whole session."""

import json
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Revert, RunSlash
from kimi_tui.wire.events import (
    CheckpointCreated,
    Notification,
    Reverted,
    SessionInfo,
    SlashCommandInfo,
    TurnBegin,
    TurnEnd,
)
from tests.engine.front import Front, Home

REVIEW = "---\ndescription: Reviews a file\nargument-hint: '[FILE]'\n---\nReview @$1 for $2.\n"


def put(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def said(home: Home) -> list[str]:
    """What the model was told in the user's place."""
    records = [json.loads(line) for line in home.journal.splitlines()]
    contents = [record["content"] for record in records if record["role"] == "user"]
    return [it if isinstance(it, str) else "".join(part["text"] for part in it) for it in contents]


def system_prompt(home: Home) -> str:
    record = json.loads(home.journal.splitlines()[0])
    assert record["role"] == "_system_prompt"
    text: str = record["content"]
    return text


def commands(front: Front) -> dict[str, SlashCommandInfo]:
    return {info.name: info for info in front.of(SessionInfo)[-1].slash_commands}


async def run(front: Front, line: str) -> TurnEnd:
    front.give(RunSlash(line))
    return await front.until(TurnEnd)


async def test_the_model_is_told_of_skills_and_the_user_can_run_them(home: Home) -> None:
    file = put(
        home.work_dir, ".kimi-tui/skills/pdf/SKILL.md", "---\ndescription: Fills forms\n---\nUse fill.py."
    )
    home.script("text: filled")
    async with home.opened() as front:
        assert commands(front)["skill:pdf"].description == "Fills forms"
        assert (await run(front, "skill:pdf the tax form")).outcome == "finished"
        assert front.of(TurnBegin)[0].user_input == "/skill:pdf the tax form"
    assert f"- pdf: Fills forms ({file})" in system_prompt(home)
    (text,) = said(home)
    assert "Use fill.py." in text
    assert text.endswith("the tax form")


async def test_skills_of_another_folder_take_the_place_of_all_others(home: Home, tmp_path: Path) -> None:
    put(home.share_dir, "skills/mine/SKILL.md", "x")
    put(home.path / "home", ".claude/skills/theirs/SKILL.md", "x")
    put(tmp_path, "other/special/SKILL.md", "x")
    home.script("text: hi")
    async with home.opened() as front:
        assert {"skill:mine", "skill:theirs"} <= commands(front).keys()
    async with home.opened(skills_dirs=(tmp_path / "other",)) as front:
        assert [name for name in commands(front) if name.startswith("skill:")] == ["skill:special"]


async def test_further_folders_of_skills_come_from_the_config(home: Home, tmp_path: Path) -> None:
    put(tmp_path, "team/style/SKILL.md", "x")
    put(home.work_dir, "docs/skills/here/SKILL.md", "x")
    home.script("text: hi")
    settings = home.settings(extra_skill_dirs=[str(tmp_path / "team"), "docs/skills"])
    async with home.opened(settings=settings) as front:
        assert {"skill:style", "skill:here"} <= commands(front).keys()


async def test_what_was_typed_is_what_a_replay_and_the_way_back_show(home: Home) -> None:
    put(home.work_dir, ".kimi-tui/commands/greet.md", "Say good day to $1.")
    home.script("text: good day")
    async with home.opened() as front:
        await run(front, "greet Ann")
        assert front.of(CheckpointCreated)[0].label == "/greet Ann"
    async with home.opened(continue_last=True) as front:
        assert [event.user_input for event in front.of(TurnBegin)] == ["/greet Ann"]
        front.give(Revert(0))
        assert (await front.until(Reverted)).prompt == "/greet Ann"
    assert "Say good day to Ann." in "".join(it.read_text() for it in home.session_dir.glob("context.jsonl*"))


async def test_a_broken_skill_or_command_costs_itself_with_a_notice(home: Home) -> None:
    put(home.share_dir, "skills/broken/SKILL.md", "---\nno end")
    put(home.share_dir, "commands/two words.md", "x")
    put(home.share_dir, "commands/sound.md", "Say so.")
    home.script("text: so")
    async with home.opened() as front:
        titles = [notice.title for notice in front.of(Notification)]
        assert ["broken/SKILL.md" in titles[0], "two words.md" in titles[1]] == [True, True]
        assert (await run(front, "sound")).outcome == "finished"
    assert said(home) == ["Say so."]


async def test_a_command_from_a_file_says_its_text_with_arguments_and_files(home: Home) -> None:
    put(home.work_dir, ".kimi-tui/commands/code/review.md", REVIEW)
    home.file("a.py").write_text("x = 1\n")
    home.script("text: fine")
    async with home.opened() as front:
        info = commands(front)["code:review"]
        assert (info.description, info.argument, info.takes_turn) == ("Reviews a file", "[FILE]", True)
        await run(front, "code:review a.py bugs")
    assert said(home) == ['Review @a.py for bugs.\n\n<file path="a.py">\nx = 1\n</file>']


async def test_a_command_does_not_include_our_own_settings_wherever_they_are(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIMI_SHARE_DIR", str(tmp_path / "elsewhere"))
    settings = put(tmp_path, "elsewhere/config.toml", 'api_key = "hunter2"')
    put(home.work_dir, ".kimi-tui/commands/leak.md", f"Look at @{settings}")
    home.script("text: no")
    async with home.opened() as front:
        await run(front, "leak")
    assert "hunter2" not in said(home)[0]


async def test_a_command_includes_nothing_that_is_secret_or_must_not_be_read(home: Home) -> None:
    home.permissions = {"deny": ["Read(plans.txt)"]}
    put(home.work_dir, ".kimi-tui/commands/leak.md", "Look at @.env and @plans.txt")
    home.file(".env").write_text("KEY=hunter2")
    home.file("plans.txt").write_text("launch friday")
    home.script("text: no")
    async with home.opened() as front:
        await run(front, "leak")
    (text,) = said(home)
    assert "hunter2" not in text
    assert "friday" not in text


async def test_no_file_replaces_a_command_of_the_session(home: Home) -> None:
    put(home.work_dir, ".kimi-tui/commands/clear.md", "Do evil.")
    home.script("text: hi")
    async with home.opened() as front:
        assert commands(front)["clear"].description.startswith("Start over")


async def test_a_command_whose_file_is_gone_says_so(home: Home) -> None:
    file = put(home.work_dir, ".kimi-tui/commands/x.md", "Do x.")
    home.script("text: hi")
    async with home.opened() as front:
        file.unlink()
        end = await run(front, "x")
        assert end.failure is not None
        assert (end.outcome, end.failure.kind) == ("failed", "ConfigError")


async def test_init_has_the_model_write_agents_md_and_keep_what_is_there(home: Home) -> None:
    home.script("text: written", "text: mended")
    async with home.opened() as front:
        await run(front, "init")
        home.file("AGENTS.md").write_text("Be brief.")
        await run(front, "init the tests")
    first, second = said(home)
    assert "There is no AGENTS.md yet." in first
    assert "There is an AGENTS.md already" in second
    assert second.endswith("What matters to me: the tests")
