"""Text of the explanation of a line."""

import time
from typing import Literal

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy, translate_message
from kimi_tui.wire.why import LineAuthor, LineReason

_MAX_REASONING_LINES = 6
_MAX_PROMPT_LINES = 4
_SHORT_ID_LENGTH = 8
_AUTHORS: dict[LineAuthor, str] = {
    "agent": tr_lazy("the agent"),
    "you": tr_lazy("you"),
    "agent or you": tr_lazy("the agent or you"),
    "unknown": tr_lazy("unknown"),
}
Offers = Literal["slash", "shell"]
"""Whether the text offers slash commands or shell commands."""


def why_text(reason: LineReason, *, offers: Offers = "slash") -> tuple[str, str]:
    """Return the headline, and lines with the prompt, step, model, reasoning, command, cost and date."""
    lines = [f"  {sanitize_line(reason.text)}"]
    if reason.note:
        lines.append(translate_message(reason.note))
    if reason.prompt:
        lines.append(tr("Prompt: {text}", text=_shorten(reason.prompt, _MAX_PROMPT_LINES)))
    if reason.step:
        lines.append(tr("Step: {label}", label=sanitize_line(reason.step)))
    if reason.command:
        lines.append(tr("Command: {command}", command=sanitize_line(reason.command)))
    if reason.reasoning:
        text = _shorten(reason.reasoning, _MAX_REASONING_LINES)
        lines.append(tr("Reasoning: {text}", text=text))
    if reason.response:
        lines.append(tr("Response: {text}", text=_shorten(reason.response, _MAX_PROMPT_LINES)))
    if facts := _facts(reason):
        lines.append(" · ".join(facts))
    return _headline(reason), "\n".join([*lines, *_offer_lines(reason, offers)])


def author_label(reason: LineReason) -> str:
    """Return a short name for the author of a line."""
    if reason.by == "agent" and reason.agent:
        return tr("sub-agent {id}", id=reason.agent)
    return tr(_AUTHORS[reason.by])


def _headline(reason: LineReason) -> str:
    return tr(
        "{path}, line {line}: {author}",
        path=sanitize_line(reason.path),
        line=reason.line,
        author=author_label(reason),
    )


def _facts(reason: LineReason) -> list[str]:
    facts = [time.strftime("%Y-%m-%d %H:%M", time.localtime(reason.time))] if reason.time else []
    if reason.model:
        facts.append(sanitize_line(reason.model))
    if reason.cost_usd is not None:
        facts.append(f"${reason.cost_usd:.4f}")
    if reason.is_other_session:
        title = sanitize_line(reason.session_title) or reason.session_id[:_SHORT_ID_LENGTH]
        facts.append(tr("session “{title}”", title=title))
    if reason.branch is not None:
        facts.append(tr("branch {number}", number=reason.branch))
    return facts


def _offer_lines(reason: LineReason, offers: Offers) -> list[str]:
    if reason.checkpoint is None:
        return []
    number, session = reason.checkpoint, reason.session_id[:_SHORT_ID_LENGTH]
    if offers == "shell":
        command = " ".join(("kimi-tui", "checkpoints", "diff", str(number), "-S", session))
        return [f"{command}  {tr('changes since checkpoint {number}', number=number)}"]
    if reason.is_other_session:
        return [f"/resume {session}  {tr('open its session: checkpoint {number}', number=number)}"]
    return [f"/timeline {number}  {tr('open the checkpoint')}"]


def _shorten(text: str, most: int) -> str:
    """Return at most `most` lines of a text, then an ellipsis. All lines but the first are indented."""
    lines = [line for line in sanitize(text).strip().splitlines() if line.strip()]
    more = ["…"] if len(lines) > most else []
    return "\n    ".join([*lines[:most], *more])
