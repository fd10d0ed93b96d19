"""The keys of each region: binding ids, default keys, and what the help says of them."""

from textual.binding import Binding

from kimi_tui.base.value import value
from kimi_tui.tui.transcript.bindings import TRANSCRIPT_BINDINGS


@value
class Key:
    """A binding that the user can remap by its id."""

    id: str
    keys: str
    """Default keys, separated by commas."""
    action: str
    label: str
    priority: bool = False

    @property
    def binding(self) -> Binding:
        """The same as Textual wants it."""
        return Binding(
            self.keys,
            self.action,
            self.label,
            id=self.id,
            show=False,
            priority=self.priority,
            tooltip=self.label,
        )


SCREEN_KEYS = (
    Key("turn.interrupt", "escape", "interrupt", "interrupt the agent"),
    Key("app.cancel", "ctrl+c", "cancel", "copy the selection, clear the prompt, interrupt, or exit"),
    Key("prompt.focus", "ctrl+g", "focus_prompt", "go to the prompt"),
    Key("approvals.focus", "f2", "focus_approval", "go to the open approval or question"),
    Key("approvals.expand", "ctrl+o", "expand_approval", "show the approval full screen, or small again"),
    Key("panes.todo", "ctrl+t", "toggle_pane('todo')", "todo list"),
    Key("panes.tools", "ctrl+l", "toggle_pane('tools')", "tool calls"),
    Key(
        "panes.timeline", "f3,alt+t", "toggle_pane('timeline')", "timeline: go back, undo; also escape twice"
    ),
    Key("transcript.page_up", "pageup", "page(-1)", "scroll the conversation up"),
    Key("transcript.page_down", "pagedown", "page(1)", "scroll the conversation down"),
    Key("transcript.top", "ctrl+home", "scroll_top", "start of the conversation"),
    Key("transcript.end", "ctrl+end", "scroll_bottom", "end of the conversation"),
    Key("transcript.find", "ctrl+f", "search", "search the conversation"),
    Key("transcript.print", "f8", "command('print')", "put the conversation into the terminal's scrollback"),
    Key("app.settings", "f9", "command('settings')", "settings"),
    Key("app.suspend", "alt+z", "command('suspend')", "back to the shell for a while; fg goes on"),
    Key("focus.next", "tab", "app.focus_next", "next region"),
    Key("focus.previous", "shift+tab", "app.focus_previous", "region before"),
)

PROMPT_KEYS = (
    Key("prompt.send", "enter", "act('send')", "send; queue while the agent works"),
    Key("prompt.newline", "ctrl+j,alt+enter,shift+enter", "newline", "new line"),
    Key("prompt.steer", "ctrl+s", "act('steer')", "say it to the running turn, without waiting"),
    Key("prompt.up", "up", "act('up')", "older prompt, at the first line"),
    Key("prompt.down", "down", "act('down')", "newer prompt, at the last line"),
    Key("prompt.search", "ctrl+r", "act('search')", "search older prompts"),
    Key("prompt.shell", "ctrl+x", "act('shell')", "run commands in your shell, or talk to the agent again"),
    Key("prompt.editor", "alt+e,f4", "act('editor')", "write it in your editor"),
    Key("prompt.complete", "tab", "act('complete')", "complete"),
    Key("prompt.dismiss", "escape", "act('dismiss')", "close the completions"),
    Key("prompt.mode", "shift+tab", "screen.cycle_mode", "next mode: ask, accept edits, plan"),
    Key("prompt.paste", "ctrl+v", "act('paste')", "paste from the clipboard"),
    Key("prompt.exit", "ctrl+d", "act('delete_or_exit')", "delete right; exit when the prompt is empty"),
)

QUESTION_KEYS = (
    Key("questions.up", "up,k", "move(-1)", "up"),
    Key("questions.down", "down,j", "move(1)", "down"),
    *(Key(f"questions.pick_{n}", str(n), f"pick({n})", f"option {n}") for n in range(1, 6)),
    Key("questions.tick", "space", "tick", "choose, or tick where several may be"),
    Key("questions.take", "enter", "take", "take what is chosen"),
    Key("questions.back", "left,shift+tab", "turn(-1)", "the question before"),
    Key("questions.forward", "right,tab", "turn(1)", "the question after"),
    Key("questions.dismiss", "escape", "dismiss", "answer nothing"),
)

