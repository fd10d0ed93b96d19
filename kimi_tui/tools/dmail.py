"""SendDMail: a message from the model to itself at an earlier checkpoint."""

from collections.abc import Callable, Collection

from pydantic import Field

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn


@frozen
class DMail:
    """A message from the model to its earlier self."""

    message: str
    checkpoint_id: int


class DMailError(KimiTuiError):
    """Raised if a D-Mail can't be sent. Nothing has changed."""


class DMailbox:
    """Holds the pending D-Mail until the soul delivers it. At most one can be pending."""

    def __init__(self) -> None:
        self._checkpoint_ids: Callable[[], Collection[int]] = frozenset
        self._pending: DMail | None = None

    def set_checkpoint_source(self, source: Callable[[], Collection[int]]) -> None:
        """Set the function that returns the ids of the checkpoints a D-Mail may be sent to."""
        self._checkpoint_ids = source

    def send(self, dmail: DMail) -> None:
        """Make `dmail` the pending D-Mail.

        Raises DMailError if one is pending already or the checkpoint can't be used.
        """
        if self._pending is not None:
            raise DMailError(
                "A D-Mail is pending already, and only one can be sent at a time.",
                hint=f"It goes to checkpoint {self._pending.checkpoint_id}. Make no more calls.",
            )
        if dmail.checkpoint_id < 0:
            raise DMailError("Checkpoint ids are never negative.", hint=self._checkpoints_hint())
        if dmail.checkpoint_id not in self._checkpoint_ids():
            raise DMailError(
                msg("Checkpoint {checkpoint} doesn't exist.", checkpoint=dmail.checkpoint_id),
                hint=self._checkpoints_hint(),
            )
        self._pending = dmail

    def pop_pending(self) -> DMail | None:
        """Remove and return the pending D-Mail; None if nothing is pending."""
        pending, self._pending = self._pending, None
        return pending

    def _checkpoints_hint(self) -> str:
        if not (ids := self._checkpoint_ids()):
            return "No checkpoints yet."
        return f"The checkpoints are: {_format_ranges(sorted(ids))}."


class SendDMailParams(ToolParams):
    """Parameters of SendDMail."""

    message: str = Field(description="Everything your earlier self needs to know. Nothing else remains.")
    checkpoint_id: int = Field(description="The checkpoint to revert to: the n of a `CHECKPOINT n` note.")


class SendDMail(Tool[SendDMailParams]):
    """Reverts the conversation to a checkpoint and leaves a message there."""

    name = "SendDMail"
    Params = SendDMailParams

    def __init__(self, mailbox: DMailbox) -> None:
        self._mailbox = mailbox

    async def run(self, params: SendDMailParams, call: CallContext) -> ToolReturn:
        """Store the message in the mailbox. The soul delivers it when the calls of the step have ended."""
        if not params.message.strip():
            return failure("The message is empty. Write what your earlier self should know.")
        try:
            self._mailbox.send(DMail(params.message, params.checkpoint_id))
        except DMailError as error:
            return failure(str(error), brief=error.what)
        return success(
            message=f"The D-Mail is sent to checkpoint {params.checkpoint_id} as soon as this step ends. "
            "Stop here: call no more tools and write nothing more, because none of it would remain.",
            brief=msg("to checkpoint {checkpoint}", checkpoint=params.checkpoint_id),
        )


def _format_ranges(numbers: list[int]) -> str:
    """Return ascending `numbers` with consecutive ones as ranges: `0-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)
