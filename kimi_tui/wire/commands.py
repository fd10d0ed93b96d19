"""Commands from a front end to the engine. Results are sent as events."""

from typing import Any, Literal

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.frozen import frozen
from kimi_tui.base.hook_events import HookEventName
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.wire.argument_completion import CompleteArgument as CompleteArgument
from kimi_tui.wire.attempts import AttemptCommand
from kimi_tui.wire.base_command import BaseCommand, Scheduling
from kimi_tui.wire.bisect import BisectCommand
from kimi_tui.wire.model_setup import SetupCommand
from kimi_tui.wire.permissions import PermissionCommand
from kimi_tui.wire.review import ReviewCommand
from kimi_tui.wire.settings import SettingsCommand
from kimi_tui.wire.timeline import FileChoice, RevertScope
from kimi_tui.wire.why import ExplainLine


@frozen
class Prompt(BaseCommand):
    """Start a turn. If another turn is running, wait for its end first."""

    user_input: UserInput
    prompt_id: str | None = None
    """Sent in the turn's TurnBegin, so that a client of a shared session recognizes its own turn."""


@frozen
class Steer(BaseCommand):
    """Send a message to the running turn. The turn's next step sees it.

    If no turn is running, the message starts one, like a Prompt.
    """

    user_input: UserInput


@frozen
class Interrupt(BaseCommand):
    """Cancel the running turn."""

    prompt_id: str | None = None
    """Cancel only the turn of this prompt, even if the turn hasn't begun yet."""
    scheduling = "immediate"


@frozen
class RunSlash(BaseCommand):
    """Run a slash command of the engine, such as `/compact`. `line` has no leading slash."""

    line: str
    prompt_id: str | None = None
    """As in Prompt, for a command that runs as a turn."""


@frozen
class SetModel(BaseCommand):
    """Use another configured model, starting with the next step."""

    name: str


@frozen
class SetThinking(BaseCommand):
    """Turn thinking on or off, starting with the next step."""

    enabled: bool
    effort: ThinkingEffort | None = None
    """Thinking effort, such as `medium`. Overrides `enabled`. If None, `enabled` selects `high` or `off`."""


@frozen
class SetYolo(BaseCommand):
    """Turn automatic approval of everything on or off."""

    enabled: bool


@frozen
class SetAcceptEdits(BaseCommand):
    """Turn automatic approval of safe edits in the working directory on or off."""

    enabled: bool


@frozen
class SetPlanMode(BaseCommand):
    """Turn plan mode on or off. In plan mode the agent can only read until a plan is approved."""

    enabled: bool


@frozen
class ToolDefinition:
    """Definition of a tool that runs in the client. `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@frozen
class RegisterTools(BaseCommand):
    """Offer tools of the client to the model, replacing earlier registrations.

    A call of such a tool becomes a ToolCallRequest. If a tool of the agent has the same name, the agent's
    tool takes precedence.
    """

    tools: tuple[ToolDefinition, ...]


@frozen
class ExcludeTools(BaseCommand):
    """Hide from the model the agent's own tools that this front end doesn't support.

    Replaces earlier exclusions.
    """

    names: tuple[str, ...]
    """Original names of the tools, even if the agent renames them."""


@frozen
class HookSubscription:
    """Subscription of the client to a hook event, equivalent to a configured hook."""

    id: str
    event: HookEventName
    matcher: str = ""
    timeout: float = 30.0
    """Seconds. If the client doesn't answer in time, nothing is blocked."""


@frozen
class SubscribeHooks(BaseCommand):
    """Send the client a HookRequest for these events, replacing earlier subscriptions."""

    hooks: tuple[HookSubscription, ...]


@frozen
class SaveRecording(BaseCommand):
    """Flush the session's recording to disk."""


@frozen
class ShowTimeline(BaseCommand):
    """Send the whole tree of checkpoints as a Timeline, then changes as TimelineUpdates."""

    newest: int = 0
    """Approximate number of newest checkpoints to send if the current branch is long. 0 for all. A front end
    can show these first and then request all checkpoints.
    """


@frozen
class ReadBranch(BaseCommand):
    """Send the messages on a branch. The reply is BranchContent."""

    branch: int


@frozen
class Compare(BaseCommand):
    """Compare the files at two checkpoints. The reply is a Comparison."""

    scheduling = "plan"

    before: int
    after: int | None = None
    """None for the current files."""


@frozen
class WritePatch(BaseCommand):
    """Write the differences between two checkpoints as a patch for `git apply`. The reply is PatchWritten.

    `path` is relative to the working directory. If empty, an unused name there is chosen.
    """

    scheduling = "plan"

    before: int
    after: int | None = None
    """None for the current files."""
    path: str = ""


@frozen
class PlanRevert(BaseCommand):
    """Plan a revert, an undo or a redo. The reply is a RevertPlan."""

    scheduling = "plan"

    to: int | Literal["undo", "redo"]
    scope: RevertScope = "both"


@frozen
class PlanSwitch(BaseCommand):
    """Plan a SwitchBranch. The reply is a RevertPlan."""

    scheduling = "plan"

    branch: int
    to: int | None = None


