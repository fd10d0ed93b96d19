"""Time of the user's last key, so that no widget takes the focus while the user types."""

from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox


class TypingActivity:
    """Records key presses on the main screen."""

    def __init__(self, *, prompt: PromptBox, options: TuiOptions) -> None:
        self._prompt = prompt
        self._clock = options.clock
        self._typed_at = -1e9

    def record(self) -> None:
        """Record a key press."""
        self._typed_at = self._clock()

    @property
    def idle_s(self) -> float | None:
        """Seconds since the last key. None while the prompt contains a draft."""
        return self._clock() - self._typed_at if self._prompt.is_blank else None
