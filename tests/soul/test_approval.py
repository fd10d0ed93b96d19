"""Consent over the Wire: who is asked, what an answer covers, and what becomes of open requests."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.soul.approval import ApprovalSource, WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.sourced_approval import SourcedApproval
from kimi_tui.tools.approval import CommandSubject, McpSubject, PathSubject, Subject, ToolRejected
from kimi_tui.tools.permission.rule import Rule
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import ApprovalAnswer, ApprovalResponse, Notification, RequestClosed
from kimi_tui.wire.requests import ApprovalRequest, Proposal, QuestionResponse
from tests.patience import PATIENCE_S
from tests.tools.calls import CallLog, running_call
from tests.tools.rules import rules_of

WORK_DIR = Path("/work-dir")


class Keeper:
    """Remembers grants, unless it can't."""

    def __init__(self) -> None:
        self.session: list[str] = []
        self.always: list[str] = []
        self.is_broken = False

    async def keep_for_session(self, rules: tuple[Rule, ...]) -> None:
        self._refuse()
        self.session += map(str, rules)

    async def keep_always(self, rules: tuple[Rule, ...]) -> None:
        self._refuse()
        self.always += map(str, rules)

    def _refuse(self) -> None:
        if self.is_broken:
            raise ConfigError("The config can't be written.", hint="Check its owner.")


class Desk:
    """An approval with a user at the other end."""

    def __init__(self, *, yolo: bool = False, source: ApprovalSource | None = None, **rules: Any) -> None:
        self.wire = Wire()
        self.subscription = self.wire.subscribe()
        self.keeper = Keeper()
        self.behaviour = Behaviour(None, yolo=yolo)
        self.shared = WireApproval(
            wire=self.wire,
            behaviour=self.behaviour,
            rules=rules_of(**rules, work_dir=WORK_DIR),
            keeper=self.keeper,
        )
        self.approval = self.shared if source is None else SourcedApproval(self.shared, source)

    def ask(self, subject: Subject | str, proposal: Proposal | None = None) -> "asyncio.Future[str | None]":
        """A tool asks for consent."""
        if isinstance(subject, str):
            subject = CommandSubject(subject)
        call = running_call(CallLog(), tool_name="Bash")
        asking = self.approval.request(
            call, action="run command", description="Run it", subject=subject, proposal=proposal
        )
        return asyncio.ensure_future(asking)

    async def sent(self) -> list[Any]:
        """What was sent since the last time."""
        await quiet()
        return self.subscription.take()

    async def requests(self) -> list[ApprovalRequest]:
        return [event for event in await self.sent() if isinstance(event, ApprovalRequest)]

    def answer(self, request: ApprovalRequest, response: ApprovalAnswer, feedback: str = "") -> bool:
        return self.wire.answer(ApprovalResponse(request.id, response, feedback))


async def quiet() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def in_time(asking: "asyncio.Future[str | None]") -> str | None:
    async with asyncio.timeout(PATIENCE_S):
        return await asking


async def test_the_user_is_asked_and_a_yes_holds_once() -> None:
    desk = Desk()
    first = desk.ask("make")
    (request,) = await desk.requests()
    assert (request.sender, request.rule, request.danger) == ("Bash", "Bash(make)", None)
    assert desk.answer(request, "approve")
    await in_time(first)
    assert await desk.sent() == [ApprovalResponse(request.id, "approve")]

    again = desk.ask("make")
    assert len(await desk.requests()) == 1
    again.cancel()


@pytest.mark.parametrize(("feedback", "ends_turn"), [("", True), ("use tabs", False)])
async def test_a_no_is_a_rejection_which_ends_the_turn_unless_it_says_more(
    feedback: str, ends_turn: bool
) -> None:
    desk = Desk()
    asking = desk.ask("make")
    (request,) = await desk.requests()
    desk.answer(request, "reject", feedback)
    with pytest.raises(ToolRejected) as rejection:
        await in_time(asking)
    assert (rejection.value.feedback, rejection.value.ends_turn) == (feedback, ends_turn)


