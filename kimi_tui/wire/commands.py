"""Commands: what a front end asks of the engine. Their outcome comes back as events."""

from typing import Any, Literal

from kimi_tui.base.content import UserInput
from kimi_tui.base.hook_events import HookEventName
from kimi_tui.base.value import value
from kimi_tui.wire.completion import CompleteArgument as CompleteArgument
from kimi_tui.wire.settings import SettingsCommand
from kimi_tui.wire.setup import SetupCommand
from kimi_tui.wire.timeline import RevertScope


@value
class Prompt:
    """Start a turn; while one runs, start it after that one."""

    user_input: UserInput


@value
class Steer:
    """Say something to the turn that runs; its next step sees it. Without a turn, a Prompt."""

    user_input: UserInput


@value
class Interrupt:
    """Cancel the turn that runs."""


@value
class RunSlash:
    """Run an engine command such as `/compact`; `line` has no leading slash."""

    line: str


@value
class SetModel:
    """Use another configured model from the next step on."""

    name: str


@value
class SetThinking:
    """Turn thinking on or off from the next step on."""

    enabled: bool


@value
class SetYolo:
    """Approve everything, or ask again."""

    enabled: bool


@value
class SetAcceptEdits:
    """Approve harmless edits in the work dir, or ask again."""

    enabled: bool


@value
class SetPlanMode:
    """Allow reading alone until a plan is approved, or allow changes again."""

    enabled: bool


@value
class ToolDefinition:
    """A tool that runs at the client: what the model is told of it. `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@value
class RegisterTools:
    """Offer these tools of the client to the model, in place of those that it registered before.

    A call of one becomes a ToolCallRequest. A name that the agent's own tools have stays theirs.
    """

    tools: tuple[ToolDefinition, ...]


@value
class LeaveOutTools:
    """Tell the model nothing of these of the agent's own tools, which ask what this front end can't answer.

    In place of those that were left out before.
    """

    names: tuple[str, ...]
    """What the tools are called by themselves, whatever an agent calls them."""


@value
class HookSubscription:
    """A wish of the client's to be asked when an event fires, as a hook of the config is."""

    id: str
    event: HookEventName
    matcher: str = ""
    timeout: float = 30.0
    """Seconds; without an answer by then nothing is blocked."""


@value
class SubscribeHooks:
    """Send the client a HookRequest at these events, in place of those that it subscribed to before."""

    hooks: tuple[HookSubscription, ...]


@value
class SaveRecording:
    """Write what has been sent so far to the session's recording."""


@value
class ShowTimeline:
    """Send the whole tree of checkpoints, a Timeline, and tell what changes in it from then on."""

    newest: int = 0
    """Of a long live line send only about so many of the newest checkpoints, at once, for whoever shows those
    first and asks for all of them then; 0 for all."""


@value
class LookIntoBranch:
    """Send what was said on a branch: a BranchContent comes back."""

    branch: int


@value
class Compare:
    """Show how the files differ between two checkpoints: a Comparison comes back."""

    before: int
    after: int | None = None
    """None for the files as they are now."""


@value
class WritePatch:
    """Write how the files differ, as Compare shows it, to a file that `git apply` takes: PatchWritten.

    A `path` is taken from the work dir; without one a name is found there that is not taken.
    """

    before: int
    after: int | None = None
    """None compares with the files as they are now."""
    path: str = ""


@value
class PlanRevert:
    """Show what going to a checkpoint, an undo or a redo would do: a RevertPlan comes back."""

    to: int | Literal["undo", "redo"]
    scope: RevertScope = "both"


@value
class PlanSwitch:
    """Show what a SwitchBranch would do: a RevertPlan comes back."""

    branch: int
    to: int | None = None


@value
class Revert:
    """Go back to just before a checkpoint, also to one that lies on a branch."""

    to: int
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    """The files to change, as the plan names them; None for those that it ticks."""
    note: str = ""
    """A D-Mail of the user: what the model is to read there."""


@value
class Undo:
    """Take the last revert back, by the same kind of plan. `paths` as in Revert."""

    paths: tuple[str, ...] | None = None


@value
class Redo:
    """Take the last undo back. `paths` as in Revert."""

    paths: tuple[str, ...] | None = None


@value
class SwitchBranch:
    """Go on where a branch ended, or just before its checkpoint `to`; the live line becomes a branch."""

    branch: int
    to: int | None = None
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    """As in Revert."""


@value
class ForkSession:
    """Make the conversation up to just before a checkpoint, of any line, a new session: SessionForked."""

    to: int | None = None
    """None for all of the live line."""


@value
class NameCheckpoint:
    """Give a checkpoint of any line a name; an empty one takes it away."""

    id: int
    name: str


@value
class ReadTask:
    """Show a piece of a background task's output: a TaskText comes back."""

    task_id: str
    offset: int = 0
    """In bytes; a negative one counts from the end."""


@value
class StopTask:
    """Stop a background task and all that it has started."""

    task_id: str


@value
class RunShell:
    """Run a command of the user's own, in their shell: ShellCommandBegin comes, and ShellCommandEnd.

    With `on_terminal` it has the terminal of the engine's process: only for a front end in that process,
    which lends its terminal until `Wire.carry_out` returns.
    """

    id: str
    command: str
    on_terminal: bool = False


@value
class StopShell:
    """Stop the user's commands that run."""


@value
class ListSessions:
    """Show the sessions on disk, those with `text` in them if there is one: a SessionList comes back."""

    text: str = ""


@value
class PreviewSession:
    """Show how a session ended: a SessionPreview comes back."""

    id: str


@value
class RenameSession:
    """Give a session another title: a SessionList comes back."""

    id: str
    title: str


@value
class DeleteSession:
    """Delete a session that is not open, with its branches: a SessionList comes back."""

    id: str


@value
class Shutdown:
    """Cancel what runs, save, and close the Wire."""


TravelCommand = (
    ShowTimeline
    | LookIntoBranch
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
)
"""What concerns the timeline."""

PersonalCommand = (
    RunShell
    | StopShell
    | ListSessions
    | PreviewSession
    | RenameSession
    | DeleteSession
    | SetupCommand
    | SettingsCommand
)
"""What concerns the user alone, not the conversation."""

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
    | LeaveOutTools
    | SubscribeHooks
    | SaveRecording
    | CompleteArgument
    | ReadTask
    | StopTask
    | TravelCommand
    | PersonalCommand
    | Shutdown
)
