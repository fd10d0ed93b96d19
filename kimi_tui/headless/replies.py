"""Replies: what a command of the engine answers, in words, for whoever gave it as a prompt."""

from kimi_tui.language.saying import retell
from kimi_tui.wire.agents import AgentList
from kimi_tui.wire.events import Event, Notification
from kimi_tui.wire.timeline import Comparison, PatchWritten, Reverted, RevertPlan, SessionForked
from kimi_tui.wire.window import WindowFilling
from kimi_tui.words.agents import told_agents
from kimi_tui.words.time_travel import told_comparison, told_fork, told_jump, told_patch, told_plan
from kimi_tui.words.window import told_filling


def reply_of(event: Event) -> str:
    """What `event` says to whoever waits for a command's answer; empty when that is nothing."""
    match event:
        case Notification(severity="info", title=title, body=body):
            told = retell(title), retell(body)
        case RevertPlan():
            told = told_plan(event)
        case Comparison():
            told = told_comparison(event)
        case PatchWritten():
            told = told_patch(event)
        case SessionForked():
            told = told_fork(event)
        case AgentList():
            told = told_agents(event)
        case WindowFilling():
            told = told_filling(event)
        case Reverted(reason=reason) if reason != "clear":
            told = told_jump(event)
        case _:
            return ""
    return "\n".join(filter(None, told))
