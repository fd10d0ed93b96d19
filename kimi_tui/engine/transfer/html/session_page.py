"""A session as one HTML page: the conversation, the timeline with its branches, and diffs.

The page has no scripts and loads no resources. A content security policy forbids both.
"""

import base64
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from kimi_tui.base.assets import read_asset
from kimi_tui.base.compaction_markers import is_summary, summary_text
from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message, ToolCall
from kimi_tui.engine.transfer.html.call_changes import CallDiff, SessionChanges
from kimi_tui.engine.transfer.html.page_text import CleanTexts, PageText
from kimi_tui.history.message_history import is_note
from kimi_tui.history.records import Checkpoint, StepSummary
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.version import __version__
from kimi_tui.wire.checks import CheckState, StepCheck

_MAX_DIFF_LINES = 400
_LABEL = 80
_SUMMARY = 120
_DETAIL_PARAMETERS = ("command", "path", "file_path", "url", "query", "pattern", "description", "name")
_CHECK_SIGNS: Mapping[CheckState, tuple[str, str]] = {
    "pass": ("✔", "check passed"),
    "fail": ("✗", "check failed"),
    "skip": ("–", "check couldn't tell"),
}
_BRANCH_REASONS = {
    "user": "left by a revert",
    "dmail": "left by a D-Mail",
    "undo": "left by an undo",
    "redo": "left by a redo",
    "switch": "left by a switch",
    "compaction": "before a compaction",
    "clear": "before /clear",
}


@frozen(kw_only=True)
class PageBranch:
    """A part of the conversation: the current branch, or the unshared part of another branch."""

    number: int | None
    """Branch number. None: the current branch."""
    reason: str = ""
    messages: tuple[Message, ...]
    checkpoints: tuple[tuple[int, Checkpoint], ...]
    """Checkpoints, each with the number of messages before it."""


@frozen(kw_only=True)
class PageContent:
    """Content of a page."""

    title: str
    session_id: str
    work_dir: str
    model: str
    cost_usd: float | None
    current: PageBranch
    branches: tuple[PageBranch, ...]
    """The other branches, oldest first."""
    changes: SessionChanges
    checks: Mapping[str, StepCheck] = field(default_factory=dict)
    """The results of the check after steps, by the uids of their checkpoints."""


def render_page(content: PageContent, *, limit: int, clean_texts: CleanTexts | None = None) -> str:
    """Return the page. Texts are cut to `limit` characters."""
    return _Page(content, PageText(limit, clean_texts or CleanTexts())).render()