@frozen
class Revert(BaseCommand):
    """Revert to the state before a checkpoint, on the current or another branch."""

    scheduling = "revert"
    needs_idle = True

    to: int
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    """The files to change, as named in the plan; None for the files selected by default."""
    note: str = ""
    """A D-Mail from the user: a note for the model."""
    choices: tuple[FileChoice, ...] = ()
    """Decisions about single files. They apply whether or not the file is in `paths`."""


@frozen
class Undo(BaseCommand):
    """Undo the last revert, after a plan of the same kind. `paths` and `choices` are as in Revert."""

    scheduling = "revert"
    needs_idle = True

    paths: tuple[str, ...] | None = None
    choices: tuple[FileChoice, ...] = ()


@frozen
class Redo(BaseCommand):
    """Redo the last undone revert. `paths` and `choices` are as in Revert."""

    scheduling = "revert"
    needs_idle = True

    paths: tuple[str, ...] | None = None
    choices: tuple[FileChoice, ...] = ()


@frozen
class SwitchBranch(BaseCommand):
    """Continue at the end of a branch, or before its checkpoint `to`.

    The current branch becomes a separate branch.
    """

    scheduling = "revert"
    needs_idle = True

    branch: int
    to: int | None = None
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    """As in Revert."""
    choices: tuple[FileChoice, ...] = ()
    """As in Revert."""


@frozen
class ForkSession(BaseCommand):
    """Fork a new session from the conversation before a checkpoint on any branch.

    The reply is SessionForked.
    """

    needs_idle = True

    to: int | None = None
    """None for all of the current branch."""


@frozen
class NameCheckpoint(BaseCommand):
    """Name a checkpoint on any branch. An empty name removes the existing one."""

    id: int
    name: str


@frozen
class ReadTask(BaseCommand):
    """Read part of a background task's output. The reply is a TaskText."""

    scheduling = "concurrent"

    task_id: str
    offset: int = 0
    """Offset in bytes. A negative offset counts from the end."""


@frozen
class MoveToBackground(BaseCommand):
    """Move the running command of a tool call to the background, or all running commands."""

    scheduling = "immediate"

    call_id: str = ""
    """ID of the tool call; empty for all running commands."""


@frozen
class StopTask(BaseCommand):
    """Stop a background task and all processes it has started."""

    scheduling = "concurrent"

    task_id: str


@frozen
class RunShell(BaseCommand):
    """Run a shell command of the user. Sends ShellCommandBegin and ShellCommandEnd.

    With `on_terminal`, the command uses the terminal of the engine's process. Only a front end in the same
    process can use this, and it must not use the terminal until `Wire.command_and_wait` returns.
    """

    id: str
    command: str
    on_terminal: bool = False

    @property
    def scheduling(self) -> Scheduling:
        """`in_order` for a command on the terminal, otherwise `concurrent`."""
        return "in_order" if self.on_terminal else "concurrent"


@frozen
class StopShell(BaseCommand):
    """Stop the user's running shell commands."""

    scheduling = "concurrent"


@frozen
class ListSessions(BaseCommand):
    """List the sessions on disk, or those that contain `text`. The reply is a SessionList."""

    scheduling = "concurrent"

    text: str = ""


@frozen
class SearchMessages(BaseCommand):
    """Search the messages of all sessions, and of their branches and sub-agents, for words.

    The reply is a MessageMatches. Until the next search, more replies follow as messages are indexed.
    """

    scheduling = "concurrent"

    text: str
    limit: int = 100


@frozen
class PreviewSession(BaseCommand):
    """Show the end of a session's conversation and its changed files. The reply is a SessionPreview."""

    scheduling = "concurrent"

    id: str


@frozen
class RenameSession(BaseCommand):
    """Rename a session. The reply is a SessionList."""

    scheduling = "concurrent"

    id: str
    title: str


@frozen
class DeleteSession(BaseCommand):
    """Delete a session that isn't open, including its branches. The reply is a SessionList."""

    scheduling = "concurrent"

    id: str


@frozen
class Shutdown(BaseCommand):
    """Cancel everything that is running, save, and close the Wire."""


TimelineCommand = (
    ShowTimeline
    | ReadBranch
    | Compare
    | WritePatch
    | PlanRevert
    | PlanSwitch
    | Revert
    | Undo
    | Redo
    | SwitchBranch
    | ForkSession
    | NameCheckpoint
    | BisectCommand
    | ExplainLine
    | ReviewCommand
    | AttemptCommand
)
"""Commands for the timeline."""

Command = (
    Prompt
    | Steer
    | Interrupt
    | RunSlash
    | SetModel
    | SetThinking
    | SetYolo
    | SetAcceptEdits
    | SetPlanMode
    | RegisterTools
    | ExcludeTools
    | SubscribeHooks
    | SaveRecording
    | CompleteArgument
    | ReadTask
    | MoveToBackground
    | StopTask
    | TimelineCommand
    | RunShell
    | StopShell
    | ListSessions
    | SearchMessages
    | PreviewSession
    | RenameSession
    | DeleteSession
    | SetupCommand
    | SettingsCommand
    | PermissionCommand
    | Shutdown
)
