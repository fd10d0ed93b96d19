"""Rendering of system prompts: `${NAME}` becomes a variable's value, and `$$` a dollar sign."""

import getpass
import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from kimi_tui.agentspec.directory_listing import directory_listing, printable_name
from kimi_tui.agentspec.project_instructions import project_instructions
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.agentspec.yaml_document import suggestion_hint
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.session_start import local_time

_PREFIX = "KIMI_"
_NONE_TEXT = "(none)"
_REFERENCE = re.compile(r"\$(?:\$|\{(?P<name>[^}\n]*)(?P<end>\}?))")


@frozen(kw_only=True)
class PromptVariables:
    """Prompt variables of a session. Each variable is named `KIMI_` and the field's name in capitals."""

    now: str
    """Local time when the session began, to the minute, with UTC offset."""
    work_dir: str
    work_dir_ls: str
    """Contents of the working directory when the session began."""
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
        now: str | None = None,
        work_dir_ls: str | None = None,
    ) -> "PromptVariables":
        """Return the variables. Missing values come from the system, the directories and AGENTS.md."""
        return cls(
            now=now or local_time(),
            work_dir=printable_name(work_dir),
            work_dir_ls=directory_listing(work_dir) if work_dir_ls is None else work_dir_ls,
            platform=f"{platform.system()} {platform.release()} {platform.machine()}",
            os={"Darwin": "macOS"}.get(platform.system(), platform.system()),
            shell=_shell(),
            user=_user(),
            agents_md=project_instructions(work_dir) or _NONE_TEXT,
            skills=skills or _NONE_TEXT,
            additional_dirs_info="\n\n".join(map(_folder_info, additional_dirs)) or _NONE_TEXT,
        )

    def by_name(self) -> Mapping[str, str]:
        """Return the values by variable name."""
        return {f"{_PREFIX}{field.name.upper()}": getattr(self, field.name) for field in fields(self)}


def render_prompt(spec: ResolvedAgentSpec, variables: PromptVariables) -> str:
    """Return the system prompt of `spec`. A `${...}` in a variable's value isn't expanded.

    Raises: ConfigError for an unknown variable, with file and line.
    """
    known = {**spec.vars, **variables.by_name()}

    def replacement(match: re.Match[str]) -> str:
        if match["name"] is None:
            return "$"
        name = match["name"].strip()
        if match["end"] and name in known:
            return known[name]
        line = spec.system_prompt_template.count("\n", 0, match.start()) + 1
        raise ConfigError(
            msg(
                "{path}, line {line}: unknown variable “{name}”.",
                path=spec.system_prompt_path,
                line=line,
                name=sanitize_line(name),
            ),
            hint=msg(
                "{suggestion} Write `$${{` for a literal `${{`.",
                suggestion=suggestion_hint(name, known, what="variables"),
            ),
        )

    return _REFERENCE.sub(replacement, spec.system_prompt_template).strip()


def _shell() -> str:
    """Return the shell that runs commands."""
    if os.name == "nt":
        return f"cmd ({os.environ.get('COMSPEC', 'cmd.exe')})"
    path = shutil.which("bash") or "/bin/sh"
    return f"{Path(path).name} ({path})"


def _user() -> str:
    try:
        return sanitize_line(getpass.getuser())
    except (KeyError, OSError):  # in a container, the user may have no name
        return "unknown"


def _folder_info(folder: Path) -> str:
    return f"{printable_name(folder)}:\n{directory_listing(folder)}"
