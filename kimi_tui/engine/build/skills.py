"""Skills and custom commands of a session, written by the user and the project."""

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.secret_paths import is_private
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.slash.flow import FlowRunner
from kimi_tui.engine.slash.registry import PromptCommand, SlashCommand
from kimi_tui.skills import commands as markdown_commands
from kimi_tui.skills import skills
from kimi_tui.skills.commands import MarkdownCommand, command_folders, find_commands
from kimi_tui.skills.skills import Skill, find_skills, skill_folders, skills_prompt
from kimi_tui.tools.approval import Approval

SKILL_PREFIX = "skill:"


@frozen(kw_only=True)
class SkillLibrary:
    """Skills and custom commands that were found when the session was opened."""

    skills: tuple[Skill, ...] = ()
    commands: tuple[MarkdownCommand, ...] = ()
    problems: tuple[KimiTuiError, ...] = ()
    """Errors of invalid skills and commands, which are left out."""

    @property
    def skills_prompt(self) -> str:
        """Skills as listed in the system prompt."""
        return skills_prompt(self.skills)

    def slash_commands(
        self, work_dir: Path, approval: Approval, flows: FlowRunner, *, as_kimi_cli: bool = False
    ) -> tuple[PromptCommand | SlashCommand, ...]:
        """Return the slash commands for skills, flows and custom commands.

        Each skill is `/skill:NAME`, and also `/flow:NAME` if it is a flow. Custom commands keep their names.
        With `as_kimi_cli`, the prompt of a skill is its whole file.
        """

        def may_include(path: Path) -> bool:
            return not is_private(path) and approval.may_read(path)

        skills_for_users = [skill for skill in self.skills if skill.user_invocable]
        return (
            *(_skill_command(skill, as_kimi_cli=as_kimi_cli) for skill in skills_for_users),
            *(flows.command(skill) for skill in skills_for_users if skill.is_flow),
            *(_markdown_command(command, work_dir, may_include) for command in self.commands),
        )


def load_skills(options: EngineOptions, work_dir: Path, untrusted: Collection[Path] = ()) -> SkillLibrary:
    """Find skills and custom commands, except `untrusted` ones. Those of the project take precedence."""
    folders = options.skills_dirs or skill_folders(
        work_dir=work_dir,
        data_dir=options.data_dir,
        home=options.home_dir or Path.home(),
        extra=(work_dir / Path(each).expanduser() for each in options.settings.extra_skill_dirs),
    )
    found_skills = find_skills(folders, untrusted=untrusted)
    found_commands = find_commands(
        command_folders(work_dir=work_dir, data_dir=options.data_dir), untrusted=untrusted
    )
    return SkillLibrary(
        skills=found_skills.skills,
        commands=found_commands.commands,
        problems=(*found_skills.problems, *found_commands.problems),
    )


def _skill_command(skill: Skill, *, as_kimi_cli: bool) -> PromptCommand:
    render = partial(skills.render_prompt, skill, as_kimi_cli=as_kimi_cli)

    async def prompt(arguments: str) -> UserInput:
        return await asyncio.to_thread(render, arguments)

    return PromptCommand(f"{SKILL_PREFIX}{skill.name}", skill.description, prompt, argument="[what to do]")


def _markdown_command(
    command: MarkdownCommand, work_dir: Path, may_include: Callable[[Path], bool]
) -> PromptCommand:
    render = partial(markdown_commands.render_prompt, command, work_dir=work_dir, may_include=may_include)

    async def prompt(arguments: str) -> UserInput:
        return await asyncio.to_thread(render, arguments)

    return PromptCommand(command.name, command.description, prompt, argument=command.argument_hint)
