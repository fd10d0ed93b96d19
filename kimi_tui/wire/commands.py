"""Commands: what a front end asks of the engine. Their outcome comes back as events."""

from dataclasses import dataclass

from kimi_tui.base.content import UserInput


@dataclass(frozen=True, slots=True)
class Prompt:
    """Start a turn; while one runs, start it after that one."""

    user_input: UserInput


@dataclass(frozen=True, slots=True)
class Steer:
    """Say something to the turn that runs; its next step sees it. Without a turn, a Prompt."""

    user_input: UserInput


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Cancel the turn that runs."""


@dataclass(frozen=True, slots=True)
class RunSlash:
    """Run an engine command such as `/compact`; `line` has no leading slash."""

    line: str


@dataclass(frozen=True, slots=True)
class SetModel:
    """Use another configured model from the next step on."""

    name: str


@dataclass(frozen=True, slots=True)
class SetThinking:
    """Turn thinking on or off from the next step on."""

    enabled: bool


@dataclass(frozen=True, slots=True)
class SetYolo:
    """Approve everything, or ask again."""

    enabled: bool


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Cancel what runs, save, and close the Wire."""


Command = Prompt | Steer | Interrupt | RunSlash | SetModel | SetThinking | SetYolo | Shutdown
