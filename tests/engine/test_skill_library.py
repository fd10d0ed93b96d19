"""Skills, custom commands and /init in whole sessions."""

import json
from pathlib import Path

import pytest

from kimi_tui.wire.agent_list import AgentList
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
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv

REVIEW = "---\ndescription: Reviews a file\nargument-hint: '[FILE]'\n---\nReview @$1 for $2.\n"


def write_file(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def prompts(home: SessionEnv) -> list[str]:
    """Return the user messages that the model got."""
    records = [json.loads(line) for line in home.journal.splitlines()]
    contents = [record["content"] for record in records if record["role"] == "user"]
    return [it if isinstance(it, str) else "".join(part["text"] for part in it) for it in contents]


def system_prompt(home: SessionEnv) -> str:
    record = json.loads(home.journal.splitlines()[0])
    assert record["role"] == "_system_prompt"
    text: str = record["content"]
    return text


def commands(front: FakeFrontEnd) -> dict[str, SlashCommandInfo]:
    return {info.name: info for info in front.of(SessionInfo)[-1].slash_commands}


async def run(front: FakeFrontEnd, line: str) -> TurnEnd:
    front.send(RunSlash(line))
    return await front.wait_for(TurnEnd)


async def test_skills_are_listed_for_the_model_and_are_slash_commands(home: SessionEnv) -> None:
    file = write_file(
        home.work_dir, ".kimi-tui/skills/pdf/SKILL.md", "---\ndescription: Fills forms\n---\nUse fill.py."
    )
    home.script("text: filled")
    async with home.open_session() as front:
        assert commands(front)["skill:pdf"].description == "Fills forms"
        assert (await run(front, "skill:pdf the tax form")).outcome == "finished"
        assert front.of(TurnBegin)[0].user_input == "/skill:pdf the tax form"
    assert f"- pdf: Fills forms ({file})" in system_prompt(home)
    (text,) = prompts(home)
    assert "Use fill.py." in text
    assert text.endswith("the tax form")


async def test_the_skills_dirs_option_replaces_all_other_directories(
    home: SessionEnv, tmp_path: Path
) -> None:
    write_file(home.data_dir, "skills/mine/SKILL.md", "x")
    write_file(home.path / "home", ".claude/skills/theirs/SKILL.md", "x")
    write_file(tmp_path, "other/special/SKILL.md", "x")
    home.script("text: hi")
    async with home.open_session() as front:
        assert {"skill:mine", "skill:theirs"} <= commands(front).keys()
    async with home.open_session(skills_dirs=(tmp_path / "other",)) as front:
        assert [name for name in commands(front) if name.startswith("skill:")] == ["skill:special"]


async def test_the_config_can_add_skill_directories(home: SessionEnv, tmp_path: Path) -> None:
    write_file(tmp_path, "team/style/SKILL.md", "x")
    write_file(home.work_dir, "docs/skills/here/SKILL.md", "x")
    home.script("text: hi")
    settings = home.settings(extra_skill_dirs=[str(tmp_path / "team"), "docs/skills"])
    async with home.open_session(settings=settings) as front:
        assert {"skill:style", "skill:here"} <= commands(front).keys()


async def test_a_replay_and_a_revert_show_the_typed_command(home: SessionEnv) -> None:
    write_file(home.work_dir, ".kimi-tui/commands/greet.md", "Say good day to $1.")
    home.script("text: good day")
    async with home.open_session() as front:
        await run(front, "greet Ann")
        assert front.of(CheckpointCreated)[0].label == "/greet Ann"
    async with home.open_session(continue_last=True) as front:
        assert [event.user_input for event in front.of(TurnBegin)] == ["/greet Ann"]
        front.send(Revert(0))
        assert (await front.wait_for(Reverted)).prompt == "/greet Ann"
    assert "Say good day to Ann." in "".join(it.read_text() for it in home.session_dir.glob("context.jsonl*"))


async def test_invalid_skills_and_commands_are_skipped_with_a_notice(home: SessionEnv) -> None:
    write_file(home.data_dir, "skills/broken/SKILL.md", "---\nno end")
    write_file(home.data_dir, "commands/two words.md", "x")
    write_file(home.data_dir, "commands/sound.md", "Say so.")
    home.script("text: so")
    async with home.open_session() as front:
        titles = [notice.title for notice in front.of(Notification)]
        assert ["broken/SKILL.md" in titles[0], "two words.md" in titles[1]] == [True, True]
        assert (await run(front, "sound")).outcome == "finished"
    assert prompts(home) == ["Say so."]


async def test_a_custom_command_sends_its_text_with_arguments_and_files(home: SessionEnv) -> None:
    write_file(home.work_dir, ".kimi-tui/commands/code/review.md", REVIEW)
    home.file("a.py").write_text("x = 1\n")
    home.script("text: fine")
    async with home.open_session() as front:
        info = commands(front)["code:review"]
        assert (info.description, info.argument, info.takes_turn) == ("Reviews a file", "[FILE]", True)
        await run(front, "code:review a.py bugs")
    assert prompts(home) == ['Review @a.py for bugs.\n\n<file path="a.py">\nx = 1\n</file>']


async def test_a_custom_command_doesnt_include_the_programs_config(
    home: SessionEnv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIMI_SHARE_DIR", str(tmp_path / "elsewhere"))
    settings = write_file(tmp_path, "elsewhere/config.toml", 'api_key = "hunter2"')
    write_file(home.work_dir, ".kimi-tui/commands/leak.md", f"Look at @{settings}")
    home.script("text: no")
    async with home.open_session() as front:
        await run(front, "leak")
    assert "hunter2" not in prompts(home)[0]


async def test_a_custom_command_doesnt_include_secret_or_denied_files(home: SessionEnv) -> None:
    home.permissions = {"deny": ["Read(plans.txt)"]}
    write_file(home.work_dir, ".kimi-tui/commands/leak.md", "Look at @.env and @plans.txt")
    home.file(".env").write_text("KEY=hunter2")
    home.file("plans.txt").write_text("launch friday")
    home.script("text: no")
    async with home.open_session() as front:
        await run(front, "leak")
    (text,) = prompts(home)
    assert "hunter2" not in text
    assert "friday" not in text


async def test_a_custom_command_doesnt_override_a_built_in_command(home: SessionEnv) -> None:
    write_file(home.work_dir, ".kimi-tui/commands/clear.md", "Do evil.")
    home.script("text: hi")
    async with home.open_session() as front:
        assert commands(front)["clear"].description.startswith("Start over")


async def test_a_custom_command_whose_file_was_deleted_is_an_error(home: SessionEnv) -> None:
    file = write_file(home.work_dir, ".kimi-tui/commands/x.md", "Do x.")
    home.script("text: hi")
    async with home.open_session() as front:
        file.unlink()
        end = await run(front, "x")
        assert end.failure is not None
        assert (end.outcome, end.failure.kind) == ("failed", "ConfigError")


async def test_the_init_prompt_depends_on_whether_agents_md_exists(home: SessionEnv) -> None:
    home.script("text: written", "text: updated")
    async with home.open_session() as front:
        await run(front, "init")
        home.file("AGENTS.md").write_text("Be brief.")
        await run(front, "init the tests")
    first, second = prompts(home)
    assert "AGENTS.md doesn't exist yet." in first
    assert "AGENTS.md already exists" in second
    assert second.endswith("Focus on: the tests")


async def test_a_projects_files_are_ignored_until_the_user_trusts_them(home: SessionEnv) -> None:
    write_file(home.work_dir, ".kimi-tui/skills/pdf/SKILL.md", "Use fill.py.")
    write_file(home.work_dir, ".kimi-tui/commands/deploy.md", "Deploy it.")
    write_file(home.work_dir, ".kimi-tui/agents/helper/agent.yaml", "description: Helps\n")
    home.script("text: hi")
    async with home.open_session(trusts_project=False) as front:
        assert not {"skill:pdf", "deploy"} & commands(front).keys()
        (notice,) = front.of(Notification)
        for name in ("pdf/SKILL.md", "commands/deploy.md", "agents/helper"):
            assert name in str(notice.title)
        front.send(RunSlash("agents"))
        assert "helper" not in [agent.name for agent in (await front.wait_for(AgentList)).agents]
        await front.turn("hello")
    assert "pdf" not in system_prompt(home)
    home.script("text: hi")
    async with home.open_session() as front:
        assert {"skill:pdf", "deploy"} <= commands(front).keys()
        assert not front.of(Notification)
        front.send(RunSlash("agents"))
        assert "helper" in [agent.name for agent in (await front.wait_for(AgentList)).agents]


async def test_an_untrusted_skill_does_not_replace_the_users(home: SessionEnv) -> None:
    write_file(home.data_dir, "skills/pdf/SKILL.md", "---\ndescription: Mine\n---\nText.")
    write_file(home.work_dir, ".kimi-tui/skills/pdf/SKILL.md", "---\ndescription: Theirs\n---\nText.")
    home.script("text: hi")
    async with home.open_session(trusts_project=False) as front:
        assert commands(front)["skill:pdf"].description == "Mine"
