"""Structured output: asks for a value of a type or JSON schema until the response matches."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from kimi_tui.base.content_parts import ContentPart
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.output_schema import ATTEMPTS, OutputSchema, SchemaMismatch

_MAX_PROBLEMS = 5
Prompt = str | Sequence[ContentPart]


class OutputValidationError(KimiTuiError):
    """No response matched the schema. `text` is the last response."""

    def __init__(self, what: str, *, text: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.text = text


class OutputSpec:
    """A type or a JSON schema. Raises UsageError if `output` is neither."""

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
                    f"`output` has no JSON schema: {reason}.",
                    hint="Use a pydantic model, a dataclass, a TypedDict, or a JSON schema.",
                ) from error
        self.schema = OutputSchema(json.dumps(schema), name="The schema of `output`")

    def parse(self, text: str) -> Any:
        """Return the value that the response `text` contains. Raises SchemaMismatch."""
        value = self.schema.parse(text).value
        if self._adapter is None:
            return value
        try:
            return self._adapter.validate_json(json.dumps(value))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            details = (
                f"{'.'.join(map(str, it['loc'])) or 'it'}: {it['msg']}" for it in problems[:_MAX_PROBLEMS]
            )
            raise SchemaMismatch(f"{'; '.join(details)}.") from error


async def ask_structured(
    spec: OutputSpec, prompt: Prompt, ask_text: Callable[[Prompt], Awaitable[str]]
) -> Any:
    """Return the value in the response to `prompt`. Ask again if a response doesn't match `spec`.

    Raises OutputValidationError after ATTEMPTS attempts.
    """
    request: Prompt = spec.schema.append_instructions(prompt if isinstance(prompt, str) else tuple(prompt))
    for attempt in range(1, ATTEMPTS + 1):
        text = await ask_text(request)
        try:
            return spec.parse(text)
        except SchemaMismatch as problem:
            if attempt == ATTEMPTS:
                raise OutputValidationError(
                    f"The response still doesn't match the schema after {ATTEMPTS} attempts: {problem}",
                    hint="Simplify the schema, or use another model.",
                    text=text,
                ) from problem
            request = problem.correction
    raise AssertionError("the last attempt returns or raises")