class _Page:
    """Renders one page."""

    def __init__(self, content: PageContent, text: PageText) -> None:
        self._content = content
        self._text = text

    def render(self) -> str:
        content = self._content
        title = self._text.line(content.title, 200) or "Conversation"
        style = read_asset("styles", "session_page.css")
        style_hash = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'"
        earlier = [branch for branch in content.branches if branch.reason in ("compaction", "clear")]
        others = [branch for branch in content.branches if branch not in earlier]
        parts = [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">',
            f"<title>{title}</title><style>{style}</style></head><body>",
            f'<div class="page">{self._timeline(earlier, others)}<main>',
            f"<header><h1>{title}</h1>{self._facts()}</header>",
            *(self._left_branch(branch) for branch in earlier),
            *self._conversation(content.current),
            *(self._left_branch(branch) for branch in others),
            f"<footer>Exported by kimi-tui {__version__}. Keys and tokens are redacted.</footer>",
            "</main></div></body></html>",
        ]
        return "\n".join(part for part in parts if part) + "\n"

    # the head

    def _facts(self) -> str:
        content = self._content
        checkpoints = [it for branch in (content.current, *content.branches) for _, it in branch.checkpoints]
        times = [checkpoint.time for checkpoint in checkpoints if checkpoint.time]
        prompts = sum(checkpoint.kind == "user" for checkpoint in checkpoints)
        diffs = [diff for diffs in content.changes.by_call.values() for diff in diffs]
        commands = sorted({check.command for check in content.checks.values() if check.command})
        facts = [
            ("", time.strftime("%Y-%m-%d %H:%M", time.localtime(min(times)))) if times else None,
            ("Model", content.model) if content.model else None,
            ("Prompts", f"{prompts:,}"),
            ("Checkpoints", f"{len(checkpoints):,}"),
            ("Files", f"{len({diff.path for diff in diffs}):,}") if diffs else None,
            ("Cost", f"${content.cost_usd:.2f}") if content.cost_usd is not None else None,
            ("Check", ", ".join(commands[:2])) if commands else None,
            ("Directory", content.work_dir) if content.work_dir else None,
            ("Session", content.session_id[:8]),
        ]
        rows = [
            f"<span>{name} <b>{self._text.line(value, 120)}</b></span>" for name, value in filter(None, facts)
        ]
        return f'<div class="facts">{"".join(rows)}</div>'

    # the timeline

    def _timeline(self, earlier: Sequence[PageBranch], others: Sequence[PageBranch]) -> str:
        items = [
            *(self._timeline_branch(branch) for branch in earlier),
            *self._timeline_rows(self._content.current),
            *(self._timeline_branch(branch) for branch in others),
        ]
        head = '<nav class="side" aria-label="Timeline"><details open><summary>Timeline</summary>'
        return f"{head}<ol>{''.join(items)}</ol></details></nav>"

    def _timeline_branch(self, branch: PageBranch) -> str:
        if not (rows := "".join(self._timeline_rows(branch))):
            return ""
        name = _branch_name(branch)
        head = f'<li class="fork"><details class="branch"><summary>{name}</summary>'
        return f"{head}<ol>{rows}</ol></details></li>"

    def _timeline_rows(self, branch: PageBranch) -> Iterator[str]:
        following = [checkpoint for _, checkpoint in branch.checkpoints[1:]]
        for number, (position, checkpoint) in enumerate(branch.checkpoints):
            after = following[number] if number < len(following) else None
            is_prompt = checkpoint.kind == "user"
            done = after.done if after is not None else self._last_summary(branch, position)
            done_label = done.label if done is not None else ""
            label = self._text.line(checkpoint.label if is_prompt else done_label or checkpoint.label, _LABEL)
            files = after.changes if after is not None else None
            lines = _line_counts(files.added_lines, files.removed_lines) if files is not None else ""
            check = self._check(checkpoint) or ('<span class="check"></span>' if self._content.checks else "")
            kind = ' class="prompt"' if is_prompt else ""
            number_cell = f'<span class="number">{checkpoint.id}</span>'
            yield (
                f'<li{kind}><a href="#{_anchor(branch, checkpoint)}">{number_cell}'
                f'<span class="label">{label}</span><span class="lines">{lines}{check}</span></a></li>'
            )

    def _check(self, checkpoint: Checkpoint | None) -> str:
        """Return the sign of the check after the step that follows a checkpoint; empty if no check ran."""
        check = self._content.checks.get(checkpoint.uid) if checkpoint is not None else None
        if check is None or check.state == "running":
            return ""
        sign, text = _CHECK_SIGNS[check.state]
        if check.is_first_failure:
            sign, text = f"→{sign}", "the check began to fail here"
        return f'<span class="check {check.state}" role="img" title="{text}">{sign}</span>'

    def _last_summary(self, branch: PageBranch, position: int) -> StepSummary | None:
        """Return the summary of the step after the last checkpoint. No later checkpoint has recorded it."""
        return summarize_step(branch.messages[position:])

    # the conversation

    def _left_branch(self, branch: PageBranch) -> str:
        body = "".join(self._conversation(branch))
        if not branch.messages:
            return ""
        return f'<details class="left"><summary>{_branch_name(branch)}</summary>{body}</details>'

    def _conversation(self, branch: PageBranch) -> Iterator[str]:
        """Yield the turns of a branch."""
        results = {message.tool_call_id: message for message in branch.messages if message.role == "tool"}
        checkpoints = dict(branch.checkpoints)  # the last one at each position
        opened = False
        began = 0.0
        for position, message in enumerate(branch.messages):
            checkpoint = checkpoints.get(position)
            if checkpoint is not None and checkpoint.time and branch.number is None:
                yield self._users_changes(began, checkpoint.time)
                began = checkpoint.time
            yield _further_anchors(branch, position, checkpoint)
            if message.role == "user" and not (is_note(message) and not is_summary(message)):
                if opened:
                    yield "</section>"
                opened = True
                yield self._prompt(branch, message, checkpoint)
            elif message.role == "assistant":
                if not opened:
                    opened = True
                    yield '<section class="turn">'
                yield self._step(branch, message, checkpoint, results)
        if branch.number is None:
            yield self._users_changes(began, float("inf"))
        yield _further_anchors(branch, len(branch.messages), None)
        if opened:
            yield "</section>"

    def _prompt(self, branch: PageBranch, message: Message, checkpoint: Checkpoint | None) -> str:
        anchor = f' id="{_anchor(branch, checkpoint)}"' if checkpoint is not None else ""
        who, text = "You", message.typed or message.text
        if is_summary(message):
            who, text = "Summary of the earlier conversation", summary_text(message)
        body = self._text.plain(text)
        others = sum(not isinstance(part, TextPart | ThinkPart) for part in message.content)
        attached = f'<p class="note">Attachments: {others}</p>' if others else ""
        head = self._head(who, branch, checkpoint)
        box = f'{head}<div class="text">{body}</div>{attached}'
        return f'<section class="turn"{anchor}><div class="you">{box}</div>'

    def _users_changes(self, since: float, until: float) -> str:
        """Return the user's changes between two times, in seconds since the epoch, as HTML."""
        changes = self._content.changes.by_user
        diffs = [diff for at, items in changes if since <= at < until for diff in items]
        if not diffs:
            return ""
        return (
            f'<div class="step mine"><p class="note">You changed:</p>{"".join(map(self._diff, diffs))}</div>'
        )

    def _head(self, who: str, branch: PageBranch, checkpoint: Checkpoint | None) -> str:
        link = when = ""
        if checkpoint is not None:
            link = f'<a href="#{_anchor(branch, checkpoint)}">#{checkpoint.id}</a>'
            if checkpoint.time:
                when = f"<span>{time.strftime('%H:%M', time.localtime(checkpoint.time))}</span>"
        return f'<div class="who"><b>{who}</b>{when}{link}</div>'

    def _step(
        self,
        branch: PageBranch,
        message: Message,
        checkpoint: Checkpoint | None,
        results: dict[str | None, Message],
    ) -> str:
        anchor = f' id="{_anchor(branch, checkpoint)}"' if checkpoint is not None else ""
        parts = []
        for part in message.content:
            if isinstance(part, ThinkPart) and part.think.strip():
                parts.append(
                    '<details class="item thinking"><summary><b>Thinking</b></summary>'
                    f"<div>{self._text.plain(part.think)}</div></details>"
                )
            elif isinstance(part, TextPart) and part.text.strip():
                parts.append(f'<div class="response">{self._text.markdown(part.text)}</div>')
        parts += (self._call(call, results.get(call.id)) for call in message.tool_calls or ())
        check = self._check(checkpoint)
        return f'<div class="step"{anchor}>{"".join(parts)}{check}</div>' if parts or check else ""

    def _call(self, call: ToolCall, result: Message | None) -> str:
        arguments = _parse_arguments(call)
        detail = next((str(arguments[name]) for name in _DETAIL_PARAMETERS if arguments.get(name)), "")
        diffs: Sequence[CallDiff] = self._content.changes.by_call.get(call.id, ())
        lines = _line_counts(sum(it.added for it in diffs), sum(it.removed for it in diffs))
        body = f'<pre class="wrap">{self._text.plain(_format_arguments(arguments, call))}</pre>'
        state = ""
        if len(diffs) == 1 and diffs[0].lines and "command" not in arguments:  # one edit of a file tool
            body, diffs, state = f'<pre class="diff">{self._diff_lines(diffs[0].lines)}</pre>', (), " open"
        output = self._text.output(result.text) if result is not None else ""
        if output and not state:
            body += f'<pre class="wrap">{output}</pre>'
        summary = (
            f'<summary><b>{self._text.line(call.function.name, 60)}</b><span class="detail">'
            f'{self._text.line(detail, _SUMMARY)}</span><span class="lines">{lines}</span></summary>'
        )
        return f'<details class="item"{state}>{summary}{body}</details>{"".join(map(self._diff, diffs))}'

    def _diff(self, diff: CallDiff) -> str:
        names = f"{diff.old_path} → {diff.path}" if diff.old_path else diff.path
        counts = _line_counts(diff.added, diff.removed)
        summary = (
            f'<summary><b>{diff.change}</b><span class="detail">{self._text.line(names, _SUMMARY)}</span>'
            f'<span class="lines">{counts}</span></summary>'
        )
        if not diff.lines:
            return f'<details class="item">{summary}</details>'
        lines = self._diff_lines(diff.lines)
        return f'<details class="item" open>{summary}<pre class="diff">{lines}</pre></details>'

    def _diff_lines(self, lines: Sequence[str]) -> str:
        shown: list[str] = []
        size = 0
        for line in lines[:_MAX_DIFF_LINES]:
            size += len(line)
            if shown and size > self._text.limit:
                break
            kind = {"+": "a", "-": "d", "@": "h"}.get(line[:1], "c")
            shown.append(f'<span class="{kind}">{self._text.plain(line) or " "}</span>')
        rest = len(lines) - len(shown)
        note = f'<span class="cut">… {rest:,} more lines</span>' if rest else ""
        return "".join(shown) + note


def _branch_name(branch: PageBranch) -> str:
    return f"Branch {branch.number}, {_BRANCH_REASONS.get(branch.reason, 'left')}"


def _further_anchors(branch: PageBranch, position: int, shown: Checkpoint | None) -> str:
    """Return link targets for the checkpoints at a position, except the checkpoint that a message shows."""
    others = [it for at, it in branch.checkpoints if at == position and it is not shown]
    return "".join(f'<span id="{_anchor(branch, checkpoint)}"></span>' for checkpoint in others)


def _anchor(branch: PageBranch, checkpoint: Checkpoint) -> str:
    return f"c{checkpoint.id}" if branch.number is None else f"b{branch.number}-c{checkpoint.id}"


def _line_counts(added: int, removed: int) -> str:
    parts = [f'<span class="add">+{added}</span>'] if added else []
    parts += [f'<span class="del">−{removed}</span>'] if removed else []
    return " ".join(parts)


def _parse_arguments(call: ToolCall) -> dict[str, object]:
    try:
        arguments = json.loads(call.function.arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _format_arguments(arguments: dict[str, object], call: ToolCall) -> str:
    if not arguments:
        return call.function.arguments or ""
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )
