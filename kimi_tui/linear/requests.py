"""Prompts for permission requests and questions."""

import re
from collections.abc import Sequence
from typing import assert_never

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.answer_choices import ALLOWING, RESPONSES, ChoiceId, choices_for
from kimi_tui.frontend.apply_edit import apply_edit
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.linear.command_context import CommandContext
from kimi_tui.linear.messages import approval_lines, count_command_lines
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import (
    Answer,
    ApprovalRequest,
    Question,
    QuestionRequest,
    QuestionResponse,
    UserRequest,
)

_MAX_PREVIEW_LINES = 30
_KEYS: dict[ChoiceId, str] = {
    "once": "y", "session": "a", "always": "p", "direct": "x", "no": "n", "feedback": "f", "edit": "e"
}  # fmt: skip
_SHORT_ANSWERS = frozenset({"", "yes", "no", "s", *_KEYS.values()})


class AnswerTooLate(Exception):
    """A request was closed while its answer was awaited."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.prompt = "" if line.strip().lower() in _SHORT_ANSWERS or line.strip().isdecimal() else line
        """The typed line, to send as a prompt. Empty if the line is only an answer to the request."""


class RequestPrompter:
    """Asks the user to answer one open request at a time."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context

    async def answer(self, request: UserRequest, *, waiting_count: int) -> Answer | None:
        """Return the user's answer, or None at the end of the input. `waiting_count` more requests are
        open.

        Raises AnswerTooLate.
        """
        match request:
            case ApprovalRequest():
                return await self._ask_approval(request, waiting_count)
            case QuestionRequest():
                return await self._ask_questions(request)
            case _:
                assert_never(request)

    async def _ask(self, request: UserRequest, prompt: str) -> str | None:
        """Read a line that is part of an answer. Raises AnswerTooLate."""
        line = await self._context.ask(prompt)
        if line is not None and all(each.id != request.id for each in self._context.state.requests):
            raise AnswerTooLate(line)
        return line

    # approvals

    async def _ask_approval(self, request: ApprovalRequest, waiting_count: int) -> ApprovalResponse | None:
        edited: str | None = None
        self._context.write_line(
            tr("Permission request. {count} more waiting.", count=waiting_count)
            if waiting_count
            else tr("Permission request.")
        )
        seen_all = self._show_request(request, _MAX_PREVIEW_LINES)
        while True:
            choices = {_KEYS[it.id]: it for it in choices_for(request, is_edited=edited is not None)}
            options = [f"{key}: {choice.label_text()}" for key, choice in choices.items()]
            # On a line of its own, since the prompt is printed again after each line that appears above it.
            self._context.write_line(tr("{options}; s: Show all.", options="; ".join(options)))
            line = await self._ask(request, tr("Answer: "))
            if line is None:
                return None
            key = line.strip().lower()
            choice = choices.get({"yes": "y", "no": "n"}.get(key, key))
            if key == "s":
                seen_all = self._show_request(request, None)
            elif choice is None:
                self._context.write_line(tr("Type one of: {keys}.", keys=", ".join([*choices, "s"])))
            elif choice.id == "feedback":
                feedback = await self._ask(request, tr("What should it do instead? "))
                if feedback is not None and feedback.strip():
                    return ApprovalResponse(request.id, "reject", feedback.strip())
            elif choice.id == "edit":
                if request.proposal is not None:
                    text = await self._context.edit(request.proposal.text, request.proposal.name)
                    if text is not None:
                        edited, request = text, apply_edit(request, text)
                        seen_all = self._show_request(request, _MAX_PREVIEW_LINES)
            elif choice.id in ALLOWING and not seen_all:
                self._context.write_line(tr("Part of the command wasn't shown yet. Type s to show all."))
            elif choice.id == "always":
                rule = await self._ask(
                    request, tr("Rule (enter to add {rule}): ", rule=sanitize_line(request.rule or ""))
                )
                if rule is not None:
                    return ApprovalResponse(request.id, "approve_always", rule=rule.strip() or None)
            else:
                return ApprovalResponse(request.id, RESPONSES[choice.id], edited=edited)

    def _show_request(self, request: ApprovalRequest, max_lines: int | None) -> bool:
        """Print a request, and return whether all of its command has been printed."""
        lines = approval_lines(request)
        self._context.write_line("\n".join(lines[:max_lines]))
        if max_lines is not None and len(lines) > max_lines:
            self._context.write_line(
                tr("{count} more lines. Type s to show all.", count=len(lines) - max_lines)
            )
        return max_lines is None or count_command_lines(request) <= max_lines

    # questions

    async def _ask_questions(self, request: QuestionRequest) -> QuestionResponse | None:
        answers: dict[str, str] = {}
        for number, question in enumerate(request.questions, 1):
            prefix = tr("Question {number} of {all}: ", number=number, all=len(request.questions))
            self._context.write_line(f"{prefix}{sanitize(translate_message(question.question))}")
            for position, option in enumerate(question.options, 1):
                description = (
                    f", {sanitize_line(translate_message(option.description))}" if option.description else ""
                )
                self._context.write_line(
                    f"{position}. {sanitize_line(translate_message(option.label))}{description}"
                )
            line = await self._ask(
                request,
                tr("Option numbers, or your own answer (empty to skip): ")
                if question.multi_select
                else tr("Option number, or your own answer (empty to skip): "),
            )
            if line is None:
                return None
            if line.strip():
                answers[question.question] = parse_answer(line.strip(), question)
        return QuestionResponse(request.id, answers)


def parse_answer(line: str, question: Question) -> str:
    """Return the labels of the options selected by numbers in `line`. Without numbers, return `line`."""
    if re.fullmatch(r"\d+([\s,]+\d+)*", line):
        numbers = [int(word) for word in re.findall(r"\d+", line)]
        if all(1 <= number <= len(question.options) for number in numbers) and (
            question.multi_select or len(numbers) == 1
        ):
            return ", ".join(question.options[number - 1].label for number in dict.fromkeys(numbers))
    return line


async def ask_choice(context: CommandContext, title: str, options: Sequence[tuple[str, str]]) -> str | None:
    """Let the user choose one of `options`, which are pairs of value and label. Return the value, or None."""
    context.write_line(title)
    for position, (_, label) in enumerate(options, 1):
        context.write_line(f"{position}. {sanitize_line(label)}")
    while True:
        line = await context.ask(tr("Number (enter to cancel): "))
        if line is None or not line.strip():
            return None
        if line.strip().isdecimal() and 1 <= int(line) <= len(options):
            return options[int(line) - 1][0]
        context.write_line(tr("Type a number from 1 to {count}.", count=len(options)))
