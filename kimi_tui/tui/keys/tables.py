"""Key bindings of each region: IDs, default keys, actions, and descriptions for the help."""

from textual.binding import Binding

from kimi_tui.base.frozen import frozen
from kimi_tui.tui.keys.transcript_bindings import TRANSCRIPT_BINDINGS


@frozen
class Key:
    """A key binding that the user can remap by its ID."""

    id: str
    keys: str
    """Default keys, separated by commas."""
    action: str
    label: str
    priority: bool = False
    yields: bool = False
    """Whether the binding gives up keys that the user assigns to another binding, without a conflict."""

    @property
    def binding(self) -> Binding:
        """The binding in Textual's form."""
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
    Key(
        "turn.background",
        "ctrl+b",
        "command('background')",
        "move the running command to the background",
        yields=True,
    ),
    Key("app.cancel", "ctrl+c", "cancel", "copy the selection, clear the prompt, interrupt, or quit"),
    Key("prompt.focus", "ctrl+g", "focus_prompt", "focus the prompt"),
    Key("approvals.focus", "f2", "focus_approval", "focus the open request"),
    Key("approvals.expand", "ctrl+o", "expand_approval", "toggle full-screen request"),
    Key("panes.todo", "ctrl+t", "toggle_pane('todo')", "todo list"),
    Key("panes.tools", "ctrl+l", "toggle_pane('tools')", "tool calls"),
    Key("panes.timeline", "f3,alt+t", "toggle_pane('timeline')", "timeline (also escape twice)"),
    Key(
        "timeline.last",
        "alt+u",
        "command('revert last')",
        "revert the last prompt, with a preview",
        yields=True,
    ),
    Key("transcript.page_up", "pageup", "page(-1)", "scroll the conversation up"),
    Key("transcript.page_down", "pagedown", "page(1)", "scroll the conversation down"),
    Key("transcript.top", "ctrl+home", "scroll_top", "start of the conversation"),
    Key("transcript.end", "ctrl+end", "scroll_bottom", "end of the conversation"),
    Key("transcript.find", "ctrl+f", "search", "search the conversation"),
    Key("transcript.print", "f8", "command('print')", "print the conversation to the terminal's scrollback"),
    Key("app.running_sessions", "f5", "command('ps')", "running sessions", yields=True),
    Key("app.settings", "f9", "command('settings')", "settings"),
    Key("app.model", "alt+p", "command('model')", "switch the model", yields=True),
    Key("app.last_model", "alt+m", "command('model -')", "switch to the last model", yields=True),
    Key("app.attempts", "alt+a", "command('attempts')", "compare the attempts", yields=True),
    Key("app.review", "alt+r", "command('review')", "review the changes since the last review", yields=True),
    Key("app.sessions", "alt+s", "command('sessions')", "list the sessions, to resume one", yields=True),
    Key("app.suspend", "alt+z", "command('suspend')", "suspend to the shell; fg resumes"),
    Key("focus.next", "tab", "app.focus_next", "next region"),
    Key("focus.previous", "shift+tab", "app.focus_previous", "previous region"),
)

PROMPT_KEYS = (
    Key("prompt.send", "enter", "send", "send; queue while the agent works"),
    Key("prompt.newline", "ctrl+j,alt+enter,shift+enter", "newline", "new line"),
    Key("prompt.steer", "ctrl+s", "steer", "steer the running turn"),
    Key("prompt.up", "up", "up", "older prompt, from the first line"),
    Key("prompt.down", "down", "down", "newer prompt, from the last line"),
    Key("prompt.search", "ctrl+r", "search", "search the prompt history"),
    Key("prompt.shell", "ctrl+x", "shell", "toggle shell mode"),
    Key("prompt.editor", "alt+e,f4", "editor", "edit the prompt in your editor"),
    Key("prompt.complete", "tab", "complete", "complete"),
    Key("prompt.dismiss", "escape", "dismiss", "close the completions"),
    Key("prompt.mode", "shift+tab", "screen.cycle_mode", "next permission mode: ask, accept edits, plan"),
    Key("prompt.paste", "ctrl+v", "paste", "paste from the clipboard"),
    Key("prompt.exit", "ctrl+d", "delete_or_exit", "delete right; quit if the prompt is empty"),
)

QUESTION_KEYS = (
    Key("questions.up", "up,k", "move(-1)", "up"),
    Key("questions.down", "down,j", "move(1)", "down"),
    *(Key(f"questions.pick_{n}", str(n), f"choose_option({n})", f"option {n}") for n in range(1, 6)),
    Key("questions.tick", "space", "toggle_option", "select, or toggle if several can be selected"),
    Key("questions.take", "enter", "submit_selection", "submit the selection"),
    Key("questions.back", "left,shift+tab", "switch_question(-1)", "previous question"),
    Key("questions.forward", "right,tab", "switch_question(1)", "next question"),
    Key("questions.dismiss", "escape", "dismiss", "dismiss without an answer"),
)

SIDE_QUESTION_KEYS = (
    Key("aside.close", "escape,q,enter,space", "close", "close"),
    Key("aside.up", "up,k", "scroll(-1)", "up"),
    Key("aside.down", "down,j", "scroll(1)", "down"),
    Key("aside.copy", "y", "copy", "copy the response"),
)

INFO_PANEL_KEYS = (
    Key("info.close", "escape,q", "close", "close"),
    Key("info.previous", "left,h", "switch_page(-1)", "previous page"),
    Key("info.next", "right,l", "switch_page(1)", "next page"),
    Key("info.up", "up,k", "move(-1)", "up"),
    Key("info.down", "down,j", "move(1)", "down"),
    Key("info.page_up", "pageup", "move(-8)", "page up"),
    Key("info.page_down", "pagedown", "move(8)", "page down"),
    Key("info.revert", "enter", "revert", "revert to before the checkpoint, with a preview"),
    Key("info.preview", "space", "preview", "show the changes between the checkpoint and now"),
    Key("info.timeline", "t", "show_in_timeline", "show the checkpoint in the timeline"),
    Key("info.uncovered", "u", "list_uncovered", "list the files that checkpoints don't cover"),
    Key("info.compact", "c", "compact", "compact the conversation"),
    Key("info.copy", "y", "copy", "copy as text"),
)

TOOLS_KEYS = (
    Key("tools.up", "up,k", "move(-1)", "up"),
    Key("tools.down", "down,j", "move(1)", "down"),
    Key("tools.first", "home,g", "move(-1000)", "first call"),
    Key("tools.last", "end,G", "move(1000)", "last call"),
    Key("tools.open", "enter,o", "open", "show arguments and output in full"),
    Key("tools.leave", "escape", "leave", "return to the prompt"),
)

TIMELINE_TREE_KEYS = (
    Key("timeline.up", "up,k", "move(-1)", "up: newer"),
    Key("timeline.down", "down,j", "move(1)", "down: older"),
    Key("timeline.page_up", "pageup", "page(-1)", "page up"),
    Key("timeline.page_down", "pagedown", "page(1)", "page down"),
    Key("timeline.now", "home,g", "edge(-1)", "go to now"),
    Key("timeline.oldest", "end,G", "edge(1)", "go to the start"),
    Key("timeline.open", "right,l", "fold(True)", "expand a turn or a branch"),
    Key("timeline.close", "left,h", "fold(False)", "collapse, or go to the parent"),
)