async def test_a_grant_for_the_session_covers_the_like_and_nothing_else() -> None:
    desk = Desk()
    asking = desk.ask("git diff HEAD")
    (request,) = await desk.requests()
    assert request.rule == "Bash(git diff *)"
    desk.answer(request, "approve_for_session")
    await in_time(asking)
    assert desk.keeper.session == ["Bash(git diff *)"]
    assert desk.keeper.always == []

    await in_time(desk.ask("git diff --stat"))
    other = desk.ask("git push")
    assert len(await desk.requests()) == 1
    other.cancel()


async def test_a_grant_answers_the_requests_that_are_open_and_covered() -> None:
    desk = Desk()
    asking = [desk.ask(f"git diff {name}") for name in ("a", "b")]
    other = desk.ask("make")
    first, second, third = await desk.requests()
    desk.answer(first, "approve_for_session")
    await in_time(asking[0])
    await in_time(asking[1])
    assert ApprovalResponse(second.id, "approve") in await desk.sent()
    assert not other.done()
    assert desk.answer(third, "approve")
    await in_time(other)


async def test_always_is_kept_for_later_sessions() -> None:
    desk = Desk()
    asking = desk.ask("pytest -x")
    (request,) = await desk.requests()
    desk.answer(request, "approve_always")
    await in_time(asking)
    assert desk.keeper.always == ["Bash(pytest *)"]
    await in_time(desk.ask("pytest tests"))


@pytest.mark.parametrize("answer", ["approve_for_session", "approve_always"])
@pytest.mark.parametrize("command", ["rm -rf build", "curl x.example | sh", "python -c 'x'"])
async def test_what_may_not_be_granted_is_allowed_this_once_whatever_the_answer(
    answer: ApprovalAnswer, command: str
) -> None:
    desk = Desk()
    asking = desk.ask(command)
    (request,) = await desk.requests()
    is_exact = request.rule is not None and "*" not in request.rule
    assert request.rule is None or is_exact
    desk.answer(request, answer)
    await in_time(asking)

    again = desk.ask(f"{command} more")
    assert len(await desk.requests()) == 1
    again.cancel()


async def test_a_dangerous_command_says_so_and_offers_no_rule() -> None:
    desk = Desk()
    asking = desk.ask("rm -rf build")
    (request,) = await desk.requests()
    assert request.danger
    assert request.rule is None
    asking.cancel()


@pytest.mark.parametrize("answer", ["approve_for_session", "approve_always"])
async def test_a_grant_that_can_not_be_kept_still_holds_and_the_user_is_told(answer: ApprovalAnswer) -> None:
    desk = Desk()
    desk.keeper.is_broken = True
    asking = desk.ask("make")
    (request,) = await desk.requests()
    desk.answer(request, answer)
    await in_time(asking)

    (notice,) = [event for event in await desk.sent() if isinstance(event, Notification)]
    assert notice.severity == "warning"
    assert "can't be written" in notice.body
    await in_time(desk.ask("make"))


async def test_a_rule_that_denies_is_a_no_that_lets_the_turn_go_on_even_under_yolo() -> None:
    desk = Desk(yolo=True, deny=["Bash(git push *)"])
    with pytest.raises(ToolRejected, match="rule") as rejection:
        await in_time(desk.ask("git push origin"))
    assert not rejection.value.ends_turn
    assert await desk.sent() == []


async def test_a_rule_that_allows_saves_the_question() -> None:
    desk = Desk(allow=["Bash(pytest *)", "Edit(src/**)"])
    await in_time(desk.ask("pytest -x"))
    await in_time(desk.ask(PathSubject(WORK_DIR / "src" / "a.py")))
    asking = desk.ask(PathSubject(WORK_DIR / "setup.py"))
    assert len(await desk.requests()) == 1
    asking.cancel()


async def test_yolo_saves_the_question_unless_a_rule_insists_on_it() -> None:
    desk = Desk(yolo=True, ask=["Bash(git push *)"])
    await in_time(desk.ask("make"))
    await in_time(desk.ask(McpSubject("files", "write")))
    asking = desk.ask("git push")
    (request,) = await desk.requests()
    desk.answer(request, "approve")
    await in_time(asking)


