"""Text of attempts: their list, and the changes of one."""

from collections.abc import Sequence
from typing import assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize, sanitize_code_line, sanitize_line
from kimi_tui.frontend.number_format import format_cost, format_duration
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, tr_n, translate_message
from kimi_tui.wire.attempts import Attempt, AttemptChanges, AttemptList
from kimi_tui.wire.checks import CheckVerdict
from kimi_tui.wire.compared_lines import diff_lines

_MAX_PROMPT = 60
_MAX_MESSAGE_LINES = 12
_MAX_DIFF_LINES = 200


def attempt_name(attempt: Attempt) -> str:
    """Return the model and thinking level of an attempt."""
    model = sanitize_line(attempt.model) or tr("same model")
    return model if attempt.thinking == "off" else f"{model} · {attempt.thinking}"


def attempt_state(attempt: Attempt) -> str:
    """Return the state of an attempt in a word or two."""
    if attempt.is_adopted:
        return tr("adopted")
    match attempt.state:
        case "waiting":
            return tr("waiting")
        case "running":
            return tr("running")
        case "checking":
            return tr("checking")
        case "finished":
            return tr("finished")
        case "failed":
            return tr("failed")
        case "limited":
            return tr("limit reached")
        case "stopped":
            return tr("stopped")
        case _:
            assert_never(attempt.state)


def verdict_text(verdict: CheckVerdict | None) -> str:
    """Return the result of a check. Empty without a result."""
    match verdict:
        case None:
            return ""
        case "pass":
            return tr("✔ passes")
        case "fail":
            return tr("✗ fails")
        case "skip":
            return tr("– skips")
        case _:
            assert_never(verdict)


def changes_text(attempt: Attempt) -> str:
    """Return the number of changed files and lines. Empty without changes."""
    if not attempt.files:
        return ""
    files = tr_n("{count} file", "{count} files", attempt.files)
    return f"{files} +{attempt.added} −{attempt.removed}"


def attempts_text(attempts: AttemptList) -> tuple[str, str]:
    """Return a headline, and a line for each attempt."""
    if not attempts.attempts:
        return tr("No attempts."), tr("Start some with /attempts --model A,B.")
    n_active = sum(attempt.is_active for attempt in attempts.attempts)
    headline = (
        tr_n("{count} attempt is running.", "{count} attempts are running.", n_active)
        if n_active
        else tr_n("{count} attempt", "{count} attempts", len(attempts.attempts))
    )
    return headline, "\n".join(_lines(attempts.attempts))


def _lines(attempts: Sequence[Attempt]) -> list[str]:
    lines = []
    for attempt in attempts:
        parts = [
            attempt_state(attempt),
            verdict_text(attempt.verdict),
            format_cost(attempt.cost_usd) if attempt.cost_usd is not None else "",
            format_duration(attempt.duration_s) if attempt.duration_s else "",
            changes_text(attempt),
        ]
        text = " · ".join(part for part in parts if part)
        lines.append(f"{attempt.number:>3}  {pad_right(attempt_name(attempt), 24)}  {text}")
        prompt = sanitize_line(attempt.prompt)
        lines.append(f"     {prompt[:_MAX_PROMPT]}{'…' if len(prompt) > _MAX_PROMPT else ''}")
        if attempt.problem:
            lines.append(f"     {translate_message(attempt.problem)}")
    return lines


def attempt_result_text(result: AttemptChanges) -> tuple[str, str]:
    """Return a headline, and the last message, the check and the diff of an attempt, or one file's diff."""
    if result.path:
        return _headline(result.attempt), "\n".join(f"  {line}" for line in _diff_lines(result))
    return _result_text(result, "/attempts --adopt", max_diff_lines=_MAX_DIFF_LINES)


def whole_attempt_text(result: AttemptChanges, adopt: str) -> tuple[str, str]:
    """Return `attempt_result_text` with the whole diff.

    `adopt` is the command that adopts the attempt, without the attempt's number.
    """
    return _result_text(result, adopt, max_diff_lines=None)