TIMELINE_KEYS = (
    Key("timeline.back", "enter", "ask('back')", "revert to before this, with a preview"),
    Key("timeline.preview", "space", "ask('preview')", "show the changes between this and now"),
    Key("timeline.conversation", "c", "ask('conversation')", "revert the conversation only"),
    Key("timeline.files", "f", "ask('files')", "revert the files only"),
    Key("timeline.turn", "t", "ask('turn')", "revert only the files that this turn changed"),
    Key("timeline.undo", "u", "ask('undo')", "undo the last revert"),
    Key("timeline.redo", "U", "ask('redo')", "redo"),
    Key("timeline.switch", "b", "ask('switch')", "switch to this branch"),
    Key("timeline.look", "o", "ask('look')", "read this branch"),
    Key("timeline.fork", "F", "ask('fork')", "fork the session from here"),
    Key("timeline.compare", "d", "ask('compare')", "compare: mark this, then another"),
    Key("timeline.review", "r", "ask('review')", "review the changes between this and now"),
    Key("timeline.attempts", "a", "ask('attempts')", "start attempts from here"),
    Key("timeline.mail", "m", "ask('mail')", "D-Mail: revert and leave the model a note"),
    Key("timeline.name", "n", "ask('name')", "name this"),
    Key("timeline.filter", "slash", "ask('filter')", "filter by text, file or tool"),
    Key("timeline.leave", "escape", "ask('leave')", "return to the prompt"),
)

FILES_KEYS = (
    Key("files.up", "up,k", "move(-1)", "previous file"),
    Key("files.down", "down,j", "move(1)", "next file"),
    Key("files.first", "home,g", "move(-100000)", "first file"),
    Key("files.last", "end,G", "move(100000)", "last file"),
    Key("files.scroll_up", "shift+up,K", "scroll_diff(-1)", "scroll the diff up"),
    Key("files.scroll_down", "shift+down,J", "scroll_diff(1)", "scroll the diff down"),
    Key("files.page_up", "pageup,ctrl+u", "page_diff(-1)", "scroll the diff a page up"),
    Key("files.page_down", "pagedown,ctrl+d", "page_diff(1)", "scroll the diff a page down"),
    Key("files.copy", "y", "copy", "copy the diff"),
    Key("files.close", "escape,ctrl+c", "close", "close without changes", priority=True),
)

PLAN_KEYS = (
    Key("plan.go", "enter", "go", "apply"),
    Key("plan.tick", "space", "toggle_file", "include or exclude this file"),
    Key("plan.tick_all", "a", "toggle_all_files", "include or exclude all files"),
    Key("plan.both", "b", "use('both')", "conversation and files"),
    Key("plan.conversation", "c", "use('conversation')", "conversation only"),
    Key("plan.files", "f", "use('files')", "files only"),
    Key("plan.turn", "t", "use('turn')", "only the files that this turn changed"),
    Key("plan.note", "m", "write_note", "leave the model a note"),
    Key("plan.hunks", "right,l", "open_hunks", "choose hunks of this file"),
    Key("plan.keep_mine", "1", "choose('mine')", "file that you also changed: keep mine"),
    Key("plan.merge", "2", "choose('merge')", "file that you also changed: remove only the agent's lines"),
    Key("plan.checkpoint", "3", "choose('checkpoint')", "file that you also changed: restore the checkpoint"),
    Key("plan.keep_both", "4", "choose('both')", "file that you also changed: keep both versions"),
)

HUNK_KEYS = (
    Key("hunks.up", "up,k", "move_hunk(-1)", "previous hunk"),
    Key("hunks.down", "down,j", "move_hunk(1)", "next hunk"),
    Key("hunks.first", "home,g", "move_hunk(-100000)", "first hunk"),
    Key("hunks.last", "end,G", "move_hunk(100000)", "last hunk"),
    Key("hunks.scroll_up", "shift+up,K", "scroll_hunks(-1)", "scroll up"),
    Key("hunks.scroll_down", "shift+down,J", "scroll_hunks(1)", "scroll down"),
    Key("hunks.tick", "space", "toggle_hunk", "include or exclude this hunk"),
    Key("hunks.tick_all", "a", "toggle_all_hunks", "include or exclude all hunks"),
    Key("hunks.why", "w", "explain_hunk", "show who wrote the first line of this hunk, and why"),
    Key("hunks.leave", "left,h", "leave_hunks", "return to the files"),
)

CHANGES_KEYS = (
    Key("changes.bring_back", "enter", "bring_back", "restore this file, with a preview"),
    Key("changes.patch", "w", "write_patch", "save all changes as a patch file"),
    Key("changes.review", "r", "review", "review the changes"),
)

ATTEMPTS_KEYS = (
    Key("attempts.previous", "left,h,shift+tab", "move_attempt(-1)", "previous attempt"),
    Key("attempts.next", "right,l,tab", "move_attempt(1)", "next attempt"),
    Key("attempts.adopt", "enter", "adopt", "adopt the selected files or this attempt, with a preview"),
    Key("attempts.select", "space", "toggle_file", "select this file"),
    Key("attempts.select_all", "a", "select_attempt", "select all files of this attempt, or none"),
    Key("attempts.start", "n", "start", "start attempts"),
    Key("attempts.stop", "x", "stop", "stop this attempt"),
    Key("attempts.discard", "delete,D", "discard", "remove this attempt"),
)

START_ATTEMPTS_KEYS = (
    Key("startattempts.start", "enter", "start", "start the attempts", priority=True),
    Key("startattempts.close", "escape,ctrl+c", "close", "close without starting", priority=True),
)

REVIEW_LINE_KEYS = (
    Key("changereview.up", "up,k", "move(-1)", "previous line"),
    Key("changereview.down", "down,j", "move(1)", "next line"),
    Key("changereview.page_up", "pageup,ctrl+u", "page(-1)", "page up"),
    Key("changereview.page_down", "pagedown,ctrl+d", "page(1)", "page down"),
    Key("changereview.first", "home,g", "edge(-1)", "start of the file"),
    Key("changereview.last", "end,G", "edge(1)", "end of the file"),
    Key("changereview.previous_hunk", "p,N", "move_hunk(-1)", "previous hunk"),
    Key("changereview.next_hunk", "n", "move_hunk(1)", "next hunk"),
)

CHANGE_REVIEW_KEYS = (
    Key("changereview.previous_file", "left,h,shift+tab", "move_file(-1)", "previous file"),
    Key("changereview.next_file", "right,l,tab", "move_file(1)", "next file"),
    Key("changereview.viewed", "v", "mark_viewed", "mark the file as viewed, and go to the next one"),
    Key("changereview.comment", "c,enter", "comment", "comment on this line, or edit its comment"),
    Key("changereview.delete", "delete,D", "delete_comment", "delete the comment of this line"),
    Key("changereview.send", "S", "send", "send all comments to the agent"),
    Key("changereview.mark", "space,x", "toggle_hunk", "mark this hunk to be reverted, or keep it"),
    Key("changereview.mark_all", "a", "toggle_all_hunks", "mark all hunks of the file, or keep them"),
    Key("changereview.revert", "r", "revert", "revert the marked hunks, with a preview"),
    Key("changereview.why", "w", "explain", "show who wrote this line, and why"),
    Key("changereview.layout", "s", "layout", "side by side, or one column"),
    Key("changereview.copy", "y", "copy", "copy the diff of the file"),
    Key("changereview.close", "escape,q,ctrl+c", "close", "close"),
)

