"""Conversion of the options of `KimiTui.create`, with the user's config files, to engine options."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir, make_private_dir
from kimi_tui.base.thinking_effort import THINKING_EFFORTS, ThinkingEffort, parse_thinking_effort
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.engine.build.host_tools import HostTool
from kimi_tui.engine.options import EngineOptions
from kimi_tui.mcp.config_discovery import McpSelection


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Options of `KimiTui.create`; documented there."""

    work_dir: Path
    data_dir: Path | None = None
    model: str | None = None
    demo: bool = False
    thinking: bool | ThinkingEffort | None = None
    compaction: CompactionStrategy | str | None = None
    agent: str | Path | None = None
    session: str | None = None
    continue_last: bool = False
    fork: bool = False
    add_dirs: Sequence[Path] = ()
    skills_dirs: Sequence[Path] = ()
    mcp: Mapping[str, Any] | None = None
    tools: Sequence[HostTool] = ()
    yolo: bool = False
    plan: bool | None = None
    sandbox: bool | None = None
    max_steps: int | None = None
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def engine_options(agent_options: AgentOptions) -> EngineOptions:
    """Read the settings and resolve the paths.

    Project config that the user hasn't approved is ignored, as in print mode. Raises ConfigError, and
    UsageError if a directory doesn't exist.
    """
    home = (agent_options.data_dir or data_dir()).expanduser()
    make_private_dir(home)
    home = home.resolve()
    work_dir = _resolve_directory(agent_options.work_dir)
    config = read_config(data_dir=home, work_dir=work_dir, options=_override_settings(agent_options))
    mcp_configs = (json.dumps({"mcpServers": dict(agent_options.mcp)}),) if agent_options.mcp else ()
    return EngineOptions(
        settings=settings_of(config),
        data_dir=home,
        work_dir=work_dir,
        additional_dirs=tuple(map(_resolve_directory, agent_options.add_dirs)),
        session_id=agent_options.session,
        continue_last=agent_options.continue_last,
        fork=agent_options.fork,
        agent=agent_options.agent if isinstance(agent_options.agent, str) else None,
        agent_file=agent_options.agent.expanduser().resolve()
        if isinstance(agent_options.agent, Path)
        else None,
        skills_dirs=tuple(map(_resolve_directory, agent_options.skills_dirs)),
        model=agent_options.model,
        demo=agent_options.demo,
        thinking=_parse_thinking(agent_options.thinking),
        yolo=agent_options.yolo,
        plan=agent_options.plan,
        mcp=McpSelection(mcp_configs),
        tools=tuple(agent_options.tools),
        compaction=None if isinstance(agent_options.compaction, str) else agent_options.compaction,
        max_cost_usd=agent_options.max_cost_usd,
        max_time_s=agent_options.max_time_s,
        interactive=False,
        generates_title=False,
        runs_checks=False,
    )


def _parse_thinking(value: bool | ThinkingEffort | None) -> ThinkingEffort | None:
    """Convert `value` to a thinking level. Raises UsageError if `value` is invalid."""
    if value is None:
        return None
    effort = parse_thinking_effort(value)
    if effort is None:
        raise UsageError(
            msg("Invalid thinking level “{value}”.", value=value),
            hint=msg("Use one of {names}.", names=", ".join(THINKING_EFFORTS)),
        )
    return effort


def _override_settings(agent_options: AgentOptions) -> dict[str, Any]:
    settings = dict(agent_options.settings)
    if isinstance(agent_options.compaction, str):
        settings["compaction"] = {**settings.get("compaction", {}), "strategy": agent_options.compaction}
    if agent_options.sandbox is not None:
        settings["sandbox"] = {**settings.get("sandbox", {}), "enabled": agent_options.sandbox}
    if agent_options.max_steps is not None:
        settings["loop_control"] = {
            **settings.get("loop_control", {}),
            "max_steps_per_turn": agent_options.max_steps,
        }
    return settings


def _resolve_directory(path: Path) -> Path:
    resolved = path.expanduser().resolve()
    if not resolved.is_dir():
        problem = "isn't a directory" if resolved.exists() else "doesn't exist"
        raise UsageError(f"{path} {problem}.", hint="Use an existing directory.")
    return resolved
