"""Which files of a project need the user's trust, and how decisions about them are stored."""

from pathlib import Path

import pytest

from kimi_tui.config.project_files import find_project_files
from kimi_tui.config.project_trust import ProjectTrust


class Project:
    """A repository, a home directory and a data directory in it."""

    def __init__(self, path: Path) -> None:
        self.home = path / "home"
        self.data_dir = self.home / ".kimi-tui"
        self.root = self.home / "code" / "shop"
        self.data_dir.mkdir(parents=True)
        (self.root / ".git").mkdir(parents=True)
        self.trust = ProjectTrust(self.data_dir)

    def write(self, name: str, text: str = "text") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def names(self, work_dir: Path | None = None, *extra: str) -> list[str]:
        files = find_project_files(
            work_dir or self.root, data_dir=self.data_dir, home=self.home, extra_skill_dirs=extra
        )
        return [f"{each.kind} {each.name}" for each in files]

    def statuses(self) -> dict[str, str]:
        reviewed = self.trust.review(self.root, home=self.home)
        return {each.file.name: each.status for each in reviewed}

    def decide(self, *, trusted: bool) -> None:
        reviewed = self.trust.review(self.root, home=self.home)
        self.trust.decide((each.file for each in reviewed), trusted=trusted)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_files_are_found_up_to_the_root_of_the_repository(project: Project) -> None:
    project.write(".kimi-tui/commands/git/push.md")
    for folder in (".kimi", ".claude", ".codex", ".agents", ".kimi-tui"):
        project.write(f"{folder}/skills/{folder.strip('.')}/SKILL.md")
    project.write("pkg/.kimi-tui/agents/helper/agent.yaml")
    assert project.names(project.root / "pkg") == [
        "agent helper",
        "command git:push",
        "skill kimi-tui",
        "skill kimi",
        "skill claude",
        "skill codex",
        "skill agents",
    ]


def test_the_users_own_files_are_not_a_projects(project: Project) -> None:
    for name in (".claude/skills/mine/SKILL.md", ".kimi-tui/commands/mine.md", ".kimi-tui/config.toml"):
        path = project.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert project.names(project.home) == []


def test_relative_directories_of_the_setting_belong_to_the_project(project: Project) -> None:
    project.write("tools/skills/build/SKILL.md")
    assert project.names(None, "tools/skills") == ["skill build"]
    assert project.names(None, str(project.root / "tools/skills"), "~/skills") == []


def test_a_decision_is_about_the_content(project: Project) -> None:
    project.write(".kimi-tui/commands/a.md", "one")
    project.write(".kimi-tui/commands/b.md", "one")
    assert project.statuses() == {"a": "new", "b": "new"}
    project.decide(trusted=True)
    project.write(".kimi-tui/commands/b.md", "two")
    project.write(".kimi-tui/commands/c.md", "one")
    assert project.statuses() == {"a": "trusted", "b": "changed", "c": "new"}
    project.decide(trusted=False)
    assert project.statuses() == {"a": "declined", "b": "declined", "c": "declined"}
    project.write(".kimi-tui/commands/a.md", "three")
    assert project.statuses()["a"] == "changed"


def test_an_agent_changes_with_any_of_its_files(project: Project) -> None:
    project.write(".kimi-tui/agents/helper/agent.yaml")
    prompt = project.write(".kimi-tui/agents/helper/prompts/system.md", "Be kind.")
    project.decide(trusted=True)
    assert project.statuses() == {"helper": "trusted"}
    prompt.write_text("Be unkind.")
    assert project.statuses() == {"helper": "changed"}


def test_trust_of_earlier_versions_still_counts(project: Project) -> None:
    config = project.write(".kimi-tui/config.toml", "theme = 'dark'\n")
    project.trust.trust(config, config.read_text())
    assert project.statuses() == {"config.toml": "trusted"}


def test_a_file_that_cannot_be_read_is_not_trusted(project: Project) -> None:
    command = project.write(".kimi-tui/commands/a.md")
    project.decide(trusted=True)
    command.unlink()
    command.symlink_to("missing")
    assert project.statuses() == {"a": "changed"}


def test_decisions_about_other_projects_are_kept(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    project.trust.trust(other, "x")
    project.write(".kimi-tui/commands/a.md")
    project.decide(trusted=True)
    assert project.trust.forget(project.root) == 1
    assert project.statuses() == {"a": "new"}
    assert project.trust.is_trusted(other, "x")
