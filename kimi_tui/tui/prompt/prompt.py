"""The prompt: where the user writes, with history, completions and a draft that survives."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, assert_never

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive, var
from textual.widgets import Static

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.terminal import plain
from kimi_tui.language.saying import say
from kimi_tui.tui.images.reading import photo_in, picture_path
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.attachments import Attachments
from kimi_tui.tui.prompt.completing import Completing
from kimi_tui.tui.prompt.completions import Completions
from kimi_tui.tui.prompt.doorway import Doorway
from kimi_tui.tui.prompt.draft_keeper import DraftKeeper
from kimi_tui.tui.prompt.drafts import Draft, DraftStore, Orphan
from kimi_tui.tui.prompt.editor import EditorAction, PromptEditor
from kimi_tui.tui.prompt.frame import PLACEHOLDERS, Frame
from kimi_tui.tui.prompt.history import HistoryWalk, InputHistory
from kimi_tui.tui.prompt.mode import PromptMode
from kimi_tui.tui.prompt.shell_line import ShellLine, shell_line
from kimi_tui.tui.state import ScreenState


class Prompt(Vertical):
    """The editor in its frame. The frame's upper edge tells what the agent does."""

    DEFAULT_CSS = """
    Prompt { height: auto; }
    Prompt > Horizontal { height: auto; }
    Prompt #prompt-mark { width: 2; height: 1; }
    """

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)
    mode: var[PromptMode] = var[PromptMode]("agent")
    """Whom the user talks to."""

    editor = getters.query_one(PromptEditor)
    completions = getters.query_one(Completions)

    @dataclass
    class Submitted(Message):
        """The user wants to send this."""

        text: str
        draft: Draft
        """The same as it stood in the editor, to give back when it can't be sent."""

    @dataclass
    class Steered(Message):
        """The user wants to say this to the running turn."""

        text: str
        draft: Draft

    @dataclass
    class Commanded(Message):
        """The user wants this to run in their shell."""

        line: ShellLine
        draft: Draft

    class Emptied(Message):
        """What stood in the editor was sent, or taken away."""

    class EditorPressed(Message):
        """The user wants to write in their own editor."""

    class ExitPressed(Message):
        """The user wants to leave."""

    class SearchPressed(Message):
        """The user wants to search the history."""

    class PastePressed(Message):
        """The user wants what the clipboard holds."""

    class MenuPressed(Message):
        """The user wants to choose what else the prompt is to do."""

    class TakeBackPressed(Message):
        """The user wants the last queued prompt back, to edit it."""

    def __init__(self, *, options: TuiOptions, names: KeyNames) -> None:
        super().__init__()
        self._options = options
        self._names = names
        self._frame = Frame(
            self, editor=lambda: self.editor, names=names, clock=options.clock, work_dir=options.work_dir
        )
        self.history = InputHistory(share_dir=options.share_dir, work_dir=options.work_dir)
        self._walk = HistoryWalk(self.history)
        self._drafts = DraftStore(share_dir=options.share_dir, work_dir=options.work_dir)
        self.attachments = Attachments(
            owner=self,
            editor=lambda: self.editor,
            session=lambda: self.state.session,
            drafts=self._drafts,
            work_dir=options.work_dir,
        )
        self.keeper = DraftKeeper(self._drafts, owner=self, draft=lambda: self.unsent)
        self.doorway = Doorway(self.post_message)
        self._was_blank = True
        self._on_way: list[tuple[str, Draft]] = []
        """What was taken out of the editor, and is neither sent nor given back yet."""
        self._completing = Completing(
            editor=lambda: self.editor, completions=lambda: self.completions, mode=lambda: self.mode
        )

    def compose(self) -> ComposeResult:
        """The editor and, over what is above it, the completions."""
        yield Completions(work_dir=self._options.work_dir)
        with Horizontal():
            yield Static("❯", id="prompt-mark", markup=False)
            yield PromptEditor(
                placeholder=PLACEHOLDERS["agent"],
                names=self._names,
                act=self.act,
                pasted=self._paste,
                is_completing=lambda: self.completions.completing is not None,
            )

    def _paste(self, text: str) -> None:
        if not text.strip():
            self.doorway.send(self.PastePressed())  # what terminals send when a picture is pasted
        elif (path := picture_path(text, self._options.work_dir)) is not None:
            self.run_worker(self.attachments.attach(partial(photo_in, path)), group="picture")
        else:
            self.editor.insert_pasted(text)

    # what stands in the editor

    def load(self) -> Orphan | None:
        """Read the history, and the draft that a dead process left. Slow disks: call it in a thread."""
        self.history.load()
        return self._drafts.orphan()

    def adopt(self, orphan: Orphan) -> bool:
        """Go on with the draft of a dead process, unless the user is writing already: then it waits."""
        if self.unsent.text.strip() or not self._drafts.claim(orphan):
            return False
        self.attachments.put_back(orphan.pictures)
        self.restore(orphan.draft)
        return True

    @property
    def unsent(self) -> Draft:
        """All that a crash would cost: what stands in the editor, and what was sent but not heard yet."""
        draft = self.editor.draft
        sent = [*self.state.at_stake, *(text for text, _ in self._on_way)]
        if not sent:
            return draft
        return Draft("\n\n".join((*sent, draft.text)).rstrip("\n"), draft.pastes)

    @property
    def text(self) -> str:
        """What stands in the editor."""
        return self.editor.text

    @property
    def blank(self) -> bool:
        """Whether there is nothing to lose."""
        return not self.editor.text.strip()

    def fill(self, text: str) -> None:
        """Put `text` into the editor, before what stands there already."""
        before = self.editor.draft
        joined = f"{text}\n\n{before.text}" if before.text.strip() else text
        self.editor.draft = Draft(joined, before.pastes)
        self.editor.focus()

    def go_on_with(self, text: str) -> None:
        """Take `text`, which was typed elsewhere, and the keyboard: what is typed next comes behind it."""
        self.screen.set_focus(self.editor)
        self.editor.insert_pasted(text)

    def restore(self, draft: Draft) -> None:
        """Put a draft into an empty editor."""
        if self.blank:
            self.editor.draft = draft

    def select(self) -> None:
        """Mark all, so that what is typed next takes its place."""
        self.editor.select_all()

    def rewrite(self, text: str) -> None:
        """Put `text` in place of all; undo brings back what stood there."""
        self.editor.replace_all(plain(text.rstrip("\n")))
        self.editor.focus()

    def discard(self) -> None:
        """Clear the editor; undo brings the draft back."""
        self.editor.replace_all("")
        self._walk.reset()

    def remember(self, text: str, draft: Draft) -> None:
        """`draft` was sent, which meant `text`: it belongs to the history now."""
        self._has_arrived(draft)
        try:
            self.history.append(text)
        except OSError as error:
            self.notify(
                say("The input history can't be written: {error}", error=reason_of(error)),
                severity="warning",
                markup=False,
            )

    def give_back(self, draft: Draft) -> None:
        """`draft` could not be sent: it stands in the editor again, before what was typed since."""
        self._has_arrived(draft)
        typed = self.editor.text
        self.editor.draft = Draft(f"{draft.text}{typed}", draft.pastes)
        self._completing.leave_alone()

    def act(self, action: EditorAction) -> None:
        """Do what a key in the editor means."""
        match action:
            case "send":
                self._send()
            case "steer":
                if (sent := self._taken()) is not None:
                    self.doorway.send(self.Steered(*sent))
            case "up":
                self._up()
            case "down":
                self._down()
            case "complete":
                self._completing.accept()
            case "dismiss":
                self._completing.dismiss()
            case "search":
                self.doorway.send(self.SearchPressed())
            case "paste":
                self.doorway.send(self.PastePressed())
            case "shell":
                self.mode = "agent" if self.mode == "shell" else "shell"
            case "editor":
                self.doorway.send(self.EditorPressed())
            case "delete_or_exit":
                if self.editor.text:
                    self.editor.action_delete_right()
                else:
                    self.doorway.send(self.ExitPressed())
            case _:
                assert_never(action)

    def action_press(self, mark: Literal["menu", "send", "shell"]) -> None:
        """Do what a mark in the lower edge says; the keyboard stays here."""
        self.editor.focus()
        if mark == "menu":
            self.doorway.send(self.MenuPressed())
        else:
            self.act(mark)

    def _send(self) -> None:
        self._completing.catch_up()
        if not self._completing.accept(sending=True) or (sent := self._taken()) is None:
            return
        if (line := shell_line(sent[0], self.mode)) is not None:
            self.doorway.send(self.Commanded(line, sent[1]))
        else:
            self.doorway.send(self.Submitted(*sent))

    def _taken(self) -> tuple[str, Draft] | None:
        # Out of the editor at once, so that what is typed next is the next prompt.
        text, draft = self.editor.unfolded.strip(), self.editor.draft
        if not text:
            return None
        if not text.startswith("/"):
            self._on_way.append((text, draft))
        self.editor.clear_draft()
        self._walk.reset()
        self.completions.close()
        return text, draft

    def _has_arrived(self, draft: Draft) -> None:
        self._on_way = [it for it in self._on_way if it[1] is not draft]
        self.keeper.save()

    def _up(self) -> None:
        editor = self.editor
        if self.completions.completing is not None:
            self.completions.move(-1)
        elif not editor.cursor_at_first_line:
            editor.action_cursor_up()
        elif self.blank and self.state.queue:
            self.doorway.send(self.TakeBackPressed())
        elif (older := self._walk.older(editor.text)) is not None:
            editor.replace_all(older)
            editor.move_cursor((0, 0))
            self._completing.leave_alone()

    def _down(self) -> None:
        editor = self.editor
        if self.completions.completing is not None:
            self.completions.move(1)
        elif not editor.cursor_at_last_line:
            editor.action_cursor_down()
        elif (newer := self._walk.newer(editor.text)) is not None:
            editor.replace_all(newer)
            self._completing.leave_alone()

    @on(PromptEditor.Changed)
    def _changed(self, event: PromptEditor.Changed) -> None:
        event.stop()
        self.keeper.save_soon()
        self._frame.show_marks(self.state, self.mode)
        was_blank, self._was_blank = self._was_blank, self.blank
        if self.blank and not was_blank:
            self.post_message(self.Emptied())

    @on(PromptEditor.SelectionChanged)
    def _cursor_moved(self, event: PromptEditor.SelectionChanged) -> None:
        event.stop()
        self._completing.follow()

    @on(Completions.Chosen)
    def _clicked(self, event: Completions.Chosen) -> None:
        event.stop()
        self._completing.accept()
        self.editor.focus()

    def watch_mode(self, mode: PromptMode) -> None:
        """Show who is talked to."""
        self._frame.show_mode(self.state, mode)
        self.completions.close()

    def on_mount(self) -> None:
        """See where the keyboard goes."""
        self.watch(self.screen, "focused", self._frame.keyboard_moved, init=False)

    def on_resize(self) -> None:
        """The lower edge has other room now."""
        self._frame.show_marks(self.state, self.mode)

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """Show what changed of the turn; what is at stake belongs to the draft."""
        if old.at_stake != state.at_stake:
            self.keeper.save_soon()
        self._frame.follow(old, state, self.mode)
