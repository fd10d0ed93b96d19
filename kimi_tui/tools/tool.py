"""Base class of tools: a name, parameters and `run`."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from kimi_tui.base.assets import read_asset
from kimi_tui.base.content_parts import ContentPart
from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.change_tracker import PendingCommit
from kimi_tui.wire.display_blocks import BriefBlock, DisplayBlock
from kimi_tui.wire.events import ToolReturn


class ToolParams(BaseModel):
    """Base class of tool parameters. Unknown parameters are an error, so that a model notices its mistake.

    Models write null for parameters they omit: if there is a default, null means the default.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        optional = {
            field.alias or name for name, field in cls.model_fields.items() if not field.is_required()
        }
        return {key: value for key, value in data.items() if value is not None or key not in optional}


P = TypeVar("P", bound=BaseModel)


@frozen
class ForwardedCall:
    """The call of another tool, as requested by a tool that only passes calls on."""

    name: str
    arguments: dict[str, Any]


class CallContext(Protocol):
    """A running tool call, as the tool sees it."""

    @property
    def id(self) -> str:
        """The tool call's id."""
        ...

    @property
    def tool_name(self) -> str:
        """The name the model knows the tool by."""
        ...

    def show_output(self, text: str) -> None:
        """Show output to the user while the call runs. The model gets only the result."""
        ...

    def exclusive(
        self, *, is_tracked: bool = True, is_trial: bool = False
    ) -> AbstractAsyncContextManager[None]:
        """Return a context for all side effects: `async with call.exclusive():`.

        The calls of a step have their side effects one after another, in the order the model asked for, while
        their permission requests are open together. Unless `is_tracked`, changes are recorded only in the
        contexts that `tracking` returns. In a trial, nothing changes outside of these contexts: if the call
        is interrupted before, its result says so.
        """
        ...

    def tracking(self, commit: PendingCommit | None = None) -> AbstractAsyncContextManager[None]:
        """Return a context in which changes are recorded as this call's: any, or those of `commit`."""
        ...

    @property
    def author(self) -> ChangeAuthor:
        """This call, as the author of changes."""
        ...

    async def set_interrupted_note(self, text: str) -> None:
        """Set a note for the result in case the call is interrupted, even by the end of the process."""
        ...


class Tool(ABC, Generic[P]):
    """Base class of tools. The factory passes dependencies to the constructor by their annotations."""

    name: ClassVar[str]
    Params: type[P]
    has_side_effects: ClassVar[bool] = False
    """Whether a call may change files or anything else.

    A call without side effects starts when the earlier calls of its step with side effects have ended. A call
    with side effects asks first and makes its changes within `call.exclusive()`.
    """
    runs_sequentially: ClassVar[bool] = False
    """Whether a call without side effects waits for the earlier calls of this tool in its step."""

    forwards_calls: ClassVar[bool] = False
    """Whether `forwarded_call` may return the call of another tool."""

    @property
    def description(self) -> str:
        """Description for the model: `prompts/tools/NAME.md`."""
        return read_asset("prompts", "tools", f"{self.name}.md").strip()

    @property
    def schema(self) -> ToolSchema:
        """Schema for the model."""
        return ToolSchema(self.name, self.description, build_json_schema(self.Params))

    def is_read_only(self, params: P) -> bool:
        """Return whether a call changes nothing, so that it may run in plan mode."""
        return not self.has_side_effects

    def discards_changes(self, params: P) -> bool:
        """Return whether a call discards what it changes at the moment, so that it may run in plan mode."""
        return False

    def target_files(self, params: P) -> tuple[str, ...] | None:
        """Return the only files a call changes, as its parameters name them; None if it may change any."""
        return None

    def shell_command(self, params: P) -> str:
        """Return the shell command a call runs; empty if it runs none."""
        return ""

    def forwarded_call(self, params: P) -> ForwardedCall | None:
        """Return the call of another tool that runs instead; None if this tool runs."""
        return None

    @abstractmethod
    async def run(self, params: P, call: CallContext) -> ToolReturn:
        """Run a call. Raises ToolRejected if the user rejects it; other exceptions become error results."""


def success(
    output: str | tuple[ContentPart, ...] = "",
    *,
    message: str = "",
    brief: str = "",
    display: tuple[DisplayBlock, ...] = (),
) -> ToolReturn:
    """Return the result of a successful call. `brief` is the line the user sees next to the call."""
    return ToolReturn(False, output, message, (*((BriefBlock(brief),) if brief else ()), *display))


def failure(message: str, *, output: str | tuple[ContentPart, ...] = "", brief: str = "") -> ToolReturn:
    """Return an error result. `message` tells the model what went wrong and what to do next."""
    return ToolReturn(True, output, message, (BriefBlock(brief or message),))


def not_run(message: str) -> ToolReturn:
    """Return the result of a call that ended before it began."""
    return replace(failure(message, brief="not run"), extras={"not_run": True})


def build_json_schema(params: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of `params` in a form all servers accept: references resolved, no titles."""
    schema = params.model_json_schema()
    definitions = schema.pop("$defs", {})

    def resolve_refs(node: Any, *, is_properties: bool = False) -> Any:
        if isinstance(node, list):
            return [resolve_refs(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = definitions[node["$ref"].rpartition("/")[2]]
            return resolve_refs({**target, **{key: value for key, value in node.items() if key != "$ref"}})
        return {
            key: resolve_refs(value, is_properties=key == "properties" and not is_properties)
            for key, value in node.items()
            if is_properties or key != "title"
        }

    schema = resolve_refs(schema)
    schema.setdefault("properties", {})
    schema.pop("description", None)
    result: dict[str, Any] = schema
    return result
