"""Setting up a model, for a client whose user has none yet."""

from collections.abc import Callable
from typing import Any

from acp import RequestError
from acp.schema import AuthMethodAgent, ClientCapabilities, EnvVarAuthMethod, TerminalAuthMethod

from kimi_tui.acp.words import AUTH_REQUIRED, invalid
from kimi_tui.base.terminal import plain_line

AuthMethod = EnvVarAuthMethod | TerminalAuthMethod | AuthMethodAgent

_VARIABLES = ("KIMI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
_CONFIG = "config"
_HOW = (
    "Store a key (`kimi-tui login`), describe a model in the config (`kimi-tui config edit`), or set"
    " KIMI_API_KEY, ANTHROPIC_API_KEY or OPENAI_API_KEY."
)


class Login:
    """Nothing is asked of a user who has a model: no client then shows a gate before the first session."""

    def __init__(self, has_model: Callable[[], bool]) -> None:
        self._has_model = has_model

    def methods(self, capabilities: ClientCapabilities) -> list[AuthMethod]:
        """The ways to a model; none when there is one."""
        if self._has_model():
            return []
        methods: list[AuthMethod] = [
            AuthMethodAgent(id=_CONFIG, name="I have set up a model", description=_HOW)
        ]
        if capabilities.auth is not None and capabilities.auth.terminal:
            methods.append(_in_terminal())
        return [*methods, *map(_by_variable, _VARIABLES)]

    def check(self, method_id: str) -> None:
        """Return when there is a model. Raises RequestError, which says how to get one."""
        if method_id not in {_CONFIG, _in_terminal().id, *map(_id_of, _VARIABLES)}:
            raise invalid(f"There is no way to log in called “{plain_line(method_id)}”.")
        if not self._has_model():
            raise RequestError(AUTH_REQUIRED, f"No model is set up yet. {_HOW}")


def _in_terminal() -> TerminalAuthMethod:
    return TerminalAuthMethod(
        type="terminal",
        id="terminal",
        name="Log in in a terminal",
        description="Asks for a provider's API key, tries it and stores it.",
        args=["login"],
    )


def _by_variable(name: str) -> EnvVarAuthMethod:
    variable: Any = {"name": name, "label": "API key"}
    return EnvVarAuthMethod(type="env_var", id=_id_of(name), name=f"Set {name}", vars=[variable])


def _id_of(variable: str) -> str:
    return variable.lower().replace("_", "-")