ASIDE_KEYS = (
    Key("aside.close", "escape,q,enter,space", "close", "put it away"),
    Key("aside.up", "up,k", "scroll(-1)", "up"),
    Key("aside.down", "down,j", "scroll(1)", "down"),
    Key("aside.copy", "y", "copy", "copy the answer"),
)

TOOLS_KEYS = (
    Key("tools.up", "up,k", "move(-1)", "up"),
    Key("tools.down", "down,j", "move(1)", "down"),
    Key("tools.first", "home,g", "move(-1000)", "first"),
    Key("tools.last", "end,G", "move(1000)", "last"),
    Key("tools.open", "enter,o", "open", "arguments and output in full"),
    Key("tools.leave", "escape", "leave", "back to the prompt"),
)

TIMELINE_TREE_KEYS = (
    Key("timeline.up", "up,k", "move(-1)", "up: newer"),
    Key("timeline.down", "down,j", "move(1)", "down: older"),
    Key("timeline.page_up", "pageup", "page(-1)", "a page up"),
    Key("timeline.page_down", "pagedown", "page(1)", "a page down"),
    Key("timeline.now", "home,g", "edge(-1)", "now"),
    Key("timeline.oldest", "end,G", "edge(1)", "the beginning"),
    Key("timeline.open", "right,l", "fold(True)", "open a turn or a branch"),
    Key("timeline.close", "left,h", "fold(False)", "close it, or go out of it"),
)

TIMELINE_KEYS = (
    Key("timeline.back", "enter", "ask('back')", "go back to before this; shows first what would change"),
    Key("timeline.preview", "space", "ask('preview')", "what has changed between here and now"),
    Key("timeline.conversation", "c", "ask('conversation')", "take back the conversation only"),
    Key("timeline.files", "f", "ask('files')", "take back the files only"),
    Key("timeline.turn", "t", "ask('turn')", "take back only what this one turn did to files"),
    Key("timeline.undo", "u", "ask('undo')", "undo the last jump"),
    Key("timeline.redo", "U", "ask('redo')", "redo it"),
    Key("timeline.switch", "b", "ask('switch')", "go on with this branch"),
    Key("timeline.look", "o", "ask('look')", "read what was said on this branch"),
    Key("timeline.fork", "F", "ask('fork')", "make a new session from here"),
    Key("timeline.compare", "d", "ask('compare')", "mark this, then another: the difference"),
    Key("timeline.mail", "m", "ask('mail')", "D-Mail: go back and leave the model a note"),
    Key("timeline.name", "n", "ask('name')", "name this"),
    Key("timeline.filter", "slash", "ask('filter')", "filter by text, file or tool"),
    Key("timeline.leave", "escape", "ask('leave')", "back to the prompt"),
)

FILES_KEYS = (
    Key("files.up", "up,k", "move(-1)", "the file before"),
    Key("files.down", "down,j", "move(1)", "the next file"),
    Key("files.first", "home,g", "move(-100000)", "the first file"),
    Key("files.last", "end,G", "move(100000)", "the last file"),
    Key("files.scroll_up", "shift+up,K", "scroll_diff(-1)", "scroll its diff up"),
    Key("files.scroll_down", "shift+down,J", "scroll_diff(1)", "scroll its diff down"),
    Key("files.page_up", "pageup,ctrl+u", "page_diff(-1)", "a page of the diff up"),
    Key("files.page_down", "pagedown,ctrl+d", "page_diff(1)", "a page of the diff down"),
    Key("files.copy", "y", "copy", "copy its diff"),
    Key("files.close", "escape,ctrl+c", "close", "close; nothing changes", priority=True),
)

PLAN_KEYS = (
    Key("plan.go", "enter", "go", "do it"),
    Key("plan.tick", "space", "tick", "do this file, or leave it as it is"),
    Key("plan.tick_all", "a", "tick_all", "all files, or none"),
    Key("plan.both", "b", "use('both')", "conversation and files"),
    Key("plan.conversation", "c", "use('conversation')", "the conversation only"),
    Key("plan.files", "f", "use('files')", "the files only"),
    Key("plan.turn", "t", "use('turn')", "only what this one turn did to files"),
    Key("plan.note", "m", "write_note", "leave the model a note there"),
)

CHANGES_KEYS = (
    Key("changes.bring_back", "enter", "bring_back", "bring this file back as it was; shows first how"),
    Key("changes.patch", "w", "write_patch", "write all of it to a file that git apply takes"),
)