def _result_text(result: AttemptChanges, adopt: str, *, max_diff_lines: int | None) -> tuple[str, str]:
    attempt = result.attempt
    lines = _lines([attempt])[:-1] if not attempt.problem else _lines([attempt])
    lines += detail_lines(attempt)
    diff = _diff_lines(result)
    lines += [f"  {line}" for line in diff[:max_diff_lines]]
    if max_diff_lines is not None and (rest := len(diff) - max_diff_lines) > 0:
        lines.append("  " + tr_n("… {count} more line", "… {count} more lines", rest))
        lines.append(
            tr("/attempts --show {number} --file FILE: the whole diff of one file", number=attempt.number)
        )
    if attempt.files and not attempt.is_active:
        lines.append(tr("{command}: adopt its changes", command=f"{adopt} {attempt.number}"))
    return _headline(attempt), "\n".join(lines)


def _headline(attempt: Attempt) -> str:
    return tr("Attempt {number}: {name}", number=attempt.number, name=attempt_name(attempt))


def _diff_lines(result: AttemptChanges) -> list[str]:
    lines: list[str] = []
    for file in result.files:
        lines += map(sanitize_code_line, diff_lines(file))
        if file.no_diff and not file.is_on_request:
            lines.append(translate_message(file.no_diff))
    return lines


@frozen
class AttemptDetail:
    """A text about an attempt, to show below its files."""

    title: str
    text: str
    is_problem: bool = False


def detail_texts(attempt: Attempt) -> list[AttemptDetail]:
    """Return the problem, the last message, the check and the prompt of an attempt, if there are any."""
    details = []
    if attempt.problem:
        problem = translate_message(attempt.problem)
        details.append(AttemptDetail(problem, problem, is_problem=True))
    if attempt.last_message:
        first = next(iter(attempt.last_message.strip().splitlines()), "")
        details.append(AttemptDetail(tr("Last message: {text}", text=first), attempt.last_message))
    if attempt.verdict is not None:
        title = tr("Check {command}: {result}", command=attempt.check, result=verdict_text(attempt.verdict))
        output = translate_message(attempt.check_output)
        details.append(AttemptDetail(title, f"{title}\n\n{output}" if output else title))
    details.append(AttemptDetail(tr("Prompt: {text}", text=attempt.prompt), attempt.prompt))
    if attempt.is_copy:
        note = tr("It ran in a copy of the files, at another path.")
        details.append(AttemptDetail(note, note, is_problem=True))
    return details


def detail_lines(attempt: Attempt) -> list[str]:
    """Return lines with the last message, and the output of a check that failed."""
    lines = []
    if attempt.last_message:
        lines.append(tr("Last message:"))
        message = sanitize(attempt.last_message).splitlines()
        lines += [f"  {line}" for line in message[:_MAX_MESSAGE_LINES]]
    if attempt.verdict is not None:
        check = sanitize_line(attempt.check)
        lines.append(tr("Check {command}: {result}", command=check, result=verdict_text(attempt.verdict)))
    if attempt.check_output:
        lines += [
            f"  {sanitize_code_line(line)}" for line in translate_message(attempt.check_output).splitlines()
        ]
    if attempt.is_copy:
        lines.append(tr("It ran in a copy of the files, at another path."))
    return lines


def progress_line(before: AttemptList, after: AttemptList) -> str:
    """Return one line about the attempts whose state has changed. Empty if no state has changed."""
    states = {attempt.number: attempt_state(attempt) for attempt in before.attempts}
    changed = [
        tr("Attempt {number}: {state}", number=each.number, state=attempt_state(each))
        + (f", {verdict_text(each.verdict)}" if each.verdict is not None else "")
        for each in after.attempts
        if states.get(each.number) != attempt_state(each)
    ]
    return "; ".join(changed)
