"""Options of the full-screen app."""

import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.config.startup_settings import ImageMode, NotifyMode, ThinkingDisplay
from kimi_tui.frontend.clipboard import Clipboard, SystemClipboard
from kimi_tui.frontend.fleet.opened_task import FleetTaskOpener
from kimi_tui.frontend.running_session_service import RunningSessionService
from kimi_tui.tui.session_request import FleetVisit, SessionRequest
from kimi_tui.tui.terminal.background import KnownBackground
from kimi_tui.wire.channel import Wire


@frozen(kw_only=True)
class TuiOptions:
    """Settings and command-line options of the full-screen app, resolved."""

    work_dir: Path
    data_dir: Path
    theme: str = "auto"
    """Name of a theme, which may not exist."""
    background: KnownBackground = field(default_factory=KnownBackground)
    """The terminal's background, for the theme `auto`."""
    early_input: str = ""
    """Keys typed before the app could receive them."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by binding id. Several keys are separated by commas. Overrides `tui.keys`."""
    mouse: bool = True
    reduced_motion: bool = False
    """Disables spinners and animated scrolling."""
    inline: bool = False
    """Draws the app on the terminal's normal screen and writes finished turns to its scrollback."""
    keep_transcript: bool = False
    """Prints the conversation to the terminal on exit."""
    images: ImageMode = "auto"
    """How to show images."""
    thinking: ThinkingDisplay = "preview"
    """How to show the model's thinking."""
    notify: NotifyMode = "auto"
    """How to notify a user whose terminal isn't focused."""
    serve_session: Callable[[SessionRequest, Wire], Coroutine[Any, Any, None]] | None = None
    """Starts the engine of another session behind a wire. None if only one session can be opened."""
    task_opener: FleetTaskOpener | None = None
    """Opens tasks of fleets. None if only one session can be opened."""
    running_sessions: RunningSessionService | None = None
    """The open sessions of this user. None if only one session can be opened."""
    fleet_visit: FleetVisit | None = None
    """The open task of a fleet. None if the session isn't a fleet's task."""
    config_file: Path | None = None
    """Config file for choices such as the theme. If None, choices aren't saved."""
    choose_session: SessionRequest | None = None
    """If set, let the user choose a session when the app is ready. The request has the options to open it."""
    initial_prompt: str = ""
    """Prompt to send as soon as the app is ready."""
    initial_checkpoint: int | None = None
    """Checkpoint to show in the timeline as soon as the session is open."""
    version: str = ""
    clipboard: Clipboard = field(default_factory=SystemClipboard)
    letter_pause_s: float = 0.3
    """Seconds to wait after a letter that answers a request. If another key follows, the letters are text,
    not an answer.
    """
    clock: Callable[[], float] = time.monotonic
    """Monotonic time in seconds."""
    wall_clock: Callable[[], float] = time.time
    """Seconds since the epoch, for ages such as "5 min ago"."""
