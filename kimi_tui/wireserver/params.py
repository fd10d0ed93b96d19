"""What a client's calls carry, checked at the border."""

import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kimi_tui.base.content import ContentPart
from kimi_tui.wireserver.jsonrpc import Call, ErrorCode, RpcError

P = TypeVar("P", bound=BaseModel)

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes as the name of a function."""


class Params(BaseModel):
    """Parameters; unknown ones are of a newer version and ignored."""

    model_config = ConfigDict(extra="ignore")


class ClientCapabilities(Params):
    """What the client can do."""

    supports_question: bool = False
    supports_plan_mode: bool = False
    supports_timeline: bool = False

    @property
    def unanswerable_tools(self) -> tuple[str, ...]:
        """The tools whose questions the client can't answer.

        ExitPlanMode is none of them: it shows the plan, which needs no answer.
        """
        if not self.supports_question:
            return ("AskUserQuestion", "EnterPlanMode")
        return () if self.supports_plan_mode else ("EnterPlanMode",)


class ExternalTool(Params):
    """A tool that runs at the client. Its name and schema are judged one by one, so they are any JSON."""

    name: str
    description: str = ""
    parameters: Any = Field(default_factory=dict)

    @property
    def problem(self) -> str:
        """Why no model can be told of it; empty when it can."""
        if not _TOOL_NAME.fullmatch(self.name):
            return "A name has 1 to 64 letters, digits, underscores and dashes."
        if not isinstance(self.parameters, dict):
            return "The parameters are no JSON schema."
        if self.parameters.get("type", "object") != "object":
            return "The parameters' schema is not that of an object."
        return ""


class HookWish(Params):
    """An event that the client wants to be asked at. One of an unknown name never fires."""

    id: str
    event: str
    matcher: str = ""
    timeout: float = Field(30.0, gt=0)


class InitializeParams(Params):
    """The handshake."""

    protocol_version: str
    external_tools: list[ExternalTool] | None = None
    hooks: list[HookWish] | None = None
    capabilities: ClientCapabilities = Field(default_factory=ClientCapabilities)


class InputParams(Params):
    """What the user says."""

    user_input: Annotated[str, Field(min_length=1)] | Annotated[tuple[ContentPart, ...], Field(min_length=1)]


class PlanModeParams(Params):
    """The wish for plan mode."""

    enabled: bool


def params_of(of: type[P], call: Call) -> P:
    """The parameters of `call`. Raises RpcError, which names what doesn't fit."""
    given = {name: value for name, value in call.params.items() if value is not None}
    try:
        return of.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False, include_context=False)[:5]
        )
        message = f"The parameters of {call.method} don't fit: {problems}."
        raise RpcError(ErrorCode.BAD_PARAMS, message, id=call.id) from error