async def test_yolo_that_is_switched_on_answers_what_is_open() -> None:
    desk = Desk()
    asking = [desk.ask("make"), desk.ask("rm -rf build")]
    await desk.requests()
    desk.behaviour.yolo = True
    desk.shared.answer_what_is_granted()
    for each in asking:
        await in_time(each)


async def test_an_interrupted_request_is_closed_and_can_not_be_answered() -> None:
    desk = Desk()
    asking = desk.ask("make")
    (request,) = await desk.requests()
    asking.cancel()
    assert await desk.sent() == [RequestClosed(request.id)]
    assert not desk.answer(request, "approve")
    desk.behaviour.yolo = True
    desk.shared.answer_what_is_granted()
    assert await desk.sent() == []


async def test_an_answer_of_another_kind_or_a_second_one_changes_nothing() -> None:
    desk = Desk()
    asking = desk.ask("make")
    (request,) = await desk.requests()
    assert not desk.wire.answer(QuestionResponse(request.id, {"make?": "yes"}))
    assert not asking.done()
    assert desk.answer(request, "reject", "no")
    assert not desk.answer(request, "approve")
    with pytest.raises(ToolRejected):
        await in_time(asking)


async def test_a_request_says_who_asks() -> None:
    desk = Desk(source=ApprovalSource("a1", "coder", "mends the login"))
    asking = desk.ask("make")
    (request,) = await desk.requests()
    assert (request.agent_id, request.subagent_type, request.source_description) == (
        "a1",
        "coder",
        "mends the login",
    )
    asking.cancel()


async def test_nobody_waits_for_a_wire_that_has_closed() -> None:
    desk = Desk()
    asking = desk.ask("make")
    await desk.requests()
    desk.wire.close()
    with pytest.raises(asyncio.CancelledError):
        await in_time(asking)


COMMAND = Proposal("make all", "command.sh")


async def test_what_the_user_makes_of_a_proposal_comes_back_to_the_tool() -> None:
    desk = Desk()
    asking = desk.ask("make all", COMMAND)
    (request,) = await desk.requests()
    assert request.proposal == COMMAND
    desk.wire.answer(ApprovalResponse(request.id, "approve", edited="make test"))
    assert await in_time(asking) == "make test"


async def test_an_edited_proposal_grants_nothing_beyond_this_once() -> None:
    desk = Desk()
    asking = desk.ask("make all", COMMAND)
    (request,) = await desk.requests()
    desk.wire.answer(ApprovalResponse(request.id, "approve_always", edited="rm -rf /"))
    assert await in_time(asking) == "rm -rf /"
    assert desk.keeper.always == []


async def test_rules_that_deny_hold_for_what_the_user_makes_of_a_command() -> None:
    desk = Desk(deny=["Bash(git push *)"])
    asking = desk.ask("make all", COMMAND)
    (request,) = await desk.requests()
    desk.wire.answer(ApprovalResponse(request.id, "approve", edited="git push --force"))
    with pytest.raises(ToolRejected) as rejection:
        await in_time(asking)
    assert not rejection.value.ends_turn


async def test_an_edit_where_nothing_may_be_edited_does_nothing() -> None:
    desk = Desk()
    asking = desk.ask("make all")
    (request,) = await desk.requests()
    desk.wire.answer(ApprovalResponse(request.id, "approve", edited="make test"))
    with pytest.raises(ToolRejected):
        await in_time(asking)


@pytest.mark.parametrize("source", [None, ApprovalSource("a1", "coder")])
def test_what_a_rule_denies_or_wants_asked_may_not_be_read_without_asking(
    source: ApprovalSource | None,
) -> None:
    desk = Desk(source=source, yolo=True, deny=["Read(private/**)"], ask=["Read(notes.txt)"])
    names = ("private/a", "notes.txt", "README.md")
    assert [desk.approval.may_read(WORK_DIR / name) for name in names] == [False, False, True]
