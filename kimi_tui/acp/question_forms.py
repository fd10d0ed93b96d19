"""The model's questions as forms, or as permission options for clients without forms."""

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

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.wire.requests import Question, QuestionRequest

_OTHER = "Other"


def build_form(
    request: QuestionRequest, *, session_id: str, tool_call_id: str | None
) -> CreateFormSessionElicitationRequest:
    """Return a form with a selection and a text field for each question."""
    properties: dict[str, Any] = {}
    for number, question in enumerate(request.questions):
        properties[f"answer{number}"] = _choice_schema(question)
        properties[f"other{number}"] = ElicitationStringPropertySchema(type="string", title=_OTHER)
    return CreateFormSessionElicitationRequest(
        mode="form",
        session_id=session_id,
        tool_call_id=tool_call_id,
        message="\n".join(sanitize(question.question) for question in request.questions),
        requested_schema=ElicitationSchema(type="object", properties=properties),
    )


def parse_answers(result: dict[str, Any], request: QuestionRequest) -> dict[str, str]:
    """Return the answers by question text. Questions without an answer are left out."""
    content = result.get("content")
    if result.get("action") != "accept" or not isinstance(content, dict):
        return {}
    answers: dict[str, str] = {}
    for number, question in enumerate(request.questions):
        chosen = content.get(f"answer{number}")
        given = [*(chosen if isinstance(chosen, list) else [chosen]), content.get(f"other{number}")]
        texts = [text.strip() for text in given if isinstance(text, str) and text.strip()]
        if texts:
            answers[question.question] = ", ".join(texts)
    return answers


def build_choices(question: Question) -> list[PermissionOption]:
    """Return the answers to a question as options of a permission request. The user can choose one."""
    options = [
        PermissionOption(
            option_id=f"answer{number}",
            name=sanitize_line(option.label),
            kind="reject_once" if _is_decline_label(option.label) else "allow_once",
        )
        for number, option in enumerate(question.options)
    ]
    if not any(option.kind == "reject_once" for option in options):
        options.append(PermissionOption(option_id="none", name="Don't answer", kind="reject_once"))
    return options


def chosen_label(option_id: str, question: Question) -> str:
    """Return the label of the chosen answer; empty if the user chose not to answer."""
    labels = {f"answer{number}": option.label for number, option in enumerate(question.options)}
    return labels.get(option_id, "")


def question_text(question: Question) -> str:
    """Return the question followed by the descriptions of its options."""
    descriptions = [
        f"- {sanitize_line(option.label)}: {sanitize_line(option.description)}"
        for option in question.options
        if option.description.strip()
    ]
    return "\n".join([question.question, "", *descriptions] if descriptions else [question.question])


def _is_decline_label(label: str) -> bool:
    return label.casefold().split(",")[0].split()[:1] == ["no"]


def _choice_schema(question: Question) -> Any:
    title = sanitize_line(question.header) or sanitize_line(question.question)
    options = [
        EnumOption(
            const=option.label,
            title=sanitize_line(option.label),
            description=sanitize_line(option.description) or None,
        )
        for option in question.options
    ]
    if question.multi_select:
        return ElicitationMultiSelectPropertySchema(
            type="array",
            title=title,
            description=sanitize_line(question.question),
            items=TitledMultiSelectItems(any_of=options),
        )
    return ElicitationStringPropertySchema(
        type="string", title=title, description=sanitize_line(question.question), one_of=options
    )
