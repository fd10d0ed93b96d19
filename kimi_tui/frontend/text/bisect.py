"""Text of a search for the step that changed the result of a command."""

from typing import Literal, assert_never

from kimi_tui.base.terminal_text import sanitize_code_line, sanitize_line
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.wire.bisect import BisectProgress, BisectResult

_MAX_DIFF_LINES = 40
_MAX_OUTPUT_LINES = 10
Offers = Literal["slash", "shell"]
"""Whether the result offers slash commands or shell commands."""


def progress_text(progress: BisectProgress) -> str:
    """Return one line about the last run."""
    where = (
        tr("current files")
        if progress.checkpoint is None
        else tr("checkpoint {number}", number=progress.checkpoint)
    )
    match progress.verdict:
        case "pass":
            verdict = tr("✔ passes")
        case "fail":
            verdict = tr("✗ fails")
        case "skip":
            verdict = tr("– skips")
        case _:
            assert_never(progress.verdict)
    if progress.runs > progress.max_runs:
        text = tr("Bisect, run {run}: {where} {verdict}", run=progress.runs, where=where, verdict=verdict)
    else:
        text = tr(
            "Bisect, run {run} of at most {most}: {where} {verdict}",
            run=progress.runs,
            most=progress.max_runs,
            where=where,
            verdict=verdict,
        )
    return f"{text} {tr('(flaky: runs three times)')}" if progress.is_flaky else text


def result_text(result: BisectResult, *, offers: Offers = "slash") -> tuple[str, str]:
    """Return the headline, and lines with the step, its prompt, its diff and the next commands."""
    lines = _step_lines(result) if result.has_found_step else []
    if result.is_flaky:
        lines.append(tr("The command is flaky: its results differ for the same files."))
    if result.is_copy:
        lines.append(tr("The command ran in copies of the files, at another path."))
    if result.output:
        lines.append(tr("Output where it fails:"))
        lines += [f"  {sanitize_code_line(line)}" for line in result.output.splitlines()[-_MAX_OUTPUT_LINES:]]
    return bisect_headline(result), "\n".join([*lines, *_offer_lines(result, offers)])


def bisect_headline(result: BisectResult) -> str:
    """Return one line with the outcome."""
    command = sanitize_line(result.command)
    step = result.step.id if result.step is not None else 0
    match result.outcome:
        case "pass_to_fail":
            text = tr("✔ → ✗ Step {number} made “{command}” fail.", number=step, command=command)
        case "fail_to_pass":
            text = tr("✗ → ✔ Step {number} made “{command}” pass.", number=step, command=command)
        case "always_fails":
            text = tr("✗ “{command}” fails even at the first checkpoint.", command=command)
        case "always_passes":
            text = tr("✔ “{command}” passes everywhere, from the first checkpoint to now.", command=command)
        case "always_skips":
            text = tr("– “{command}” skips every checkpoint (exit code 125).", command=command)
        case "stopped":
            return tr("Search stopped: {command}", command=command)
        case _:
            assert_never(result.outcome)
    return f"{text} {tr_n('{count} run.', '{count} runs.', result.runs)}"


def _step_lines(result: BisectResult) -> list[str]:
    lines = []
    if result.suspects:
        steps = ", ".join(map(str, result.suspects))
        lines.append(
            tr("Checkpoints in between were skipped, so it may be any of these steps: {steps}", steps=steps)
        )
    if result.step is not None and result.step.kind != "user":
        lines.append(tr("Step: {label}", label=sanitize_line(result.step.label)))
    if result.prompt:
        lines.append(tr("Prompt: {text}", text=sanitize_line(result.prompt)))
    diff = result.diff.splitlines()
    lines += [f"  {sanitize_code_line(line)}" for line in diff[:_MAX_DIFF_LINES]]
    if len(diff) > _MAX_DIFF_LINES or result.has_more_diff:
        total = tr_n("{count} file changed", "{count} files changed", len(result.files))
        added, removed = sum(it.added for it in result.files), sum(it.removed for it in result.files)
        lines.append("  " + tr("… {total}, +{added} −{removed}", total=total, added=added, removed=removed))
    return lines


def bisect_offers(result: BisectResult) -> list[tuple[str, str]]:
    """Return slash commands that are useful after `result`, with their summaries. Empty if no step was found.

    /revert isn't offered for changes that only the user made, because it reverts steps of the agent.
    """
    if result.step is None or not result.has_found_step:
        return []
    number = result.step.id
    after = "" if result.until is None else f" {result.until}"
    revert = (f"/revert {number} turn", tr("revert only this step"))
    return [
        *([] if _is_only_yours(result) else [revert]),
        (f"/review {number}{after}", tr("show its changes")),
        (f"/timeline {number}", tr("open the checkpoint")),
        ("/bisect --send", tr("send it to the model")),
    ]


def _offer_lines(result: BisectResult, offers: Offers) -> list[str]:
    if result.step is None or not result.has_found_step:
        return []
    commands = bisect_offers(result) if offers == "slash" else _shell_offers(result, result.step.id)
    width = max(len(command) for command, _ in commands) + 2
    lines = [f"{command:{width}}{summary}" for command, summary in commands]
    return lines if offers == "shell" else [*lines, f"{'/bisect':{width}}{tr('choose one of these')}"]


def _shell_offers(result: BisectResult, number: int) -> list[tuple[str, str]]:
    revert = (_shell_line("revert", number, "--scope", "turn"), tr("revert only this step"))
    return [
        *([] if _is_only_yours(result) else [revert]),
        (
            _shell_line("diff", number, *([] if result.until is None else [result.until]), "--patch"),
            tr("show its changes"),
        ),
        (_shell_line("revert", number), tr("open the checkpoint: preview a revert to it")),
    ]


def _is_only_yours(result: BisectResult) -> bool:
    return all(file.by == "you" for file in result.files)


def _shell_line(*arguments: str | int) -> str:
    return " ".join(("kimi-tui", "checkpoints", *map(str, arguments)))
