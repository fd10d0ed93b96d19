"""From what a program asks for to the options of an engine, with the config files that hold for users."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import UsageError
from kimi_tui.base.paths import make_private_dir, share_dir
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.own_tools import OwnTool
from kimi_tui.tools.mcp.sources import McpWish


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What `KimiTui.create` was asked for; its documentation says what each is."""

    work_dir: Path
    share_dir: Path | None = None
    model: str | None = None
    demo: bool = False
    thinking: bool | None = None
    compaction: CompactionStrategy | str | None = None
    agent: str | Path | None = None
    session: str | None = None
    continue_last: bool = False
    fork: bool = False
    add_dirs: Sequence[Path] = ()
    skills_dirs: Sequence[Path] = ()
    mcp: Mapping[str, Any] | None = None
    tools: Sequence[OwnTool] = ()
    yolo: bool = False
    plan: bool | None = None
    sandbox: bool | None = None
    max_steps: int | None = None
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def options_of(wish: Wish) -> EngineOptions:
    """Read the settings and resolve the places.

    The config of a project that the user hasn't been asked about is left out, as in print mode. Raises
    ConfigError, and UsageError for a folder that isn't there.
    """
    home = (wish.share_dir or share_dir()).expanduser()
    make_private_dir(home)
    home = home.resolve()
    work_dir = _folder(wish.work_dir)
    config = read_config(share_dir=home, work_dir=work_dir, options=_over_all_others(wish))
    texts = (json.dumps({"mcpServers": dict(wish.mcp)}),) if wish.mcp else ()
    return EngineOptions(
        settings=settings_of(config),
        share_dir=home,
        work_dir=work_dir,
        additional_dirs=tuple(map(_folder, wish.add_dirs)),
        session_id=wish.session,
        continue_last=wish.continue_last,
        fork=wish.fork,
        agent=wish.agent if isinstance(wish.agent, str) else None,
        agent_file=wish.agent.expanduser().resolve() if isinstance(wish.agent, Path) else None,
        skills_dirs=tuple(map(_folder, wish.skills_dirs)),
        model=wish.model,
        demo=wish.demo,
        thinking=wish.thinking,
        yolo=wish.yolo,
        plan=wish.plan,
        mcp=McpWish(texts),
        tools=tuple(wish.tools),
        compaction=None if isinstance(wish.compaction, str) else wish.compaction,
        max_cost_usd=wish.max_cost_usd,
        max_time_s=wish.max_time_s,
        interactive=False,
    )


def _over_all_others(wish: Wish) -> dict[str, Any]:
    settings = dict(wish.settings)
    if isinstance(wish.compaction, str):
        settings["compaction"] = {**settings.get("compaction", {}), "strategy": wish.compaction}
    if wish.sandbox is not None:
        settings["sandbox"] = {**settings.get("sandbox", {}), "enabled": wish.sandbox}
    if wish.max_steps is not None:
        settings["loop_control"] = {
            **settings.get("loop_control", {}),
            "max_steps_per_turn": wish.max_steps,
        }
    return settings


def _folder(path: Path) -> Path:
    resolved = path.expanduser().resolve()
    if not resolved.is_dir():
        problem = "is no folder" if resolved.exists() else "doesn't exist"
        raise UsageError(f"{path} {problem}.", hint="Name a folder that is there.")
    return resolved
