"""Skills: directories with a SKILL.md that describes how to do a kind of work (agentskills.io)."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.config.project_files import (
    USER_SKILL_FOLDERS,
    find_skill_files,
    project_skill_folders,
)
from kimi_tui.skills.flow import Flow, parse_flow
from kimi_tui.skills.front_matter import read_markdown
from kimi_tui.skills.template import substitute_arguments

MAX_DESCRIPTION = 1024
MAX_SKILLS = 500
MAX_LIST_CHARACTERS = 20_000
"""Maximum characters of the skill list in a system prompt."""
_NAME = re.compile(r"[\w-]{1,64}")


@frozen(kw_only=True)
class Skill:
    """A skill."""

    name: str
    description: str
    file: Path
    """The skill's SKILL.md."""
    model_invocable: bool = True
    """Whether the system prompt lists the skill, so that the model may use it."""
    user_invocable: bool = True
    """Whether the skill is a slash command."""
    is_flow: bool = False
    """Whether the skill is a flowchart of prompts. `/flow:NAME` runs it."""


@frozen
class SkillSet:
    """The available skills, and the errors of invalid skills."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[ConfigError, ...] = ()


def skill_folders(
    *, work_dir: Path, data_dir: Path, home: Path, extra: Iterable[Path] = ()
) -> tuple[Path, ...]:
    """Return the directories with skills. If two skills have the same name, the earlier directory wins.

    The order is the same as in Kimi CLI: the project's directories from the working directory up to the root
    of the repository, the user's directories, then `extra`. At each level, kimi-tui's own directory is first
    and `.agents` last.
    """
    user = (data_dir / "skills", *(home / name for name in USER_SKILL_FOLDERS))
    return tuple(dict.fromkeys((*project_skill_folders(work_dir), *user, *extra)))


def find_skills(folders: Iterable[Path], *, untrusted: Collection[Path] = ()) -> SkillSet:
    """Find the skills in `folders`, sorted by name. An invalid skill is skipped, as are `untrusted` files."""
    skills: dict[str, Skill] = {}
    problems: list[ConfigError] = []
    for folder in folders:
        for file in find_skill_files(folder):
            if len(skills) == MAX_SKILLS:
                break
            if file in untrusted:
                continue
            try:
                skill = read_skill(file)
            except ConfigError as error:
                problems.append(error)
            else:
                skills.setdefault(skill.name, skill)
    return SkillSet(tuple(skills[name] for name in sorted(skills)), tuple(problems))


def read_skill(file: Path) -> Skill:
    """Parse the skill in a SKILL.md. Raises ConfigError with the file's name."""
    markdown = read_markdown(file)
    name = markdown.text("name") or file.parent.name
    if not _NAME.fullmatch(name):
        raise ConfigError(
            msg(
                "{path}: “{name}” isn't a valid skill name.",
                path=sanitize(str(file)),
                name=sanitize_line(name),
            ),
            hint="Use up to 64 letters, digits, `-` and `_`.",
        )
    if not markdown.body:
        raise ConfigError(
            msg("{path}: the skill is empty.", path=sanitize(str(file))),
            hint="Write instructions in the file.",
        )
    return Skill(
        name=name,
        description=(markdown.text("description") or markdown.first_line)[:MAX_DESCRIPTION],
        file=file,
        model_invocable=not markdown.flag("disable-model-invocation", default=False),
        user_invocable=markdown.flag("user-invocable", default=True),
        is_flow=markdown.text("type") == "flow",
    )


def read_flow(skill: Skill) -> Flow:
    """Return the flowchart of a flow skill. Raises ConfigError."""
    return parse_flow(read_markdown(skill.file).body, name=skill.name)


def skills_prompt(skills: Sequence[Skill]) -> str:
    """Return the skill list for a system prompt. Empty without skills."""
    lines: list[str] = []
    remaining_chars = MAX_LIST_CHARACTERS
    listed = [skill for skill in skills if skill.model_invocable]
    for skill in listed:
        line = f"- {skill.name}: {sanitize_line(skill.description)} ({sanitize_line(str(skill.file))})"
        remaining_chars -= len(line)
        if remaining_chars < 0:
            lines.append(f"- and {len(listed) - len(lines)} more")
            break
        lines.append(line)
    return "\n".join(lines)


def render_prompt(skill: Skill, arguments: str, *, as_kimi_cli: bool = False) -> str:
    """Return the prompt for using `skill`. Raises ConfigError.

    With `as_kimi_cli`, the prompt is the whole file, as in Kimi CLI. The system prompt has the file's path.
    """
    markdown = read_markdown(skill.file)
    if as_kimi_cli and skill.model_invocable:
        return substitute_arguments(markdown.source, arguments)
    body = substitute_arguments(markdown.body, arguments)
    folder = sanitize_line(str(skill.file.parent))
    return f"Use the skill “{skill.name}”. Resolve relative paths in it against {folder}.\n\n{body}"
