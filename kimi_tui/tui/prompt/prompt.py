"""The prompt, with input history, completions and a draft that survives crashes."""

from dataclasses import dataclass
from typing import Literal, assert_never

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive, var
from textual.widgets import Static

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.frontend.drafts import Draft, DraftStore, OrphanDraft
from kimi_tui.frontend.image_loader import parse_image_paths
from kimi_tui.frontend.input_history import HistoryCursor, InputHistory
from kimi_tui.frontend.prompt_mode import PromptMode
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.shell_line import ShellLine, parse_shell_line
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.activity_edge import ActivityEdge
from kimi_tui.tui.prompt.attachments import Attachments
from kimi_tui.tui.prompt.border import PLACEHOLDERS, PromptBorder
from kimi_tui.tui.prompt.completion_controller import CompletionController
from kimi_tui.tui.prompt.completion_list import CompletionList
from kimi_tui.tui.prompt.draft_autosave import DraftAutosave
from kimi_tui.tui.prompt.editor import EditorAction, PromptEditor
from kimi_tui.tui.prompt.message_gate import MessageGate

PromptAction = Literal["menu", "search", "paste", "editor", "edit_queued", "exit"]
"""Actions on the prompt besides writing and sending."""


class PromptBox(Vertical):
    """The editor in its border. The upper edge shows the agent's activity."""

    DEFAULT_CSS = """
    PromptBox { height: auto; }
    PromptBox > Horizontal { height: auto; }
    PromptBox #prompt-mark { width: 2; height: 1; }
    """

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)
    mode: var[PromptMode] = var[PromptMode]("agent")
    """Whether the text goes to the agent or to the user's shell."""

    @dataclass
    class Submitted(Message):
        """Posted when the user sends a prompt, a slash command or a command for their shell."""

        text: str
        draft: Draft
        """The editor's content before the prompt was sent, to restore if sending fails."""
        shell_line: ShellLine | None = None
        """The command for the user's shell. None for a prompt or a slash command."""

    @dataclass
    class Steered(Message):
        """Posted when the user steers the running turn."""

        text: str
        draft: Draft

    @dataclass
    class ActionRequested(Message):
        """Posted when the user runs an action on the prompt that needs other parts of the screen."""

        action: PromptAction

    class Cleared(Message):
        """Posted when the editor becomes empty."""

    def __init__(self, *, options: TuiOptions, key_labels: KeyLabels) -> None:
        super().__init__()
        self._work_dir = options.work_dir
        self.editor = PromptEditor(placeholder=PLACEHOLDERS["agent"], key_labels=key_labels, owner=self)
        self.completions = CompletionList(work_dir=options.work_dir)
        self._completion_controller = CompletionController(editor=self.editor, completions=self.completions)
        self._prompt_border = PromptBorder(
            self,
            editor=self.editor,
            activity=ActivityEdge(self, key_labels=key_labels, clock=options.clock),
            key_labels=key_labels,
            work_dir=options.work_dir,
        )
        self.history = InputHistory(data_dir=options.data_dir, work_dir=options.work_dir)
        self._history_cursor = HistoryCursor(self.history)
        self._drafts = DraftStore(data_dir=options.data_dir, work_dir=options.work_dir)
        self.attachments = Attachments(
            owner=self,
            editor=self.editor,
            drafts=self._drafts,
            work_dir=options.work_dir,
        )
        self.autosave = DraftAutosave(self._drafts, self.editor)
        self.message_gate = MessageGate(self)
        self._was_blank = True

    def compose(self) -> ComposeResult:
        """Yield the editor, and above it the list of completions. Thumbnails of images are added later."""
        yield self.completions
        with Horizontal():
            yield Static("❯", id="prompt-mark", markup=False)
            yield self.editor

    @property
    def is_completing(self) -> bool:
        """Whether completions are shown."""
        return self.completions.shown_target is not None

    def insert_paste(self, text: str) -> None:
        """Insert text pasted into the terminal. If the text is the path of an image, attach the image."""
        if not text.strip():
            self.message_gate.send(self.ActionRequested("paste"))  # terminals paste an image as empty text
        elif paths := parse_image_paths(text, self._work_dir):
            self.run_worker(self.attachments.attach_files(paths), group="image")
        else:
            self.editor.insert_pasted(text)

    # content of the editor

    def load(self) -> OrphanDraft | None:
        """Read the history, and return the draft of a process that died. Call it in a thread: disks may be
        slow.
        """
        self.history.load()
        return self._drafts.find_orphan()

    def adopt_orphan(self, orphan: OrphanDraft) -> bool:
        """Restore the draft of a dead process. Leave it on disk and return False if the user is typing."""
        if self.unsent_draft.text.strip() or not self._drafts.claim(orphan):
            return False
        self.attachments.restore(orphan.images)
        self.restore(orphan.draft)
        return True

    @property
    def unsent_draft(self) -> Draft:
        """The content to save in case of a crash: prompts that the engine hasn't saved yet, and the editor's
        content.
        """
        return self.autosave.draft

    @property
    def text(self) -> str:
        """The editor's text."""
        return self.editor.text

    @property
    def is_blank(self) -> bool:
        """Whether the editor contains only white space."""
        return not self.editor.text.strip()

    def fill(self, text: str) -> None:
        """Insert `text` before the editor's content and focus the editor."""
        before = self.editor.draft
        joined = f"{text}\n\n{before.text}" if before.text.strip() else text
        self.editor.draft = Draft(joined, before.pastes)
        self.editor.focus()

    def insert_and_focus(self, text: str) -> None:
        """Insert `text` that was typed in another widget, and focus the editor immediately so that no key
        is lost.
        """
        self.screen.set_focus(self.editor)
        self.editor.insert_pasted(text)

    def restore(self, draft: Draft) -> None:
        """Put a draft into the editor if it is empty."""
        if self.is_blank:
            self.editor.draft = draft

    def select(self) -> None:
        """If the editor has the focus, select everything, so that the next key replaces it."""
        if self.screen.focused is self.editor:
            self.editor.select_all()

    def replace_text(self, text: str) -> None:
        """Replace everything with `text`. Undo restores the old text."""
        self.editor.replace_all(sanitize(text.rstrip("\n")))
        self.editor.focus()

    def discard(self) -> None:
        """Clear the editor. Undo restores the draft."""
        self.editor.replace_all("")
        self._history_cursor.reset()

    def remember(self, text: str, draft: Draft) -> None:
        """Add `text` to the history after `draft` was sent."""
        self.autosave.end_sending(draft)
        try:
            self.history.append(text)
        except OSError as error:
            self.notify(
                tr("Can't save the prompt history: {error}", error=reason_of(error)),
                severity="warning",
                markup=False,
            )

    def give_back(self, draft: Draft) -> None:
        """Restore `draft` after sending failed. It is inserted before text typed in the meantime."""
        self.autosave.end_sending(draft)
        typed = self.editor.text
        self.editor.draft = Draft(f"{draft.text}{typed}", draft.pastes)
        self._completion_controller.ignore_text()

    def perform_action(self, action: EditorAction) -> None:
        """Perform the action of a key in the editor."""
        match action:
            case "send":
                self._send()
            case "steer":
                if (taken := self._take_text()) is not None:
                    self.message_gate.send(self.Steered(*taken))
            case "up":
                self._up()
            case "down":
                self._down()
            case "complete":
                self._completion_controller.accept()
            case "dismiss":
                self._completion_controller.dismiss()
            case "search":
                self.message_gate.send(self.ActionRequested("search"))
            case "paste":
                self.message_gate.send(self.ActionRequested("paste"))
            case "shell":
                self.mode = "agent" if self.mode == "shell" else "shell"
            case "editor":
                self.message_gate.send(self.ActionRequested("editor"))
            case "delete_or_exit":
                if self.editor.text:
                    self.editor.action_delete_right()
                else:
                    self.message_gate.send(self.ActionRequested("exit"))
            case _:
                assert_never(action)

    def action_press(self, action: Literal["menu", "send", "shell"]) -> None:
        """Perform an action that was clicked in the lower border. The editor gets the focus."""
        self.editor.focus()
        if action == "menu":
            self.message_gate.send(self.ActionRequested("menu"))
        else:
            self.perform_action(action)

    def _send(self) -> None:
        self._completion_controller.sync(self.mode)
        if not self._completion_controller.accept(sending=True) or (taken := self._take_text()) is None:
            return
        text, draft = taken
        self.message_gate.send(self.Submitted(text, draft, parse_shell_line(text, self.mode)))

    def _take_text(self) -> tuple[str, Draft] | None:
        # Clear the editor immediately, so that the next key begins the next prompt.
        text, draft = self.editor.full_text.strip(), self.editor.draft
        if not text:
            return None
        if not text.startswith("/"):
            self.autosave.begin_sending(text, draft)
        self.editor.clear_draft()
        self._history_cursor.reset()
        self.completions.close()
        return text, draft

    def _up(self) -> None:
        editor = self.editor
        if self.is_completing:
            self.completions.move(-1)
        elif not editor.cursor_at_first_line:
            editor.action_cursor_up()
        elif self.is_blank and self.state.queue:
            self.message_gate.send(self.ActionRequested("edit_queued"))
        elif (older := self._history_cursor.older(editor.text)) is not None:
            editor.replace_all(older)
            editor.move_cursor((0, 0))
            self._completion_controller.ignore_text()

    def _down(self) -> None:
        editor = self.editor
        if self.is_completing:
            self.completions.move(1)
        elif not editor.cursor_at_last_line:
            editor.action_cursor_down()
        elif (newer := self._history_cursor.newer(editor.text)) is not None:
            editor.replace_all(newer)
            self._completion_controller.ignore_text()

    @on(PromptEditor.Changed)
    def _handle_change(self, event: PromptEditor.Changed) -> None:
        event.stop()
        self.autosave.save_soon()
        self.attachments.update_previews()
        self._prompt_border.update_lower_edge(self.state, self.mode)
        was_blank, self._was_blank = self._was_blank, self.is_blank
        if self.is_blank and not was_blank:
            self.post_message(self.Cleared())

    @on(PromptEditor.SelectionChanged)
    def _handle_cursor_move(self, event: PromptEditor.SelectionChanged) -> None:
        event.stop()
        self._completion_controller.update(self.mode)

    @on(CompletionList.Chosen)
    def _handle_completion_click(self, event: CompletionList.Chosen) -> None:
        event.stop()
        self._completion_controller.accept()
        self.editor.focus()

    def watch_mode(self, mode: PromptMode) -> None:
        """Show the new mode."""
        self._prompt_border.show_mode(self.state, mode)
        self.completions.close()

    def on_mount(self) -> None:
        """Watch focus changes of the screen."""
        border = self._prompt_border
        self.watch(
            self.screen,
            "focused",
            lambda: border.handle_focus_change(self.state, self.mode),
            init=False,
        )

    def on_resize(self) -> None:
        """Fit the lower border's labels to the new width."""
        self._prompt_border.update_lower_edge(self.state, self.mode)

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Show the new state."""
        self.autosave.update_unsaved_prompts(state.unsaved_prompts)
        self.attachments.session = state.session
        self._prompt_border.update(old, state, self.mode)
