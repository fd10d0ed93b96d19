"""System prompts: `${NAME}` replaced by what the session and the agent know. `$$` is a dollar sign."""

import getpass
import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from kimi_tui.agentspec.document import nearest
from kimi_tui.agentspec.folder import list_folder, readable
from kimi_tui.agentspec.instructions import project_instructions
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value

_PREFIX = "KIMI_"
_NOTHING = "(none)"
_REFERENCE = re.compile(r"\$(?:\$|\{(?P<name>[^}\n]*)(?P<end>\}?))")


@value(kw_only=True)
class PromptVariables:
    """What a session knows of where it is. Each is a prompt variable: its name in capitals after `KIMI_`."""

    now: str
    """Local time with its offset, to the minute: rendered once a session."""
    work_dir: str
    work_dir_ls: str
    platform: str
    """System, release and machine."""
    os: str
    shell: str
    user: str
    agents_md: str
    skills: str
    additional_dirs_info: str

    @classmethod
    def collect(
        cls,
        work_dir: Path,
        *,
        additional_dirs: Sequence[Path] = (),
        skills: str = "",
        now: datetime | None = None,
    ) -> "PromptVariables":
        """Look around. Reads at most a few folders and the AGENTS.md files."""
        return cls(
            now=(now or datetime.now(tz=UTC)).astimezone().isoformat(timespec="minutes"),
            work_dir=readable(work_dir),
            work_dir_ls=list_folder(work_dir),
            platform=f"{platform.system()} {platform.release()} {platform.machine()}",
            os={"Darwin": "macOS"}.get(platform.system(), platform.system()),
            shell=_shell(),
            user=_user(),
            agents_md=project_instructions(work_dir) or _NOTHING,
            skills=skills or _NOTHING,
            additional_dirs_info="\n\n".join(map(_folder_info, additional_dirs)) or _NOTHING,
        )

    def by_name(self) -> Mapping[str, str]:
        """The values by the names that prompts use."""
        return {f"{_PREFIX}{field.name.upper()}": getattr(self, field.name) for field in fields(self)}


def render_prompt(spec: ResolvedAgentSpec, variables: PromptVariables) -> str:
    """The system prompt of `spec`. Values are put in as they are: a `${...}` in them stays.

    Raises ConfigError that names an unknown variable with file and line.
    """
    known = {**spec.vars, **variables.by_name()}

    def value(match: re.Match[str]) -> str:
        if match["name"] is None:
            return "$"
        name = match["name"].strip()
        if match["end"] and name in known:
            return known[name]
        line = spec.system_prompt_template.count("\n", 0, match.start()) + 1
        raise ConfigError(
            f"{spec.system_prompt_path}, line {line}: there is no variable “{plain_line(name)}”.",
            hint=f"{nearest(name, known, what='variables')} A `$${{` stands for the text `${{`.",
        )

    return _REFERENCE.sub(value, spec.system_prompt_template).strip()


def _shell() -> str:
    """The shell that commands run in."""
    if os.name == "nt":
        return f"cmd ({os.environ.get('COMSPEC', 'cmd.exe')})"
    path = shutil.which("bash") or "/bin/sh"
    return f"{Path(path).name} ({path})"


def _user() -> str:
    try:
        return plain_line(getpass.getuser())
    except (KeyError, OSError):  # a container may run as a user without a name
        return "unknown"


def _folder_info(folder: Path) -> str:
    return f"{readable(folder)}:\n{list_folder(folder)}"
