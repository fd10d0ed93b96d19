"""What a session is opened with."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from kimi_tui.base.value import value
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.config.loading import RawConfig, read_config
from kimi_tui.config.settings import Settings
from kimi_tui.engine.opened import WantedSession
from kimi_tui.engine.own_tools import OwnTool
from kimi_tui.tools.file.editor import NO_EDITOR, Editor
from kimi_tui.tools.mcp.sources import McpWish
from kimi_tui.tools.shell.terminals import NO_TERMINALS, Terminals


@value(kw_only=True)
class EngineOptions:
    """Settings and options, resolved: what wins over what is decided before the engine sees them."""

    settings: Settings
    reread: Callable[[], RawConfig] | None = None
    """Reads again what `settings` were made of; None for the standing places alone."""
    share_dir: Path
    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()
    session_id: str | None = None
    """A session to resume."""
    continue_last: bool = False
    """Resume the session last used in the work dir; a new one when there is none."""
    fork: bool = False
    """Go on in a copy of the session to resume."""
    read_only: bool = False
    """Only read the session to resume, which another process may write."""
    agent: str | None = None
    """The name of an agent; None for the one that the session had, or the default one."""
    agent_file: Path | None = None
    """The file of an agent, instead of a name."""
    skills_dirs: tuple[Path, ...] = ()
    """Where skills are looked for instead of in the project's and the user's folders."""
    home_dir: Path | None = None
    """Where the user's folders of other programs are; None for the home folder."""
    model: str | None = None
    """A name under `[models]`; None for the default model."""
    may_lack_model: bool = False
    """Whether a session opens though its model can't be used: where the user can connect one."""
    demo: bool = False
    thinking: bool | None = None
    yolo: bool = False
    plan: bool | None = None
    """Whether to begin in plan mode; None: as the session was left."""
    mcp: McpWish = field(default_factory=McpWish)
    """The MCP servers that are asked for besides those of the config files."""
    editor: Editor = NO_EDITOR
    """Where the user has files open."""
    terminals: Terminals = NO_TERMINALS
    """Where the user watches commands run."""
    tools: tuple[OwnTool, ...] = ()
    """Tools of the program that opens the session."""
    compaction: CompactionStrategy | None = None
    """None for the strategy that the settings name."""
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    interactive: bool = True
    """Whether somebody is there to answer. If nobody is, yolo holds only when it is asked for anew."""

    @property
    def wanted(self) -> WantedSession:
        """Which session to open."""
        return WantedSession(
            share_dir=self.share_dir,
            work_dir=self.work_dir,
            session_id=self.session_id,
            continue_last=self.continue_last,
            fork=self.fork,
        )

    def read_again(self) -> RawConfig:
        """The config as its places have it now. Raises ConfigError."""
        if self.reread is not None:
            return self.reread()
        return read_config(share_dir=self.share_dir, work_dir=self.work_dir)
