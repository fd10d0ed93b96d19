"""What the app is opened with."""

import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.value import value
from kimi_tui.config.appearance import Images, Notify
from kimi_tui.tui.clipboard import Clipboard, SystemClipboard
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.wire.channel import Wire

ThemeChoice = Literal["auto", "dark", "light", "high-contrast"]


@value(kw_only=True)
class TuiOptions:
    """The front end's share of the settings and the command line, resolved."""

    work_dir: Path
    share_dir: Path
    theme: ThemeChoice = "auto"
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Binding ids to keys, several separated by commas; overrides `tui.keys`."""
    mouse: bool = True
    reduced_motion: bool = False
    """Nothing moves by itself: no spinner, no animated scrolling."""
    inline: bool = False
    """The app is drawn on the terminal's ordinary screen, and turns go to its scrollback as they end."""
    keeps_transcript: bool = False
    """What was said is left on the terminal when the app has gone."""
    images: Images = "auto"
    """How pictures are shown."""
    notify: Notify = "auto"
    """How a user who looks elsewhere is called."""
    reopen: Callable[[SessionWish, Wire], Coroutine[Any, Any, None]] | None = None
    """Serves another session behind a wire; None where there is only the one."""
    config_file: Path | None = None
    """Where choices are kept that later runs should find; None to keep none."""
    initial_prompt: str = ""
    """Sent as soon as the app is up."""
    version: str = ""
    clipboard: Clipboard = field(default_factory=SystemClipboard)
    letter_pause_s: float = 0.3
    """How long a letter that answers what is asked waits for a second one: who writes a sentence has typed it
    by then, who answers hardly notices."""
    clock: Callable[[], float] = time.monotonic
    """Seconds, for elapsed times."""
    wall_clock: Callable[[], float] = time.time
    """Seconds since the epoch, for how long ago something was."""
