"""Prompt that gives the model the result of a search."""

from kimi_tui.wire.bisect import BisectResult


def build_prompt(result: BisectResult) -> str:
    """Return the prompt."""
    lines = [f"I searched the checkpoints of this session with the command `{result.command}`."]
    match result.outcome:
        case "pass_to_fail" | "fail_to_pass":
            lines += _describe_change(result)
        case "always_fails" | "always_passes" | "always_skips":
            lines.append(f"The command {result.outcome.replace('_', ' ')}: no step changed its result.")
        case "stopped":
            lines.append("The search was stopped.")
    if result.is_flaky:
        lines.append("The command is flaky: its results differ for the same files.")
    if result.output:
        lines += ["Where it fails, its output ends with:", "```", result.output, "```"]
    if result.outcome == "pass_to_fail":
        lines.append("Find out why, and fix it.")
    return "\n".join(lines)


def _describe_change(result: BisectResult) -> list[str]:
    change = "fail" if result.outcome == "pass_to_fail" else "pass"
    label = result.step.label if result.step is not None else ""
    lines = [f"It began to {change} with this step: {label}"]
    if result.suspects:
        lines.append(f"It can't tell in between, so any of {len(result.suspects)} steps may be the cause.")
    if result.prompt:
        lines.append(f"The step belongs to my message: {result.prompt}")
    lines += ["Its changes:", "```diff", result.diff, "```"]
    if result.has_more_diff:
        lines.append(f"This is the beginning of the changes of {len(result.files)} file(s).")
    return lines
