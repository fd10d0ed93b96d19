"""What a server wants to know of the user, as questions; and the answers, as the values it asked for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.wire.requests import Question, QuestionOption

DECLINE = "Decline"
LEAVE_OUT = "Leave it out"
OPEN_LINK = "Open it in the browser"
OPENED_LINK = "I have opened it myself"
_MOST_SAID = 1_000
_MOST_CHOICES = 50


class BadAnswer(Exception):
    """An answer that is no value of its field; the text says why."""


LEFT_OUT = object()
"""What `Field.read` gives for a field that the user leaves out."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value of the form."""

    name: str
    question: Question
    read: Callable[[str], Any]
    """The value that an answer stands for. Raises BadAnswer."""

    def again(self, problem: str) -> "Field":
        """The same question, after an answer that was none."""
        text = f"{problem} {self.question.question}"
        return replace(self, question=replace(self.question, question=text))


def link_question(message: str, url: str, *, server: str) -> Question:
    """The question for a server that wants the user to visit `url`."""
    said = plain(message)[:_MOST_SAID]
    return Question(
        f"{said}\n{plain_line(url)}",
        server[:20],
        (QuestionOption(OPEN_LINK), QuestionOption(OPENED_LINK), QuestionOption(DECLINE)),
    )


def consent_question(message: str, *, server: str) -> Question:
    """The question for a server that wants a yes, and nothing more."""
    said = plain(message)[:_MOST_SAID]
    return Question(said, server[:20], (QuestionOption("Accept"), QuestionOption(DECLINE)))


def fields_of(message: str, schema: dict[str, Any], *, server: str) -> tuple[Field, ...]:
    """The fields of a form; none when it asks for no value."""
    properties = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    said = plain(message)[:_MOST_SAID]
    if not isinstance(properties, dict):
        return ()
    return tuple(
        _field(str(name), form if isinstance(form, dict) else {}, said, server, is_required=name in names)
        for name, form in properties.items()
    )


def _field(name: str, form: dict[str, Any], message: str, server: str, *, is_required: bool) -> Field:
    title = plain_line(str(form.get("title") or name))
    description = plain_line(str(form.get("description") or ""))[:_MOST_SAID]
    asked = f"{title}: {description}" if description and description != title else title
    choices, read = _reading(form)
    many = form.get("type") == "array"
    options = [QuestionOption(choice) for choice in choices]
    default = form.get("default")
    if default is not None and not choices and not isinstance(default, list | dict):
        options.append(QuestionOption(plain_line(str(default))[:200], "as it is by default"))
    if not is_required:
        options.append(QuestionOption(LEAVE_OUT))
    options.append(QuestionOption(DECLINE, "give the server no answer at all"))
    question = Question(f"{message}\n{asked}", server[:20], tuple(options), multi_select=many)
    return Field(name, question, lambda answer: LEFT_OUT if answer == LEAVE_OUT else read(answer.strip()))


def _reading(form: dict[str, Any]) -> tuple[list[str], Callable[[str], Any]]:
    """The choices of a field, if there are some, and how an answer is read."""
    kind = form.get("type")
    if kind == "boolean":
        return ["Yes", "No"], _boolean
    if kind == "array":
        items = form.get("items")
        values = dict(_choices(items if isinstance(items, dict) else {}))
        return list(values), lambda answer: [_chosen(each.strip(), values) for each in answer.split(",")]
    values = dict(_choices(form))
    if values:
        return list(values), lambda answer: _chosen(answer, values)
    if kind in ("number", "integer"):
        return [], lambda answer: _number(answer, form)
    return [], lambda answer: _text(answer, form)


def _choices(form: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Labels and the values that they stand for."""
    names = form.get("enumNames")
    titled = form.get("oneOf") or form.get("anyOf")
    if isinstance(titled, list):
        for each in titled[:_MOST_CHOICES]:
            if isinstance(each, dict) and "const" in each:
                yield plain_line(str(each.get("title") or each["const"])), each["const"]
    elif isinstance(values := form.get("enum"), list):
        for index, value in enumerate(values[:_MOST_CHOICES]):
            has_name = isinstance(names, list) and index < len(names)
            yield plain_line(str(names[index] if has_name else value)), value  # type: ignore[index]


def _chosen(answer: str, values: dict[str, Any]) -> Any:
    for label, value in values.items():
        if answer.lower() in (label.lower(), str(value).lower()):
            return value
    raise BadAnswer(f"“{answer}” is none of the choices.")


def _boolean(answer: str) -> bool:
    known = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
    if answer.lower() not in known:
        raise BadAnswer(f"“{answer}” is neither yes nor no.")
    return known[answer.lower()]


def _number(answer: str, form: dict[str, Any]) -> float:
    try:
        value: float = int(answer) if form.get("type") == "integer" else float(answer)
    except ValueError:
        kind = "whole number" if form.get("type") == "integer" else "number"
        raise BadAnswer(f"“{answer}” is no {kind}.") from None
    for key, is_beyond in (("minimum", value.__lt__), ("maximum", value.__gt__)):
        limit = form.get(key)
        if isinstance(limit, int | float) and is_beyond(limit) is True:
            raise BadAnswer(f"{answer} is beyond the {key}, {limit}.")
    return value


def _text(answer: str, form: dict[str, Any]) -> str:
    least, most = form.get("minLength"), form.get("maxLength")
    if isinstance(least, int) and len(answer) < least:
        raise BadAnswer(f"It has to have at least {least} characters.")
    if isinstance(most, int) and len(answer) > most:
        raise BadAnswer(f"It may have at most {most} characters.")
    return answer
