"""Options of a session."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.config.loader import read_config
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.settings import Settings
from kimi_tui.engine.build.host_tools import HostTool
from kimi_tui.engine.session.open import SessionSelector
from kimi_tui.mcp.config_discovery import McpSelection
from kimi_tui.tools.file.client_editor import NO_EDITOR, Editor
from kimi_tui.tools.shell.client_terminals import NO_TERMINALS, Terminals


@frozen(kw_only=True)
class EngineOptions:
    """Options and settings of a session, after precedence between their sources is resolved."""

    settings: Settings
    settings_problems: tuple[KimiTuiError, ...] = ()
    """Errors in the sources of `settings`, for the user. The invalid parts were skipped."""
    config_reader: Callable[[], RawConfig] | None = None
    """Reads the config again. None: read only the default config files."""
    data_dir: Path
    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()
    session_id: str | None = None
    """Session to resume."""
    continue_last: bool = False
    """Resume the latest session of the working directory. Without one, create a session."""
    fork: bool = False
    """Resume a copy of the session."""
    create_session: bool = False
    """Create a session with `session_id` if none exists."""
    read_only: bool = False
    """Open the session read-only. Another process may be writing it."""
    agent: str | None = None
    """Agent name. None: the session's previous agent, or the default one."""
    agent_file: Path | None = None
    """Agent file, used instead of `agent`."""
    skills_dirs: tuple[Path, ...] = ()
    """Directories to load skills from, instead of the project's and the user's directories."""
    home_dir: Path | None = None
    """Directory that contains other programs' user directories. None: the home directory."""
    model: str | None = None
    """Name under `[models]`. None: the default model."""
    allow_no_model: bool = False
    """Whether to open the session without a usable model, so that the user can connect one."""
    demo: bool = False
    thinking: ThinkingEffort | None = None
    """Thinking effort. None: the one in `settings`."""
    yolo: bool = False
    afk: bool = False
    """Whether the agent's questions are dismissed, because no user is there to answer them."""
    plan: bool | None = None
    """Whether to start in plan mode. None: the session's previous mode."""
    mcp: McpSelection = field(default_factory=McpSelection)
    """MCP servers requested in addition to those in the config files."""
    editor: Editor = NO_EDITOR
    """Editor that the user has files open in."""
    terminals: Terminals = NO_TERMINALS
    """Terminals in which the user can watch commands run."""
    tools: tuple[HostTool, ...] = ()
    """Tools provided by the host program."""
    compaction: CompactionStrategy | None = None
    """Compaction strategy. None: the one in `settings`."""
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    generates_title: bool = True
    """Whether the model may generate a title, if `session_titles` allows it.

    False for sessions that end before the title could be used.
    """
    runs_checks: bool = True
    """Whether the configured check runs after steps. False for sessions that end before its result is shown.
    """
    interactive: bool = True
    """Whether a user is present. Otherwise the session's previous yolo mode is ignored."""

    @property
    def session_selector(self) -> SessionSelector:
        """Session to open."""
        return SessionSelector(
            data_dir=self.data_dir,
            work_dir=self.work_dir,
            session_id=self.session_id,
            continue_last=self.continue_last,
            fork=self.fork,
            create=self.create_session,
        )

    def reread_config(self) -> RawConfig:
        """Return the current config. Raises ConfigError."""
        if self.config_reader is not None:
            return self.config_reader()
        return read_config(data_dir=self.data_dir, work_dir=self.work_dir)
