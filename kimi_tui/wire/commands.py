"""Commands: what a front end asks of the engine. Their outcome comes back as events."""

from kimi_tui.base.content import UserInput
from kimi_tui.base.value import value


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
class Shutdown:
    """Cancel what runs, save, and close the Wire."""


Command = Prompt | Steer | Interrupt | RunSlash | SetModel | SetThinking | SetYolo | Shutdown
