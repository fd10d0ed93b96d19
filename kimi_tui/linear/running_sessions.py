"""Command /ps of linear mode: shows the open sessions of this user, and answers, stops or opens one."""

from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.running_session_service import RunningSessionService
from kimi_tui.frontend.text.running_sessions import facts_of, no_engine_text, title_of
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.linear.command_context import CommandContext, SessionSwitch
from kimi_tui.linear.messages import approval_lines
from kimi_tui.linear.requests import ask_choice, parse_answer
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import ApprovalRequest, Question, QuestionRequest, QuestionResponse, UserRequest
from kimi_tui.wire.running_session import RunningSession


async def show_running_sessions(context: CommandContext, _: str) -> None:
    """Print the open sessions, and let the user act on one."""
    service = context.running_sessions
    if service is None:
        context.write_line(tr("Can't open another session here."))
        return
    try:
        await _show(context, service)
    except KimiTuiError as error:
        context.write_line(translate_error(error))


async def _show(context: CommandContext, service: RunningSessionService) -> None:
    listed = await service.list()
    if not listed.is_engine_running:
        context.write_line(no_engine_text())
    if not listed.sessions:
        context.write_line(tr("No sessions are open."))
        return
    options = [(session.id, _label(context, session)) for session in listed.sessions]
    chosen_id = await ask_choice(context, tr("Running sessions:"), options)
    session = next((it for it in listed.sessions if it.id == chosen_id), None)
    if session is None or not _can_act_on(context, session):
        return
    requests = session.open_requests
    actions = [("answer", tr("answer its request"))] if requests else []
    actions += [("open", tr("open")), ("stop", tr("stop: interrupt, save and close"))]
    match await ask_choice(context, tr("Action:"), actions):
        case "answer":
            await _answer(context, service, session, requests[0])
        case "open":
            work_dir = Path(session.work_dir) if session.work_dir else None
            context.leave(SessionSwitch(session.id, work_dir=work_dir))
        case "stop":
            await service.stop(session.id)
            context.write_line(tr("Stopped: {title}", title=title_of(session)))
        case _:
            pass


def _label(context: CommandContext, session: RunningSession) -> str:
    parts = [title_of(session), facts_of(session).replace("  ", ", "), sanitize_line(session.last_line)]
    if _is_current(context, session):
        parts.insert(1, tr("current"))
    return ", ".join(filter(None, parts))


def _is_current(context: CommandContext, session: RunningSession) -> bool:
    current = context.state.session
    return current is not None and current.session_id == session.id


def _can_act_on(context: CommandContext, session: RunningSession) -> bool:
    """Return whether the session can be answered, opened and stopped here. Print the reason if it can't."""
    if _is_current(context, session):
        context.write_line(tr("This is the current session."))
        return False
    if not session.is_resident:
        context.write_line(
            tr("Another process has this session open. Close it there, or resume a fork of it here.")
        )
        return False
    return True


async def _answer(
    context: CommandContext, service: RunningSessionService, session: RunningSession, request: UserRequest
) -> None:
    answer = (
        await _ask_approval(context, request)
        if isinstance(request, ApprovalRequest)
        else await _ask_questions(context, request)
    )
    if answer is not None and not await service.answer(session.id, answer):
        context.write_line(tr("The request was already answered."))


async def _ask_approval(context: CommandContext, request: ApprovalRequest) -> ApprovalResponse | None:
    context.write_line("\n".join(approval_lines(request)))
    options = [("approve", tr("Yes")), ("reject", tr("No"))]
    match await ask_choice(context, tr("Answer: "), options):
        case "approve":
            return ApprovalResponse(request.id, "approve")
        case "reject":
            return ApprovalResponse(request.id, "reject")
        case _:
            return None


async def _ask_questions(context: CommandContext, request: QuestionRequest) -> QuestionResponse | None:
    answers: dict[str, str] = {}
    for question in request.questions:
        chosen = await _ask_options(context, question)
        if chosen is None:
            return None
        answers[question.question] = chosen
    return QuestionResponse(request.id, answers)


async def _ask_options(context: CommandContext, question: Question) -> str | None:
    """Let the user choose an option, or several if the question allows it. Return the answer, or None."""
    title = sanitize_line(question.question)
    if not question.multi_select:
        return await ask_choice(context, title, [(option.label, option.label) for option in question.options])
    context.write_line(title)
    for number, option in enumerate(question.options, 1):
        context.write_line(f"{number}. {sanitize_line(option.label)}")
    line = await context.ask(tr("Option numbers, or your own answer (empty to cancel): "))
    return parse_answer(line.strip(), question) if line is not None and line.strip() else None
