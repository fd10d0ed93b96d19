"""Authentication methods for clients, if no model is configured."""

from typing import Any

from acp import RequestError
from acp.schema import AuthMethodAgent, ClientCapabilities, EnvVarAuthMethod, TerminalAuthMethod

from kimi_tui.acp.errors import AUTH_REQUIRED, invalid_request
from kimi_tui.acp.session_registry import AcpEngines
from kimi_tui.base.terminal_text import sanitize_line

AuthMethod = EnvVarAuthMethod | TerminalAuthMethod | AuthMethodAgent

_VARIABLES = ("KIMI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
_CONFIG = "config"
_LOGIN_HINT = (
    "Run `kimi-tui login` to store an API key, define a model with `kimi-tui config edit`, or set"
    " KIMI_API_KEY, ANTHROPIC_API_KEY or OPENAI_API_KEY."
)


class ModelLogin:
    """Offers authentication methods, but only if no model is configured.

    If methods were always offered, clients would always ask the user to sign in before the first session.
    """

    def __init__(self, engines: AcpEngines) -> None:
        self._engines = engines

    def methods(self, capabilities: ClientCapabilities) -> list[AuthMethod]:
        """Return the authentication methods; empty if a model is configured."""
        if self._engines.has_model():
            return []
        methods: list[AuthMethod] = [
            AuthMethodAgent(id=_CONFIG, name="Use the configured model", description=_LOGIN_HINT)
        ]
        if capabilities.auth is not None and capabilities.auth.terminal:
            methods.append(_terminal_method())
        return [*methods, *map(_variable_method, _VARIABLES)]

    def check(self, method_id: str) -> None:
        """Raise RequestError with instructions if no model is configured, or if the method doesn't exist."""
        if method_id not in {_CONFIG, _terminal_method().id, *map(_method_id, _VARIABLES)}:
            raise invalid_request(f"Authentication method “{sanitize_line(method_id)}” doesn't exist.")
        if not self._engines.has_model():
            raise RequestError(AUTH_REQUIRED, f"No model is configured. {_LOGIN_HINT}")


def _terminal_method() -> TerminalAuthMethod:
    return TerminalAuthMethod(
        type="terminal",
        id="terminal",
        name="Sign in from a terminal",
        description="Ask for a provider's API key, test it and store it.",
        args=["login"],
    )


def _variable_method(name: str) -> EnvVarAuthMethod:
    variable: Any = {"name": name, "label": "API key"}
    return EnvVarAuthMethod(type="env_var", id=_method_id(name), name=f"Set {name}", vars=[variable])


def _method_id(variable: str) -> str:
    return variable.lower().replace("_", "-")
