"""Answers of a given shape: asked for, held against it, and asked for again when they don't fit."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from kimi_tui.base.content import ContentPart
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.output_schema import ATTEMPTS, Misfit, OutputSchema

_MOST_PROBLEMS = 5
Prompt = str | Sequence[ContentPart]


class OutputMisfit(KimiTuiError):
    """No answer had the shape that was asked for; `text` is the last one."""

    def __init__(self, what: str, *, text: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.text = text


class Shape:
    """A type, or a JSON schema. Raises UsageError for what is neither."""

    def __init__(self, output: type[Any] | Mapping[str, Any]) -> None:
        self._adapter: TypeAdapter[Any] | None = None
        if isinstance(output, Mapping):
            schema = dict(output)
        else:
            try:
                self._adapter = TypeAdapter(output)
                schema = self._adapter.json_schema()
            except PydanticUserError as error:
                reason = str(error).partition("\n")[0].rstrip(".")
                raise UsageError(
                    f"`output` can't be asked for: {reason}.",
                    hint="Use a pydantic model, a dataclass, a TypedDict, or a JSON schema.",
                ) from error
        self.schema = OutputSchema(json.dumps(schema), name="The schema of `output`")

    def read(self, text: str) -> Any:
        """The value that an answer is. Raises Misfit."""
        value = self.schema.read(text).value
        if self._adapter is None:
            return value
        try:
            return self._adapter.validate_json(json.dumps(value))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            told = (
                f"{'.'.join(map(str, it['loc'])) or 'it'}: {it['msg']}" for it in problems[:_MOST_PROBLEMS]
            )
            raise Misfit(f"{'; '.join(told)}.") from error


async def shaped(shape: Shape, prompt: Prompt, said: Callable[[Prompt], Awaitable[str]]) -> Any:
    """The value that the answer to `prompt` is, asked for until it fits. Raises OutputMisfit."""
    wish: Prompt = shape.schema.asked_along_with(prompt if isinstance(prompt, str) else tuple(prompt))
    for attempt in range(1, ATTEMPTS + 1):
        text = await said(wish)
        try:
            return shape.read(text)
        except Misfit as problem:
            if attempt == ATTEMPTS:
                raise OutputMisfit(
                    f"The answer doesn't fit what was asked for after {ATTEMPTS} attempts: {problem}",
                    hint="Make the shape simpler, or use another model.",
                    text=text,
                ) from problem
            wish = problem.correction
    raise AssertionError("the last attempt returns or raises")
