"""Questions of the model: as a form that the client shows, or as choices for one that knows no forms."""

from typing import Any

from acp.schema import (
    CreateFormSessionElicitationRequest,
    ElicitationMultiSelectPropertySchema,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    EnumOption,
    PermissionOption,
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


def choices_for(question: Question) -> list[PermissionOption]:
    """The answers as options of a request for permission, of which one can be chosen."""
    options = [
        PermissionOption(
            option_id=f"answer{number}",
            name=plain_line(option.label),
            kind="reject_once" if _declines(option.label) else "allow_once",
        )
        for number, option in enumerate(question.options)
    ]
    if not any(option.kind == "reject_once" for option in options):
        options.append(PermissionOption(option_id="none", name="Don't answer", kind="reject_once"))
    return options


def chosen_label(option_id: str, question: Question) -> str:
    """The answer that was chosen; empty for none."""
    labels = {f"answer{number}": option.label for number, option in enumerate(question.options)}
    return labels.get(option_id, "")


def in_words(question: Question) -> str:
    """The question with what its options mean."""
    meanings = [
        f"- {plain_line(option.label)}: {plain_line(option.description)}"
        for option in question.options
        if option.description.strip()
    ]
    return "\n".join([question.question, "", *meanings] if meanings else [question.question])


def _declines(label: str) -> bool:
    return label.casefold().split(",")[0].split()[:1] == ["no"]


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
