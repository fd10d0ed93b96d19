"""docs/skills.md: its example skill is found and works as described."""

from kimi_tui.skills.skills import read_skill
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import SessionInfo, TurnEnd
from tests.docs.pages import examples
from tests.engine.fake_front_end import SessionEnv


async def test_the_skill_is_listed_for_the_model_and_runs_as_a_command(home: SessionEnv) -> None:
    (file,) = examples("skills.md", language="markdown")
    skill = read_skill(file.put_into(home.work_dir))
    (slash,) = examples("skills.md", language="slash")
    home.script("text: released")
    async with home.open_session() as front:
        front.send(RunSlash(slash.lines[0].removeprefix("/")))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
    assert f"- release: {skill.description}" in home.journal
    assert "Tag the commit" in home.journal
    assert "1.4.0" in home.journal


async def test_extra_skill_directories_are_searched(home: SessionEnv) -> None:
    (config,) = examples("skills.md", language="toml")
    (directory,) = config.toml["extra_skill_dirs"]
    file = home.file(directory) / "style" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("Be brief.")
    home.script("text: hi")
    async with home.open_session(settings=home.settings(**config.toml)) as front:
        assert "skill:style" in {info.name for info in front.of(SessionInfo)[-1].slash_commands}
