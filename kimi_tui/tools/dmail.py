"""SendDMail: a message from the model to itself at an earlier checkpoint."""

from collections.abc import Callable, Collection

from pydantic import Field

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.value import value
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.events import ToolReturn


@value
class DMail:
    """A message to an earlier self."""

    message: str
    checkpoint_id: int


class DMailRefused(KimiTuiError):
    """A D-Mail that can't be sent; nothing was changed."""


class DMailbox:
    """Holds the one D-Mail that is on its way until the soul takes it."""

    def __init__(self) -> None:
        self._checkpoints: Callable[[], Collection[int]] = frozenset
        self._pending: DMail | None = None

    def set_checkpoints(self, ids: Callable[[], Collection[int]]) -> None:
        """Say where to ask which checkpoints a D-Mail may go to."""
        self._checkpoints = ids

    def send(self, dmail: DMail) -> None:
        """Put `dmail` on its way. Raises DMailRefused when another one is, or it has nowhere to go."""
        if self._pending is not None:
            raise DMailRefused(
                "A D-Mail is on its way already, and only one can be at a time.",
                hint=f"It goes to checkpoint {self._pending.checkpoint_id}; make no further calls.",
            )
        if dmail.checkpoint_id < 0:
            raise DMailRefused("A checkpoint's id is never negative.", hint=self._where_to())
        if dmail.checkpoint_id not in self._checkpoints():
            raise DMailRefused(f"There is no checkpoint {dmail.checkpoint_id}.", hint=self._where_to())
        self._pending = dmail

    def take(self) -> DMail | None:
        """The D-Mail on its way, which then is no longer there; None when there is none."""
        pending, self._pending = self._pending, None
        return pending

    def _where_to(self) -> str:
        if not (ids := self._checkpoints()):
            return "There is no checkpoint yet to send one to."
        return f"Send it to one of these: {_ranges(sorted(ids))}."


class SendDMailParams(ToolParams):
    """What SendDMail takes."""

    message: str = Field(
        description="What your earlier self should know: all of it, since nothing else remains."
    )
    checkpoint_id: int = Field(description="The checkpoint to go back to, as its CHECKPOINT note names it.")


class SendDMail(Tool[SendDMailParams]):
    """Takes the conversation back to a checkpoint, with a message from the future."""

    name = "SendDMail"
    Params = SendDMailParams

    def __init__(self, mailbox: DMailbox) -> None:
        self._mailbox = mailbox

    async def run(self, params: SendDMailParams, call: RunningCall) -> ToolReturn:
        """Put the message on its way; the soul delivers it when the step's calls have ended."""
        if not params.message.strip():
            return failed("The message is empty. Write what your earlier self should know.")
        try:
            self._mailbox.send(DMail(params.message, params.checkpoint_id))
        except DMailRefused as refusal:
            return failed(str(refusal), brief=refusal.what)
        return ok(
            message=f"The D-Mail goes to checkpoint {params.checkpoint_id} as soon as this step ends. "
            "Stop here: call no more tools and write nothing more, since none of it would remain.",
            brief=f"to checkpoint {params.checkpoint_id}",
        )


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers, runs of them drawn together: `0-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)
