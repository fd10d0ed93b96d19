"""Questions of the model, as a form that the client shows."""

from typing import Any

from acp.schema import (
    CreateFormSessionElicitationRequest,
    ElicitationMultiSelectPropertySchema,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    EnumOption,
    TitledMultiSelectItems,
)

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.wire.requests import Question, QuestionRequest

_OTHER = "Something else"


def form_of(
    request: QuestionRequest, *, session_id: str, tool_call_id: str | None
) -> CreateFormSessionElicitationRequest:
    """A form with a choice and a line of free text for each question."""
    properties: dict[str, Any] = {}
    for number, question in enumerate(request.questions):
        properties[f"answer{number}"] = _choice(question)
        properties[f"other{number}"] = ElicitationStringPropertySchema(type="string", title=_OTHER)
    return CreateFormSessionElicitationRequest(
        mode="form",
        session_id=session_id,
        tool_call_id=tool_call_id,
        message="\n".join(plain(question.question) for question in request.questions),
        requested_schema=ElicitationSchema(type="object", properties=properties),
    )


def answers_in(result: dict[str, Any], request: QuestionRequest) -> dict[str, str]:
    """The answers by the question's text; empty when the user gave none."""
    content = result.get("content")
    if result.get("action") != "accept" or not isinstance(content, dict):
        return {}
    answers: dict[str, str] = {}
    for number, question in enumerate(request.questions):
        chosen = content.get(f"answer{number}")
        given = [*(chosen if isinstance(chosen, list) else [chosen]), content.get(f"other{number}")]
        words = [word.strip() for word in given if isinstance(word, str) and word.strip()]
        if words:
            answers[question.question] = ", ".join(words)
    return answers


def _choice(question: Question) -> Any:
    title = plain_line(question.header) or plain_line(question.question)
    options = [
        EnumOption(
            const=option.label,
            title=plain_line(option.label),
            description=plain_line(option.description) or None,
        )
        for option in question.options
    ]
    if question.multi_select:
        return ElicitationMultiSelectPropertySchema(
            type="array",
            title=title,
            description=plain_line(question.question),
            items=TitledMultiSelectItems(any_of=options),
        )
    return ElicitationStringPropertySchema(
        type="string", title=title, description=plain_line(question.question), one_of=options
    )