BRANCH_KEYS = (
    Key("branch.switch", "b", "switch", "go on with this branch", priority=True),
    Key("branch.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

PAGER_KEYS = (
    Key("pager.close", "escape,q,ctrl+c", "close", "close", priority=True),
    Key("pager.up", "up,k", "scroll(-1)", "up"),
    Key("pager.down", "down,j", "scroll(1)", "down"),
    Key("pager.page_up", "pageup,b", "page(-1)", "a page up"),
    Key("pager.page_down", "pagedown,space", "page(1)", "a page down"),
    Key("pager.top", "home,g", "edge(-1)", "the beginning"),
    Key("pager.end", "end,G", "edge(1)", "the end"),
    Key("pager.search", "slash", "search", "search"),
    Key("pager.next", "n", "match(1)", "next match"),
    Key("pager.previous", "N", "match(-1)", "match before"),
    Key("pager.copy", "y", "copy", "copy all of it"),
)

PICKER_KEYS = (
    Key("picker.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("picker.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("picker.page_up", "pageup", "move(-10)", "a page up", priority=True),
    Key("picker.page_down", "pagedown", "move(10)", "a page down", priority=True),
    Key("picker.close", "escape,ctrl+c", "close", "close", priority=True),
)

HELP_KEYS = (
    Key("help.close", "escape,q,f1,ctrl+c", "close", "close", priority=True),
    Key("help.up", "up,k", "scroll(-1)", "up"),
    Key("help.down", "down,j", "scroll(1)", "down"),
    Key("help.page_up", "pageup", "page(-1)", "a page up"),
    Key("help.page_down", "pagedown,space", "page(1)", "a page down"),
)

MCP_KEYS = (
    Key("mcp.up", "up,k", "move(-1)", "server above"),
    Key("mcp.down", "down,j", "move(1)", "server below"),
    Key("mcp.page_up", "pageup", "scroll(-5)", "scroll up"),
    Key("mcp.page_down", "pagedown,space", "scroll(5)", "scroll down"),
    Key("mcp.reconnect", "r", "reconnect", "connect the server anew"),
    Key("mcp.sign_in", "s", "sign_in", "sign in to the server"),
    Key("mcp.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

AGENTS_KEYS = (
    Key("agents.up", "up,k", "move(-1)", "agent above"),
    Key("agents.down", "down,j", "move(1)", "agent below"),
    Key("agents.page_up", "pageup,b", "scroll(-5)", "scroll up"),
    Key("agents.page_down", "pagedown,space", "scroll(5)", "scroll down"),
    Key("agents.begin", "enter", "begin", "begin a new session with the agent"),
    Key("agents.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

TASKS_KEYS = (
    Key("tasks.up", "up,k", "move(-1)", "task above"),
    Key("tasks.down", "down,j", "move(1)", "task below"),
    Key("tasks.page_up", "pageup,b", "scroll(-8)", "scroll the output up"),
    Key("tasks.page_down", "pagedown,space", "scroll(8)", "scroll the output down"),
    Key("tasks.open", "enter", "open", "read the output on the whole screen"),
    Key("tasks.stop", "x,delete", "stop", "stop the task"),
    Key("tasks.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

EDITING_KEYS = (
    Key("edit.left", "left", "cursor_left", "left"),
    Key("edit.right", "right", "cursor_right", "right"),
    Key("edit.word_left", "ctrl+left,alt+left,alt+b", "cursor_word_left", "a word to the left"),
    Key("edit.word_right", "ctrl+right,alt+right,alt+f", "cursor_word_right", "a word to the right"),
    Key("edit.line_start", "home,ctrl+a", "cursor_line_start", "start of the line"),
    Key("edit.line_end", "end,ctrl+e", "cursor_line_end", "end of the line"),
    Key("edit.select_left", "shift+left", "cursor_left(True)", "select to the left"),
    Key("edit.select_right", "shift+right", "cursor_right(True)", "select to the right"),
    Key("edit.select_up", "shift+up", "cursor_up(True)", "select a line up"),
    Key("edit.select_down", "shift+down", "cursor_down(True)", "select a line down"),
    Key("edit.select_word_left", "ctrl+shift+left", "cursor_word_left(True)", "select a word to the left"),
    Key(
        "edit.select_word_right", "ctrl+shift+right", "cursor_word_right(True)", "select a word to the right"
    ),
    Key("edit.select_line_start", "shift+home", "cursor_line_start(True)", "select to the start of the line"),
    Key("edit.select_line_end", "shift+end", "cursor_line_end(True)", "select to the end of the line"),
    Key("edit.select_all", "f7", "select_all", "select all"),
    Key("edit.delete_left", "backspace", "delete_left", "delete to the left"),
    Key("edit.delete_right", "delete", "delete_right", "delete to the right"),
    Key("edit.delete_word_left", "ctrl+w,alt+backspace", "delete_word_left", "delete a word to the left"),
    Key("edit.delete_word_right", "alt+delete,alt+d", "delete_word_right", "delete a word to the right"),
    Key("edit.delete_to_start", "ctrl+u", "delete_to_start_of_line", "delete to the start of the line"),
    Key("edit.delete_to_end", "ctrl+k", "delete_to_end_of_line", "delete to the end of the line"),
    Key("edit.undo", "ctrl+z", "undo", "undo"),
    Key("edit.redo", "ctrl+y,ctrl+shift+z", "redo", "redo"),
)

APPROVAL_KEYS = (
    Key("approvals.once", "y", "answer('once')", "allow once"),
    Key("approvals.session", "a", "answer('session')", "allow for this session"),
    Key("approvals.always", "p", "answer('always')", "always allow"),
    Key("approvals.no", "n", "answer('no')", "refuse"),
    Key("approvals.feedback", "f", "answer('feedback')", "refuse and say what to do instead"),
    Key("approvals.edit", "e", "answer('edit')", "change what is proposed in your editor"),
    Key("approvals.review", "r", "review", "review everything that is asked, together"),
    Key("approvals.layout", "s", "layout", "diff side by side, or in one column"),
    Key("approvals.left", "left,shift+tab", "move(-1)", "choice to the left"),
    Key("approvals.right", "right,tab", "move(1)", "choice to the right"),
    Key("approvals.choose", "enter,space", "choose", "take the marked choice"),
    Key("approvals.up", "up,k", "scroll(-1)", "scroll up"),
    Key("approvals.down", "down,j", "scroll(1)", "scroll down"),
)

SESSIONS_KEYS = (
    Key("sessions.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("sessions.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("sessions.page_up", "pageup", "move(-10)", "a page up", priority=True),
    Key("sessions.page_down", "pagedown", "move(10)", "a page down", priority=True),
    Key("sessions.fork", "ctrl+k", "fork", "go on in a copy", priority=True),
    Key("sessions.rename", "ctrl+r", "rename", "another title", priority=True),
    Key("sessions.delete", "ctrl+x", "delete", "delete it", priority=True),
    Key("sessions.preview", "ctrl+o", "preview", "show how it ended", priority=True),
    Key("sessions.search", "ctrl+f", "search", "look for the text in all that was said", priority=True),
    Key("sessions.close", "escape,ctrl+c", "close", "close", priority=True),
)

SETUP_KEYS = (
    Key("setup.up", "up", "move(-1)", "up", priority=True),
    Key("setup.down", "down", "move(1)", "down", priority=True),
    Key("setup.take", "enter", "take", "choose what is marked; try it and connect", priority=True),
    Key("setup.back", "escape,ctrl+c", "back", "back", priority=True),
)

SETTINGS_KEYS = (
    Key("settings.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("settings.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("settings.page_up", "pageup", "move(-10)", "a page up", priority=True),
    Key("settings.page_down", "pagedown", "move(10)", "a page down", priority=True),
    Key("settings.reset", "ctrl+r", "reset", "take it out of your file", priority=True),
    Key("settings.close", "escape,ctrl+c", "close", "close", priority=True),
)

REVIEW_KEYS = (
    Key("review.up", "up,k", "move(-1)", "the one before"),
    Key("review.down", "down,j", "move(1)", "the next one"),
    Key("review.accept", "y", "decide('accept')", "accept it"),
    Key("review.reject", "n", "decide('reject')", "reject it"),
    Key("review.accept_all", "a", "decide_rest('accept')", "accept all that is undecided"),
    Key("review.reject_all", "x", "decide_rest('reject')", "reject all that is undecided"),
    Key("review.edit", "e", "edit", "change it in your editor"),
    Key("review.layout", "s", "layout", "side by side, or in one column"),
    Key("review.page_up", "pageup,b", "page(-1)", "a page up"),
    Key("review.page_down", "pagedown,space", "page(1)", "a page down"),
    Key("review.answer", "enter", "answer", "answer with what is decided"),
    Key("review.close", "escape,q,ctrl+c", "close", "close, answering nothing", priority=True),
)

CONVERSATION_KEYS = tuple(
    Key(binding.id or "", binding.key, binding.action, binding.tooltip) for binding in TRANSCRIPT_BINDINGS
)