BRANCH_KEYS = (
    Key("branch.switch", "b", "switch", "switch to this branch", priority=True),
    Key("branch.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

PAGER_KEYS = (
    Key("pager.close", "escape,q,ctrl+c", "close", "close", priority=True),
    Key("pager.up", "up,k", "scroll(-1)", "up"),
    Key("pager.down", "down,j", "scroll(1)", "down"),
    Key("pager.page_up", "pageup,b", "page(-1)", "page up"),
    Key("pager.page_down", "pagedown,space", "page(1)", "page down"),
    Key("pager.top", "home,g", "edge(-1)", "go to the start"),
    Key("pager.end", "end,G", "edge(1)", "go to the end"),
    Key("pager.search", "slash", "search", "search"),
    Key("pager.next", "n", "match(1)", "next match"),
    Key("pager.previous", "N", "match(-1)", "previous match"),
    Key("pager.copy", "y", "copy", "copy all"),
)

PICKER_KEYS = (
    Key("picker.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("picker.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("picker.page_up", "pageup", "move(-10)", "page up", priority=True),
    Key("picker.page_down", "pagedown", "move(10)", "page down", priority=True),
    Key("picker.close", "escape,ctrl+c", "close", "close", priority=True),
)

MODEL_PICKER_KEYS = (
    Key("models.less", "left", "change_level(-1)", "think less", priority=True),
    Key("models.more", "right", "change_level(1)", "think more", priority=True),
)

HELP_KEYS = (
    Key("help.close", "escape,f1,ctrl+c", "close", "close", priority=True),
    Key("help.up", "up", "scroll(-1)", "up"),
    Key("help.down", "down", "scroll(1)", "down"),
    Key("help.page_up", "pageup", "page(-1)", "page up"),
    Key("help.page_down", "pagedown", "page(1)", "page down"),
)

MCP_KEYS = (
    Key("mcp.up", "up,k", "move(-1)", "previous server"),
    Key("mcp.down", "down,j", "move(1)", "next server"),
    Key("mcp.page_up", "pageup", "scroll(-5)", "scroll up"),
    Key("mcp.page_down", "pagedown,space", "scroll(5)", "scroll down"),
    Key("mcp.reconnect", "r", "reconnect", "reconnect the server"),
    Key("mcp.sign_in", "s", "sign_in", "sign in to the server"),
    Key("mcp.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

AGENTS_KEYS = (
    Key("agents.up", "up,k", "move(-1)", "previous agent"),
    Key("agents.down", "down,j", "move(1)", "next agent"),
    Key("agents.page_up", "pageup,b", "scroll(-5)", "scroll up"),
    Key("agents.page_down", "pagedown,space", "scroll(5)", "scroll down"),
    Key("agents.begin", "enter", "begin", "start a new session with this agent"),
    Key("agents.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

TASKS_KEYS = (
    Key("tasks.up", "up,k", "move(-1)", "previous task"),
    Key("tasks.down", "down,j", "move(1)", "next task"),
    Key("tasks.page_up", "pageup,b", "scroll(-8)", "scroll the output up"),
    Key("tasks.page_down", "pagedown,space", "scroll(8)", "scroll the output down"),
    Key("tasks.open", "enter", "open", "open the output in the pager"),
    Key("tasks.stop", "x,delete", "stop", "stop the task"),
    Key("tasks.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

FLEET_KEYS = (
    Key("fleet.up", "up,k", "move(-1)", "previous task"),
    Key("fleet.down", "down,j", "move(1)", "next task"),
    Key("fleet.page_up", "pageup,b", "move(-8)", "eight tasks up"),
    Key("fleet.page_down", "pagedown,space", "move(8)", "eight tasks down"),
    Key("fleet.first", "home", "move(-1000000)", "first task"),
    Key("fleet.last", "end", "move(1000000)", "last task"),
    Key("fleet.open", "enter", "open", "open the task as a session"),
    Key("fleet.filter", "f", "filter", "list only the tasks of one state"),
    Key("fleet.back", "r", "back", "return to the session from before"),
    Key("fleet.close", "escape,q,ctrl+c", "close", "close", priority=True),
)

RUNNING_SESSIONS_KEYS = (
    Key("running.up", "up,k", "move(-1)", "previous session"),
    Key("running.down", "down,j", "move(1)", "next session"),
    Key("running.first", "home", "move(-1000000)", "first session"),
    Key("running.last", "end", "move(1000000)", "last session"),
    Key("running.page_up", "pageup,b", "scroll(-8)", "scroll the request up"),
    Key("running.page_down", "pagedown,space", "scroll(8)", "scroll the request down"),
    Key("running.open", "enter", "open", "open the session"),
    Key("running.allow", "y", "allow", "allow the requested call, or send the selected options"),
    Key("running.decline", "n", "decline", "reject the call, or dismiss the question"),
    Key("running.option_1", "1", "choose(1)", "answer with the first option"),
    Key("running.option_2", "2", "choose(2)", "answer with the second option"),
    Key("running.option_3", "3", "choose(3)", "answer with the third option"),
    Key("running.option_4", "4", "choose(4)", "answer with the fourth option"),
    Key("running.stop", "s", "stop", "interrupt, save and close the session (twice)"),
    Key("running.close", "escape,q,f5,ctrl+c", "close", "close", priority=True),
)

EDITING_KEYS = (
    Key("edit.left", "left", "cursor_left", "left"),
    Key("edit.right", "right", "cursor_right", "right"),
    Key("edit.word_left", "ctrl+left,alt+left,alt+b", "cursor_word_left", "word left"),
    Key("edit.word_right", "ctrl+right,alt+right,alt+f", "cursor_word_right", "word right"),
    Key("edit.line_start", "home,ctrl+a", "cursor_line_start", "start of the line"),
    Key("edit.line_end", "end,ctrl+e", "cursor_line_end", "end of the line"),
    Key("edit.select_left", "shift+left", "cursor_left(True)", "select left"),
    Key("edit.select_right", "shift+right", "cursor_right(True)", "select right"),
    Key("edit.select_up", "shift+up", "cursor_up(True)", "select up"),
    Key("edit.select_down", "shift+down", "cursor_down(True)", "select down"),
    Key("edit.select_word_left", "ctrl+shift+left", "cursor_word_left(True)", "select word left"),
    Key("edit.select_word_right", "ctrl+shift+right", "cursor_word_right(True)", "select word right"),
    Key("edit.select_line_start", "shift+home", "cursor_line_start(True)", "select to the start of the line"),
    Key("edit.select_line_end", "shift+end", "cursor_line_end(True)", "select to the end of the line"),
    Key("edit.select_all", "f7", "select_all", "select all"),
    Key("edit.delete_left", "backspace", "delete_left", "delete left"),
    Key("edit.delete_right", "delete", "delete_right", "delete right"),
    Key("edit.delete_word_left", "ctrl+w,alt+backspace", "delete_word_left", "delete word left"),
    Key("edit.delete_word_right", "alt+delete,alt+d", "delete_word_right", "delete word right"),
    Key("edit.delete_to_start", "ctrl+u", "delete_to_start_of_line", "delete to the start of the line"),
    Key("edit.delete_to_end", "ctrl+k", "delete_to_end_of_line", "delete to the end of the line"),
    Key("edit.undo", "ctrl+z", "undo", "undo"),
    Key("edit.redo", "ctrl+y,ctrl+shift+z", "redo", "redo"),
)

APPROVAL_KEYS = (
    Key("approvals.once", "y", "answer('once')", "yes"),
    Key("approvals.session", "a", "answer('session')", "yes, for this session"),
    Key("approvals.always", "p", "answer('always')", "always allow"),
    Key("approvals.direct", "x", "answer('direct')", "run the command for real"),
    Key("approvals.no", "n", "answer('no')", "no"),
    Key("approvals.feedback", "f", "answer('feedback')", "no, and tell it what to do instead"),
    Key("approvals.edit", "e", "answer('edit')", "edit the proposal in your editor"),
    Key("approvals.review", "r", "review", "review all open requests"),
    Key("approvals.layout", "s", "layout", "toggle side-by-side diff"),
    Key("approvals.left", "left,shift+tab", "move(-1)", "previous answer"),
    Key("approvals.right", "right,tab", "move(1)", "next answer"),
    Key("approvals.choose", "enter,space", "choose", "choose the highlighted answer"),
    Key("approvals.up", "up,k", "scroll(-1)", "scroll up"),
    Key("approvals.down", "down,j", "scroll(1)", "scroll down"),
)

SESSIONS_KEYS = (
    Key("sessions.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("sessions.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("sessions.page_up", "pageup", "move(-10)", "page up", priority=True),
    Key("sessions.page_down", "pagedown", "move(10)", "page down", priority=True),
    Key("sessions.scroll_up", "shift+up", "scroll(-3)", "scroll the preview up", priority=True),
    Key("sessions.scroll_down", "shift+down", "scroll(3)", "scroll the preview down", priority=True),
    Key("sessions.scope", "tab", "scope", "this directory or all directories", priority=True),
    Key("sessions.fork", "ctrl+k", "fork", "fork", priority=True),
    Key("sessions.rename", "ctrl+r", "rename", "rename", priority=True),
    Key("sessions.delete", "ctrl+x", "delete", "delete", priority=True),
    Key("sessions.preview", "ctrl+o", "preview", "open the preview in the pager", priority=True),
    Key("sessions.search", "ctrl+f", "search", "search in all messages", priority=True),
    Key("sessions.close", "escape,ctrl+c", "close", "close", priority=True),
)

MESSAGE_SEARCH_KEYS = (
    Key("message_search.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("message_search.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("message_search.page_up", "pageup", "move(-10)", "page up", priority=True),
    Key("message_search.page_down", "pagedown", "move(10)", "page down", priority=True),
    Key("message_search.quote", "ctrl+o", "quote", "quote in the prompt", priority=True),
    Key("message_search.scroll_up", "ctrl+up", "scroll(-5)", "scroll the message up", priority=True),
    Key("message_search.scroll_down", "ctrl+down", "scroll(5)", "scroll the message down", priority=True),
    Key("message_search.close", "escape,ctrl+c", "close", "close", priority=True),
)

SETUP_KEYS = (
    Key("setup.up", "up", "move(-1)", "up", priority=True),
    Key("setup.down", "down", "move(1)", "down", priority=True),
    Key("setup.take", "enter", "take", "choose; test and connect", priority=True),
    Key("setup.back", "escape,ctrl+c", "back", "back", priority=True),
)

SETTINGS_KEYS = (
    Key("settings.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("settings.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("settings.page_up", "pageup", "move(-10)", "page up", priority=True),
    Key("settings.page_down", "pagedown", "move(10)", "page down", priority=True),
    Key("settings.reset", "ctrl+r", "reset", "remove from your config file", priority=True),
    Key("settings.close", "escape,ctrl+c", "close", "close", priority=True),
)

PERMISSIONS_KEYS = (
    Key("permissions.up", "up,ctrl+p", "move(-1)", "up", priority=True),
    Key("permissions.down", "down,ctrl+n", "move(1)", "down", priority=True),
    Key("permissions.page_up", "pageup", "move(-10)", "page up", priority=True),
    Key("permissions.page_down", "pagedown", "move(10)", "page down", priority=True),
    Key("permissions.revoke", "ctrl+x", "revoke", "revoke the rule", priority=True),
    Key("permissions.keep", "ctrl+y", "keep", "allow again", priority=True),
    Key("permissions.close", "escape,ctrl+c", "close", "close", priority=True),
)

REVIEW_KEYS = (
    Key("review.up", "up,k", "move(-1)", "previous request"),
    Key("review.down", "down,j", "move(1)", "next request"),
    Key("review.accept", "y", "decide('accept')", "approve"),
    Key("review.reject", "n", "decide('reject')", "reject"),
    Key("review.accept_all", "a", "decide_rest('accept')", "approve all undecided requests"),
    Key("review.reject_all", "x", "decide_rest('reject')", "reject all undecided requests"),
    Key("review.edit", "e", "edit", "edit in your editor"),
    Key("review.layout", "s", "layout", "toggle side-by-side diff"),
    Key("review.page_up", "pageup,b", "page(-1)", "page up"),
    Key("review.page_down", "pagedown,space", "page(1)", "page down"),
    Key("review.answer", "enter", "answer", "submit the decisions"),
    Key("review.close", "escape,q,ctrl+c", "close", "close without deciding", priority=True),
)

CONVERSATION_KEYS = tuple(
    Key(binding.id or "", binding.key, binding.action, binding.tooltip) for binding in TRANSCRIPT_BINDINGS
)
