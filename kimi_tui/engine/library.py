"""What the user and the project have written for the agent: skills and commands, as a session offers them."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.secret_paths import is_private
from kimi_tui.base.value import value
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.slash_book import PromptCommand
from kimi_tui.library import commands as written
from kimi_tui.library import skills
from kimi_tui.library.commands import WrittenCommand, command_folders, find_commands
from kimi_tui.library.skills import Skill, find_skills, listed, skill_folders
from kimi_tui.tools.approval import Approval

SKILL_PREFIX = "skill:"


@value(kw_only=True)
class Library:
    """The skills and commands that were there when the session was opened."""

    skills: tuple[Skill, ...] = ()
    commands: tuple[WrittenCommand, ...] = ()
    problems: tuple[KimiTuiError, ...] = ()
    """What is wrong with others; each costs itself."""

    @property
    def skills_listed(self) -> str:
        """The skills as a system prompt lists them."""
        return listed(self.skills)

    def slash_commands(self, work_dir: Path, approval: Approval) -> tuple[PromptCommand, ...]:
        """A slash command for each: `/skill:NAME`, and the commands by their own names."""

        def may_include(path: Path) -> bool:
            return not is_private(path) and approval.may_read(path)

        return (
            *(_skill_command(skill) for skill in self.skills if skill.for_the_user),
            *(_written_command(command, work_dir, may_include) for command in self.commands),
        )


def open_library(options: EngineOptions, work_dir: Path) -> Library:
    """Look for skills and commands; of each, the project's before the user's."""
    folders = options.skills_dirs or skill_folders(
        work_dir=work_dir,
        share_dir=options.share_dir,
        home=options.home_dir or Path.home(),
        extra=(work_dir / Path(each).expanduser() for each in options.settings.extra_skill_dirs),
    )
    found = find_skills(folders)
    found_commands = find_commands(command_folders(work_dir=work_dir, share_dir=options.share_dir))
    return Library(
        skills=found.skills,
        commands=found_commands.commands,
        problems=(*found.problems, *found_commands.problems),
    )


def _skill_command(skill: Skill) -> PromptCommand:
    async def prompt(arguments: str) -> UserInput:
        return await asyncio.to_thread(skills.prompt_of, skill, arguments)

    return PromptCommand(f"{SKILL_PREFIX}{skill.name}", skill.description, prompt, argument="[what to do]")


def _written_command(
    command: WrittenCommand, work_dir: Path, may_include: Callable[[Path], bool]
) -> PromptCommand:
    expanded = partial(written.prompt_of, command, work_dir=work_dir, may_include=may_include)

    async def prompt(arguments: str) -> UserInput:
        return await asyncio.to_thread(expanded, arguments)

    return PromptCommand(command.name, command.description, prompt, argument=command.argument_hint)
