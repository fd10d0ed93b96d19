"""Forms for elicitation requests: questions for the user, and the values parsed from the answers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.wire.requests import Question, QuestionOption

DECLINE = "Decline"
OMIT = "Skip"
OPEN_LINK = "Open in browser"
OPENED_LINK = "I've opened it myself"
_MAX_MESSAGE_CHARS = 1_000
_MAX_CHOICES = 50


class InvalidAnswer(Exception):
    """Raised for an answer that isn't a valid value. The message gives the reason."""


OMITTED = object()
"""Returned by `FormField.parse` if the user skips the field."""


@frozen
class FormField:
    """A field of the form."""

    name: str
    question: Question
    schema: dict[str, Any]
    """JSON schema of the value."""

    def parse(self, answer: str) -> Any:
        """Return the value of an answer. Raises InvalidAnswer."""
        return OMITTED if answer == OMIT else _parse_value(answer.strip(), self.schema)

    def retry(self, problem: str) -> "FormField":
        """Return the field with `problem` before the question, to ask the user again."""
        text = f"{problem} {self.question.question}"
        return replace(self, question=replace(self.question, question=text))


def build_link_question(message: str, url: str, *, server: str) -> Question:
    """Return the question for a server that asks the user to visit `url`."""
    text = sanitize(message)[:_MAX_MESSAGE_CHARS]
    return Question(
        f"{text}\n{sanitize_line(url)}",
        server[:20],
        (QuestionOption(OPEN_LINK), QuestionOption(OPENED_LINK), QuestionOption(DECLINE)),
    )


def build_consent_question(message: str, *, server: str) -> Question:
    """Return the question for a server that only asks for consent."""
    text = sanitize(message)[:_MAX_MESSAGE_CHARS]
    return Question(text, server[:20], (QuestionOption("Accept"), QuestionOption(DECLINE)))


def build_fields(message: str, schema: dict[str, Any], *, server: str) -> tuple[FormField, ...]:
    """Return the fields of a form; empty for a form without fields."""
    properties = schema.get("properties")
    required = schema.get("required")
    required_names = required if isinstance(required, list) else []
    text = sanitize(message)[:_MAX_MESSAGE_CHARS]
    if not isinstance(properties, dict):
        return ()
    return tuple(
        _build_field(
            str(name),
            subschema if isinstance(subschema, dict) else {},
            text,
            server,
            is_required=name in required_names,
        )
        for name, subschema in properties.items()
    )


def _build_field(
    name: str, schema: dict[str, Any], message: str, server: str, *, is_required: bool
) -> FormField:
    title = sanitize_line(str(schema.get("title") or name))
    description = sanitize_line(str(schema.get("description") or ""))[:_MAX_MESSAGE_CHARS]
    label = f"{title}: {description}" if description and description != title else title
    choices = _choices(schema)
    is_array = schema.get("type") == "array"
    options = [QuestionOption(choice) for choice in choices]
    default = schema.get("default")
    if default is not None and not choices and not isinstance(default, list | dict):
        options.append(QuestionOption(sanitize_line(str(default))[:200], "default"))
    if not is_required:
        options.append(QuestionOption(OMIT))
    options.append(QuestionOption(DECLINE, "send no answers to the server"))
    question = Question(f"{message}\n{label}", server[:20], tuple(options), multi_select=is_array)
    return FormField(name, question, schema)


def _choices(schema: dict[str, Any]) -> list[str]:
    """Return the labels of a field's choices; empty for a field without choices."""
    return ["Yes", "No"] if schema.get("type") == "boolean" else list(_values_by_label(schema))


def _values_by_label(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") == "array":
        items = schema.get("items")
        return dict(_iter_choices(items if isinstance(items, dict) else {}))
    return dict(_iter_choices(schema))


def _parse_value(answer: str, schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "boolean":
        return _parse_boolean(answer)
    values = _values_by_label(schema)
    if kind == "array":
        return [_parse_choice(each.strip(), values) for each in answer.split(",")]
    if values:
        return _parse_choice(answer, values)
    return _parse_number(answer, schema) if kind in ("number", "integer") else _parse_text(answer, schema)


def _iter_choices(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield labels and their values."""
    names = schema.get("enumNames")
    alternatives = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(alternatives, list):
        for each in alternatives[:_MAX_CHOICES]:
            if isinstance(each, dict) and "const" in each:
                yield sanitize_line(str(each.get("title") or each["const"])), each["const"]
    elif isinstance(values := schema.get("enum"), list):
        for index, value in enumerate(values[:_MAX_CHOICES]):
            has_name = isinstance(names, list) and index < len(names)
            yield sanitize_line(str(names[index] if has_name else value)), value  # type: ignore[index]


def _parse_choice(answer: str, values: dict[str, Any]) -> Any:
    for label, value in values.items():
        if answer.lower() in (label.lower(), str(value).lower()):
            return value
    raise InvalidAnswer(f"“{answer}” isn't one of the choices.")


def _parse_boolean(answer: str) -> bool:
    values = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
    if answer.lower() not in values:
        raise InvalidAnswer(f"“{answer}” is neither yes nor no.")
    return values[answer.lower()]


def _parse_number(answer: str, schema: dict[str, Any]) -> float:
    try:
        value: float = int(answer) if schema.get("type") == "integer" else float(answer)
    except ValueError:
        kind = "an integer" if schema.get("type") == "integer" else "a number"
        raise InvalidAnswer(f"“{answer}” isn't {kind}.") from None
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if isinstance(minimum, int | float) and value < minimum:
        raise InvalidAnswer(f"{answer} is below the minimum of {minimum}.")
    if isinstance(maximum, int | float) and value > maximum:
        raise InvalidAnswer(f"{answer} is above the maximum of {maximum}.")
    return value


def _parse_text(answer: str, schema: dict[str, Any]) -> str:
    min_length, max_length = schema.get("minLength"), schema.get("maxLength")
    if isinstance(min_length, int) and len(answer) < min_length:
        raise InvalidAnswer(f"Enter at least {min_length} characters.")
    if isinstance(max_length, int) and len(answer) > max_length:
        raise InvalidAnswer(f"Enter at most {max_length} characters.")
    return answer
