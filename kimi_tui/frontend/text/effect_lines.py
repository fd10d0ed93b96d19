"""Effects of a command that ran in a workspace, as lines of text."""

from typing import Literal, assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_n, translate_message
from kimi_tui.wire.command_effects import CommandEffects, FileEffect

LineKind = Literal["ok", "failed", "note", "output", "file", "conflict"]


@frozen
class EffectLine:
    """A line of text, and the kind of effect that it describes."""

    text: str
    kind: LineKind


def describe_effects(effects: CommandEffects) -> list[EffectLine]:
    """Return the result of the command, the end of its output, and the files that it changed."""
    lines = [_status_line(effects)]
    if effects.n_hidden_lines:
        more = tr_n("… {count:,} more line", "… {count:,} more lines", effects.n_hidden_lines)
        lines.append(EffectLine(more, "note"))
    lines += [EffectLine(sanitize_line(line), "output") for line in effects.output.splitlines()]
    lines += [
        EffectLine(tr("Has read {file}, which may contain secrets", file=sanitize_line(name)), "conflict")
        for name in effects.secrets
    ]
    if effects.network_attempts:
        lines.append(EffectLine(tr("Has tried to reach the network, without success"), "conflict"))
    lines += [_file_line(file) for file in effects.files]
    if effects.n_more_files:
        more = tr_n("… {count:,} more file", "… {count:,} more files", effects.n_more_files)
        lines.append(EffectLine(more, "note"))
    return lines


def _status_line(effects: CommandEffects) -> EffectLine:
    if effects.timed_out:
        return EffectLine(tr("Ran in a workspace · stopped at the time limit"), "failed")
    if effects.exit_code < 0:
        return EffectLine(tr("Ran in a workspace · signal {number}", number=-effects.exit_code), "failed")
    text = tr("Ran in a workspace · exit code {code}", code=effects.exit_code)
    if not effects.output:
        text += tr(" · no output")
    return EffectLine(text, "failed" if effects.exit_code else "ok")


def _file_line(file: FileEffect) -> EffectLine:
    name = sanitize_line(file.path)
    match file.kind:
        case "create":
            text = tr("new  {file}", file=name)
        case "modify":
            text = tr("changed  {file}", file=name)
        case "delete":
            text = tr("deleted  {file}", file=name)
        case "attributes":
            text = tr("mode changed  {file}", file=name)
        case "git":
            text = tr("git's data  {file}", file=name)
        case _:
            assert_never(file.kind)
    if file.added_lines is not None and file.removed_lines is not None:
        text += f"  +{file.added_lines} −{file.removed_lines}"
    if not file.conflict:
        return EffectLine(text, "file")
    why = sanitize_line(translate_message(file.conflict))
    return EffectLine(tr("{file}: your version is kept, because {why}", file=text, why=why), "conflict")
