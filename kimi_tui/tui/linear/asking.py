"""Approvals and questions, asked and answered in lines."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import assert_never

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import say, say_many
from kimi_tui.tui.approvals.answers import RESPONSES, ChoiceId, choices_for
from kimi_tui.tui.approvals.edits import with_edit
from kimi_tui.tui.linear.words import approval_lines
from kimi_tui.tui.state import OpenRequest
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import Answer, ApprovalRequest, Question, QuestionRequest, QuestionResponse

Ask = Callable[[str], Awaitable[str | None]]
"""Asks for a line; None at the end of the input."""
Edit = Callable[[str, str], Awaitable[str | None]]
"""Lets the user edit a text in a file of that name; None when it stays as it is."""

_FIRST_LINES = 30
_KEYS: dict[ChoiceId, str] = {
    "once": "y", "session": "a", "always": "p", "no": "n", "feedback": "f", "edit": "e"
}  # fmt: skip


class Asking:
    """Asks what is open, one thing at a time."""

    def __init__(self, *, ask: Ask, tell: Callable[[str], None], edit: Edit) -> None:
        self._ask = ask
        self._tell = tell
        self._edit = edit

    async def answer(self, request: OpenRequest, *, others: int) -> Answer | None:
        """The user's answer; None at the end of the input. `others` wait behind it."""
        match request:
            case ApprovalRequest():
                return await self._approval(request, others)
            case QuestionRequest():
                return await self._questions(request)
            case _:
                assert_never(request)

    # approvals

    async def _approval(self, request: ApprovalRequest, others: int) -> ApprovalResponse | None:
        edited: str | None = None
        self._tell(
            say_many(
                "An approval is needed; {count} more waits.",
                "An approval is needed; {count} more wait.",
                others,
            )
            if others
            else say("An approval is needed.")
        )
        self._show(request, _FIRST_LINES)
        while True:
            choices = {_KEYS[it.id]: it for it in choices_for(request, is_edited=edited is not None)}
            offers = [f"{key} {say(choice.label)}" for key, choice in choices.items()]
            line = await self._ask(say("Allow it? {offers}, s show all: ", offers=", ".join(offers)))
            if line is None:
                return None
            key = line.strip().lower()
            choice = choices.get({"yes": "y", "no": "n"}.get(key, key))
            if key == "s":
                self._show(request, None)
            elif choice is None:
                self._tell(say("Type one of: {keys}.", keys=", ".join([*choices, "s"])))
            elif choice.id == "feedback":
                why = await self._ask(say("What should be done instead? "))
                if why is not None and why.strip():
                    return ApprovalResponse(request.id, "reject", why.strip())
            elif choice.id == "edit":
                if request.proposal is not None:
                    text = await self._edit(request.proposal.text, request.proposal.name)
                    if text is not None:
                        edited, request = text, with_edit(request, text)
                        self._show(request, _FIRST_LINES)
            else:
                return ApprovalResponse(request.id, RESPONSES[choice.id], edited=edited)

    def _show(self, request: ApprovalRequest, most: int | None) -> None:
        lines = approval_lines(request)
        self._tell("\n".join(lines[:most]))
        if most is not None and len(lines) > most:
            self._tell(say("{count} more lines: type s to hear all.", count=len(lines) - most))

    # questions

    async def _questions(self, request: QuestionRequest) -> QuestionResponse | None:
        answers: dict[str, str] = {}
        for number, question in enumerate(request.questions, 1):
            of = say("Question {number} of {all}: ", number=number, all=len(request.questions))
            self._tell(f"{of}{plain(question.question)}")
            for place, option in enumerate(question.options, 1):
                about = f", {plain_line(option.description)}" if option.description else ""
                self._tell(f"{place}. {plain_line(option.label)}{about}")
            line = await self._ask(
                say("Numbers of your answers, or your own words; empty to skip: ")
                if question.multi_select
                else say("The number of your answer, or your own words; empty to skip: ")
            )
            if line is None:
                return None
            if line.strip():
                answers[question.question] = _meant(line.strip(), question)
        return QuestionResponse(request.id, answers)


def _meant(line: str, question: Question) -> str:
    """What a line answers: options by their numbers, else its own words."""
    if re.fullmatch(r"\d+([\s,]+\d+)*", line):
        numbers = [int(word) for word in re.findall(r"\d+", line)]
        if all(1 <= number <= len(question.options) for number in numbers) and (
            question.multi_select or len(numbers) == 1
        ):
            return ", ".join(question.options[number - 1].label for number in dict.fromkeys(numbers))
    return line


async def chosen(
    title: str, options: Sequence[tuple[str, str]], *, ask: Ask, tell: Callable[[str], None]
) -> str | None:
    """The value that the user chooses among `options`, pairs of a value and its words; None for none."""
    tell(title)
    for place, (_, words) in enumerate(options, 1):
        tell(f"{place}. {plain_line(words)}")
    while True:
        line = await ask(say("Number, or enter for none: "))
        if line is None or not line.strip():
            return None
        if line.strip().isdecimal() and 1 <= int(line) <= len(options):
            return options[int(line) - 1][0]
        tell(say("Type a number from 1 to {count}.", count=len(options)))
