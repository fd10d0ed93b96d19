"""What a tool is: a name, parameters, and `run`."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from kimi_tui.base.assets import read_asset
from kimi_tui.base.content import ContentPart
from kimi_tui.base.value import value
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.wire.display import BriefBlock, DisplayBlock
from kimi_tui.wire.events import ToolReturn


class ToolParams(BaseModel):
    """Parameters of a tool: unknown ones are an error, so that a model's slip doesn't pass unseen.

    Models write null for what they leave out; where there is a default, that is what it means.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        optional = {
            field.alias or name for name, field in cls.model_fields.items() if not field.is_required()
        }
        return {key: value for key, value in data.items() if value is not None or key not in optional}


P = TypeVar("P", bound=BaseModel)


@value
class RunningCall:
    """One call of a tool, as the tool sees it while it runs."""

    id: str
    """The tool call's id."""
    tool_name: str
    """The name that the model knows the tool by."""
    show_output: Callable[[str], None]
    """Shows output to the user as it comes; the model gets the result alone."""
    turn: Callable[[], AbstractAsyncContextManager[None]]
    """`async with call.turn():` around what changes anything: calls of one step change things one after
    another, in the order in which the model asked, while their approvals are open together."""
    leave_word: Callable[[str], Awaitable[None]]
    """Says what the result shall add, should the call be interrupted, even by the end of the process."""


class Tool(ABC, Generic[P]):
    """A tool. Collaborators come in through the constructor's positional parameters, by annotation."""

    name: ClassVar[str]
    Params: type[P]
    changes_things: ClassVar[bool] = False
    """Whether a call may change files or anything else. A call that doesn't begins when the changing calls
    before it in its step have ended; one that does asks first, then changes within `call.turn()`."""
    one_by_one: ClassVar[bool] = False
    """Whether a call that changes nothing begins only when the calls of this tool before it in its step have
    ended."""

    @property
    def description(self) -> str:
        """What the model reads about the tool: `prompts/tools/NAME.md`."""
        return read_asset("prompts", "tools", f"{self.name}.md").strip()

    @property
    def schema(self) -> ToolSchema:
        """The tool as a model sees it."""
        return ToolSchema(self.name, self.description, json_schema(self.Params))

    def only_reads(self, params: P) -> bool:
        """Whether a call changes nothing, so that it may run in plan mode."""
        return not self.changes_things

    def changed_files(self, params: P) -> tuple[str, ...] | None:
        """The only files that a call changes, as its parameters name them; None when it may be any."""
        return None

    def command(self, params: P) -> str:
        """The shell command that a call runs, if it does."""
        return ""

    @abstractmethod
    async def run(self, params: P, call: RunningCall) -> ToolReturn:
        """Do it. Raises ToolRejected when the user said no; any other exception becomes an error result."""


def ok(
    output: str | tuple[ContentPart, ...] = "",
    *,
    message: str = "",
    brief: str = "",
    display: tuple[DisplayBlock, ...] = (),
) -> ToolReturn:
    """A result that went well. `brief` is the one line that the user sees beside the call."""
    return ToolReturn(False, output, message, (*((BriefBlock(brief),) if brief else ()), *display))


def failed(message: str, *, output: str | tuple[ContentPart, ...] = "", brief: str = "") -> ToolReturn:
    """A result that tells the model what went wrong and what to do next."""
    return ToolReturn(True, output, message, (BriefBlock(brief or message),))


def json_schema(params: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of `params`, references resolved, titles dropped: every server takes it."""
    schema = params.model_json_schema()
    definitions = schema.pop("$defs", {})

    def inline(node: Any, *, names: bool = False) -> Any:
        if isinstance(node, list):
            return [inline(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = definitions[node["$ref"].rpartition("/")[2]]
            return inline({**target, **{key: value for key, value in node.items() if key != "$ref"}})
        return {
            key: inline(value, names=key == "properties" and not names)
            for key, value in node.items()
            if names or key != "title"
        }

    schema = inline(schema)
    schema.setdefault("properties", {})
    schema.pop("description", None)
    result: dict[str, Any] = schema
    return result
