"""Parameters of the client's calls, and their validation."""

import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kimi_tui.base.content_parts import ContentPart
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcCall, RpcError

P = TypeVar("P", bound=BaseModel)

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Function names that every provider accepts."""


class Params(BaseModel):
    """Base class of parameters. Unknown fields come from newer versions and are ignored."""

    model_config = ConfigDict(extra="ignore")


class ClientCapabilities(Params):
    """Features that the client supports."""

    supports_question: bool = False
    supports_plan_mode: bool = False
    supports_timeline: bool = False
    supports_effects: bool = False

    @property
    def unanswerable_tools(self) -> tuple[str, ...]:
        """Tools that ask questions that the client can't answer.

        ExitPlanMode isn't included, because it shows a plan that needs no answer.
        """
        if not self.supports_question:
            return ("AskUserQuestion", "EnterPlanMode")
        return () if self.supports_plan_mode else ("EnterPlanMode",)


class ExternalTool(Params):
    """A tool that runs in the client.

    Names and schemas are validated per tool, so any JSON is accepted here.
    """

    name: str
    description: str = ""
    parameters: Any = Field(default_factory=dict)

    @property
    def problem(self) -> str:
        """Reason why the tool can't be offered to a model; empty if it can be offered."""
        if not _TOOL_NAME.fullmatch(self.name):
            return "The name must have 1 to 64 letters, digits, underscores or dashes."
        if not isinstance(self.parameters, dict):
            return "The parameters aren't a JSON schema."
        if self.parameters.get("type", "object") != "object":
            return "The schema of the parameters must be of type object."
        return ""


class HookParams(Params):
    """An event that the client subscribes to. Hooks for unknown events never fire.

    `timeout` is in seconds.
    """

    id: str
    event: str
    matcher: str = ""
    timeout: float = Field(30.0, gt=0)


class InitializeParams(Params):
    """Parameters of the handshake."""

    protocol_version: str
    external_tools: list[ExternalTool] | None = None
    hooks: list[HookParams] | None = None
    capabilities: ClientCapabilities = Field(default_factory=ClientCapabilities)


class InputParams(Params):
    """Parameters with the user's input."""

    user_input: Annotated[str, Field(min_length=1)] | Annotated[tuple[ContentPart, ...], Field(min_length=1)]


class PlanModeParams(Params):
    """Parameters that turn plan mode on or off."""

    enabled: bool


def parse_params(model_type: type[P], call: RpcCall) -> P:
    """Return the parameters of `call`. Raises RpcError that names the invalid fields."""
    params = {name: value for name, value in call.params.items() if value is not None}
    try:
        return model_type.model_validate(params)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False, include_context=False)[:5]
        )
        message = f"Invalid parameters for {call.method}: {problems}."
        raise RpcError(ErrorCode.BAD_PARAMS, message, id=call.id) from error
