"""Skills: folders with a SKILL.md that says how a kind of work is done (agentskills.io)."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.base.value import value
from kimi_tui.library.expansion import with_arguments
from kimi_tui.library.front_matter import read_markdown
from kimi_tui.library.places import folders_up

SKILL_FILE = "SKILL.md"
LONGEST_DESCRIPTION = 1024
MOST_SKILLS = 500
LONGEST_LIST = 20_000
"""Characters of the list that a system prompt has."""
_NAME = re.compile(r"[\w-]{1,64}")
_PROJECT_FOLDERS = (".kimi-tui/skills", ".kimi/skills", ".claude/skills", ".codex/skills", ".agents/skills")
_USER_FOLDERS = (
    ".kimi/skills", ".claude/skills", ".codex/skills", ".config/agents/skills", ".agents/skills",
)  # fmt: skip


@value(kw_only=True)
class Skill:
    """A skill that can be used."""

    name: str
    description: str
    file: Path
    """Its SKILL.md."""
    for_the_model: bool = True
    """Whether the model is told of it and may use it by itself."""
    for_the_user: bool = True
    """Whether it is a slash command."""


@value
class FoundSkills:
    """The skills there are, and what kept others from being among them."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[ConfigError, ...] = ()


def skill_folders(
    *, work_dir: Path, share_dir: Path, home: Path, extra: Iterable[Path] = ()
) -> tuple[Path, ...]:
    """Where skills are looked for; of two of one name that of the earlier folder counts.

    As in kimi-cli: the project's, from the work dir up to the repository's root, then the user's, then the
    `extra` ones; ours before those of other programs, and `.agents` last.
    """
    project = (folder / name for folder in folders_up(work_dir) for name in _PROJECT_FOLDERS)
    user = (share_dir / "skills", *(home / name for name in _USER_FOLDERS))
    return tuple(dict.fromkeys((*project, *user, *extra)))


def find_skills(folders: Iterable[Path]) -> FoundSkills:
    """The skills in `folders`, by name. A broken one costs itself."""
    found: dict[str, Skill] = {}
    problems: list[ConfigError] = []
    for folder in folders:
        for file in _skill_files(folder):
            if len(found) == MOST_SKILLS:
                break
            try:
                skill = read_skill(file)
            except ConfigError as error:
                problems.append(error)
            else:
                found.setdefault(skill.name, skill)
    return FoundSkills(tuple(found[name] for name in sorted(found)), tuple(problems))


def read_skill(file: Path) -> Skill:
    """The skill that a SKILL.md describes. Raises ConfigError that names the file."""
    markdown = read_markdown(file)
    name = markdown.text("name") or file.parent.name
    if not _NAME.fullmatch(name):
        raise ConfigError(
            plain(f"{file}: a skill can't be called “{plain_line(name)}”."),
            hint="Use up to 64 letters, digits, `-` and `_`.",
        )
    if not markdown.body:
        raise ConfigError(plain(f"{file}: the skill says nothing."), hint="Write what is to be done.")
    return Skill(
        name=name,
        description=(markdown.text("description") or markdown.first_line)[:LONGEST_DESCRIPTION],
        file=file,
        for_the_model=not markdown.flag("disable-model-invocation", default=False),
        for_the_user=markdown.flag("user-invocable", default=True),
    )


def listed(skills: Sequence[Skill]) -> str:
    """The skills as a system prompt lists them; empty without any."""
    lines: list[str] = []
    left = LONGEST_LIST
    shown = [skill for skill in skills if skill.for_the_model]
    for skill in shown:
        line = f"- {skill.name}: {plain_line(skill.description)} ({plain_line(str(skill.file))})"
        left -= len(line)
        if left < 0:
            lines.append(f"- and {len(shown) - len(lines)} more")
            break
        lines.append(line)
    return "\n".join(lines)


def prompt_of(skill: Skill, arguments: str) -> str:
    """What is said to the model when the user asks for `skill`. Raises ConfigError."""
    body = with_arguments(read_markdown(skill.file).body, arguments)
    folder = plain_line(str(skill.file.parent))
    return f"Use the skill “{skill.name}”. Relative paths in it begin in {folder}.\n\n{body}"


def _skill_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.glob(f"*/{SKILL_FILE}"))
    except OSError:
        return []
