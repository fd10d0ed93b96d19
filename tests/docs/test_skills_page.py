"""docs/skills.md: the skill that it shows is found and used as it says."""

from kimi_tui.library.skills import read_skill
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import SessionInfo, TurnEnd
from tests.docs.pages import examples
from tests.engine.front import Home


async def test_the_skill_is_told_to_the_model_and_runs_by_its_name(home: Home) -> None:
    (file,) = examples("skills.md", language="markdown")
    skill = read_skill(file.put_into(home.work_dir))
    (slash,) = examples("skills.md", language="slash")
    home.script("text: released")
    async with home.opened() as front:
        front.give(RunSlash(slash.lines[0].removeprefix("/")))
        assert (await front.until(TurnEnd)).outcome == "finished"
    assert f"- release: {skill.description}" in home.journal
    assert "Tag the commit" in home.journal
    assert "1.4.0" in home.journal


async def test_further_folders_of_skills_are_searched(home: Home) -> None:
    (config,) = examples("skills.md", language="toml")
    (folder,) = config.toml["extra_skill_dirs"]
    file = home.file(folder) / "style" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("Be brief.")
    home.script("text: hi")
    async with home.opened(settings=home.settings(**config.toml)) as front:
        assert "skill:style" in {info.name for info in front.of(SessionInfo)[-1].slash_commands}
