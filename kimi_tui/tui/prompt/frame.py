"""The prompt's frame: whom the user talks to, what the agent does, and what can be clicked."""

from collections.abc import Callable
from pathlib import Path

from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.language.saying import later, say
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.prompt.activity import ActivityEdge
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.prompt.marks import LowerEdge
from kimi_tui.tui.prompt.mode import PromptMode
from kimi_tui.tui.state import ScreenState

PLACEHOLDERS: dict[PromptMode, str] = {
    "agent": later("Ask anything   / commands   @ files"),
    "shell": later("Run a command in your shell"),
}
_ONLY_READ = later("Only read here   /write goes on with it")


class Frame:
    """Draws all of the prompt but what the user writes."""

    def __init__(
        self,
        prompt: Widget,
        *,
        editor: Callable[[], PromptEditor],
        names: KeyNames,
        clock: Callable[[], float],
        work_dir: Path,
    ) -> None:
        """`prompt` holds the mark `#prompt-mark`, and has the action `press` of `LowerEdge`."""
        self._prompt = prompt
        self._editor = editor
        self._work_dir = work_dir
        self._edge = ActivityEdge(prompt, names=names, clock=clock)
        self._lower_edge = LowerEdge(prompt, names=names)

    def follow(self, old: ScreenState, state: ScreenState, mode: PromptMode) -> None:
        """The session's state has changed."""
        if old.read_only != state.read_only:
            self._show_whom(state, mode)
        before = (old.turn, old.sent, old.compacting, old.requests)
        if before != (state.turn, state.sent, state.compacting, state.requests):
            self._prompt.set_class(state.busy, "-working")
            self._prompt.set_class(bool(state.requests), "-waiting")
            self._edge.follow(state)
        self.show_marks(state, mode)

    def show_mode(self, state: ScreenState, mode: PromptMode) -> None:
        """Somebody else is talked to."""
        self._prompt.set_class(mode == "shell", "-shell")
        self._prompt.query_one("#prompt-mark", Static).update("$" if mode == "shell" else "❯")
        self._show_whom(state, mode)
        self.show_marks(state, mode)

    def keyboard_moved(self) -> None:
        """Another widget has the keyboard, whose keys may do other things."""
        self._edge.keyboard_moved()

    def show_marks(self, state: ScreenState, mode: PromptMode) -> None:
        """The text, or the room for the marks, may be another."""
        place = state.shell_dir or str(self._work_dir)
        self._lower_edge.follow(state, text=self._editor().text, mode=mode, place=place)

    def _show_whom(self, state: ScreenState, mode: PromptMode) -> None:
        only_read = mode == "agent" and state.read_only
        self._editor().placeholder = say(_ONLY_READ if only_read else PLACEHOLDERS[mode])
