"""The files of a plan or a comparison as a list: what becomes of each, ticks, and remarks below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, assert_never

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say
from kimi_tui.language.width import padded
from kimi_tui.tui.timeline.marking import on_mark
from kimi_tui.wire.display import DiffBlock
from kimi_tui.wire.timeline import ComparedFile, PlannedAction, PlannedFile, RevertReason, WhoChanged

_WORDS: dict[PlannedAction, tuple[str, str, str]] = {
    "restore": (later("restore"), "$primary", later("It goes back to what it was.")),
    "delete": (later("delete"), "$error", later("The agent made it; it is deleted.")),
    "recreate": (later("recreate"), "$success", later("It was deleted since; it is made again.")),
    "merge": (
        later("merge"),
        "$secondary",
        later("You edited it too: your edits stay, what the agent did is taken out."),
    ),
    "conflict": (
        later("conflict"),
        "bold $warning",
        later("You edited it too, and both can't be had: it stays as it is unless you tick it."),
    ),
    "keep": (
        later("keep"),
        "$text-muted",
        later("It stays as it is unless you tick it."),
    ),
    "not covered": (
        later("not covered"),
        "$warning",
        later("What it was is not known: it stays as it is."),
    ),
}
_AFTER_A_JUMP: dict[PlannedAction, str] = {
    "delete": later("It was not there then; it is deleted."),
    "merge": later("You edited it since: your edits stay, the rest goes back to what it was."),
    "conflict": later("You edited it since, and both can't be had: it stays as it is unless you tick it."),
}
"""Said in plans that take a jump back, or go to another branch: there it was the jump that changed a file."""
_CHANGES: dict[str, tuple[str, str]] = {
    "added": (later("added"), "$success"),
    "removed": (later("removed"), "$error"),
    "changed": (later("changed"), "$primary"),
    "not covered": (later("not covered"), "$warning"),
}
_BY: dict[WhoChanged, str] = {
    "agent": "",
    "you": later("changed by you"),
    "both": later("changed by the agent and by you"),
    "another session": later("changed by another session"),
    "agent and another session": later("changed by the agent and by another session"),
    "": "",
}
_WORD_CELLS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A line of the list."""

    path: str
    word: str
    """What becomes of it, in an English word."""
    style: str
    added: int = 0
    removed: int = 0
    diff: DiffBlock | None = None
    told: str = ""
    """The same in a sentence."""
    note: str = ""
    can_be_ticked: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A line that is no file: a heading, a command."""

    text: str
    style: str = ""
    full: str = ""
    """What is shown of it when it is marked; empty for a heading."""
    is_command: bool = False


Line = Listed | Remark


def planned(file: PlannedFile, reason: RevertReason) -> Listed:
    """A file of a plan that is made for `reason`."""
    word, style, told = _WORDS[file.action]
    if reason in ("undo", "redo", "switch"):
        told = _AFTER_A_JUMP.get(file.action, told)
    return Listed(
        path=file.path,
        word=word,
        style=style,
        added=file.added,
        removed=file.removed,
        diff=file.diff,
        told=told,
        note=" · ".join(
            filter(
                None, (retell(file.note), _changed_by(file) if file.action in ("restore", "delete") else "")
            )
        ),
        can_be_ticked=file.action != "not covered",
    )


def _changed_by(file: PlannedFile | ComparedFile) -> str:
    words = _BY[file.by]
    return say(words) if words else ""


def compared(file: ComparedFile) -> Listed:
    """A file of a comparison."""
    word, style = _CHANGES[file.change]
    return Listed(
        path=file.path,
        word=word,
        style=style,
        added=file.added,
        removed=file.removed,
        diff=file.diff,
        note=" · ".join(filter(None, (retell(file.note), _changed_by(file)))),
    )


class FileList(ScrollView, can_focus=True, inherit_bindings=False):
    """Draws what is in sight. Keys come from the dialog that holds it."""

    DEFAULT_CSS = """
    FileList { height: auto; overflow-x: hidden; scrollbar-size: 1 1; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"files--marked"}

    @dataclass
    class Marked(Message):
        """Another line is marked."""

        line: Line | None

    class Ticked(Message):
        """The ticks have changed."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[Line, ...] = ()
        self._marked = 0
        self.tickable: tuple[str, ...] = ()
        """The paths that can be ticked."""
        self.ticks: set[str] = set()
        """The paths that are ticked."""
        self.dimmed = False
        """Whether the files do not count now, since only the conversation goes back."""

    @property
    def line(self) -> Line | None:
        """The marked line."""
        return self._lines[self._marked] if self._marked < len(self._lines) else None

    def show(self, lines: Sequence[Line], ticks: set[str]) -> None:
        """Show these lines, the first of them marked."""
        self._lines, self.ticks = tuple(lines), ticks
        self.tickable = tuple(line.path for line in lines if isinstance(line, Listed) and line.can_be_ticked)
        self._marked = 0
        self.virtual_size = Size(0, len(self._lines))
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)
        self.post_message(self.Marked(self.line))

    @property
    def has_lines(self) -> bool:
        """Whether anything is listed."""
        return bool(self._lines)

    def mark(self, path: str) -> None:
        """Mark a file."""
        index = next(
            (at for at, it in enumerate(self._lines) if isinstance(it, Listed) and it.path == path), 0
        )
        self.move(index - self._marked)

    def dim(self, dimmed: bool) -> None:
        """Say whether the files count now."""
        self.dimmed = dimmed
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A line each."""
        return max(1, len(self._lines))

    def move(self, lines: int) -> None:
        """Mark another line."""
        if not self._lines:
            return
        self._marked = max(0, min(self._marked + lines, len(self._lines) - 1))
        top, height = round(self.scroll_offset.y), max(self.size.height, 1)
        if not top <= self._marked < top + height:
            self.scroll_to(y=self._marked if self._marked < top else self._marked - height + 1, animate=False)
        self.refresh()
        self.post_message(self.Marked(self.line))

    def tick(self) -> None:
        """Tick the marked file, or take its tick away."""
        line = self.line
        if isinstance(line, Listed) and line.can_be_ticked and not self.dimmed:
            self.ticks ^= {line.path}
            self.refresh()
            self.post_message(self.Ticked())

    def tick_all(self) -> None:
        """Tick every file; none when every one is ticked."""
        every = set(self.tickable)
        if not self.dimmed:
            self.ticks = set() if self.ticks >= every else every
            self.refresh()
            self.post_message(self.Ticked())

    def on_click(self, event: events.Click) -> None:
        """Mark what is under the mouse; a click on its box, or a double click, ticks it."""
        event.stop()
        index = event.y + round(self.scroll_offset.y)
        if index < len(self._lines):
            self.move(index - self._marked)
            if event.x < 4 or event.chain == 2:
                self.tick()

    def render_line(self, y: int) -> Strip:
        """Line `y` of what is in sight."""
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_offset.y)
        if index >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        style = self.visual_style
        line = self._drawn(self._lines[index], width)
        if index == self._marked:
            style = self.get_visual_style("files--marked")
            line = on_mark(line, self, "files--marked")
        return Visual.to_strips(self, line, width, 1, style, pad=True)[0]

    def _drawn(self, line: Line, width: int) -> Content:
        match line:
            case Remark(text=text, style=style):
                return Content.styled(plain_line(text), style).truncate(width, ellipsis=True, pad=True)
            case Listed():
                return self._drawn_file(line, width)
            case _:
                assert_never(line)

    def _drawn_file(self, line: Listed, width: int) -> Content:
        box: tuple[str, str] | str = ""
        if self.tickable:
            ticked = line.path in self.ticks and not self.dimmed
            box = ("[✔] " if ticked else "[ ] ", "$success" if ticked else "$text-muted")
            box = box if line.can_be_ticked else ("    ", "")
        counts = Content.assemble(
            (f" +{line.added}" if line.added else "", "$success"),
            (f" −{line.removed}" if line.removed else "", "$error"),
        )
        faint = "$foreground 45%" if self.dimmed else ""
        text = Content.assemble(
            box,
            (padded(say(line.word), _WORD_CELLS), faint or line.style),
            (plain_line(line.path), faint),
            (f"  {plain_line(line.note)}" if line.note else "", "$text-muted"),
        )
        room = max(width - counts.cell_length, 8)
        return Content.assemble(text.truncate(room, ellipsis=True, pad=True), counts)
