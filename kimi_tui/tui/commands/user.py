"""User commands: images, editor, shell, usage and diagnostics."""

from collections.abc import Sequence

from rich.cells import cell_len

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.ui_command import UiCommand


async def _print_all(host: CommandHost, _: str) -> None:
    host.print_all()


async def _find(host: CommandHost, text: str) -> None:
    host.dialogs.search_conversation(text)


async def _suspend(host: CommandHost, _: str) -> None:
    host.suspend()


async def _image(host: CommandHost, path: str) -> None:
    if path:
        await host.attach_image(path)
    else:
        host.notify(tr("Use /image PATH, or paste an image."), severity="error")


async def _editor(host: CommandHost, _: str) -> None:
    await host.edit_prompt()


async def _context(host: CommandHost, _: str) -> None:
    host.show_info("context")


async def _cost(host: CommandHost, _: str) -> None:
    host.show_info("cost")


async def _checkpoints(host: CommandHost, _: str) -> None:
    host.show_info("checkpoints")


async def _debug(host: CommandHost, _: str) -> None:
    host.dialogs.show_text(tr("Debug"), _debug_text(host.state, host.facts, host.log_tail))


def _debug_text(state: SessionViewState, facts: Sequence[tuple[str, str]], log: Sequence[str]) -> str:
    session = state.session
    lines = list(facts)
    if session is not None:
        lines += [
            ("session", session.session_id),
            ("title", session.title),
            ("working directory", session.work_dir),
            ("model", f"{session.model} ({session.model_kind})"),
            ("capabilities", ", ".join(session.capabilities) or "none"),
            ("agent", session.agent),
            ("tools", ", ".join(session.tools)),
            ("recording", session.recording),
        ]
    turn = state.turn
    lines += [
        ("context", f"{state.context_tokens:,} of {state.max_context_tokens:,} tokens"),
        ("turn", "none" if turn is None else f"step {turn.step}: {turn.activity}"),
        ("queued", str(len(state.queue))),
        ("open requests", str(len(state.requests))),
        ("running tool calls", str(len(state.tool_runs.running_ids))),
    ]
    return "\n".join([_format_table(lines), "", "Last log lines:", *map(sanitize_line, log)])


def _format_table(lines: Sequence[tuple[str, str]]) -> str:
    width = max(cell_len(name) for name, _ in lines)
    return "\n".join(f"{pad_right(name, width)}  {value}" for name, value in lines)


USER_COMMANDS = (
    UiCommand(
        name="print",
        summary="Print the conversation to the terminal's scrollback",
        run=_print_all,
        binding_id="transcript.print",
    ),
    UiCommand(
        name="find",
        summary="Search the conversation",
        run=_find,
        argument="[TEXT]",
        binding_id="transcript.find",
    ),
    UiCommand(
        name="suspend",
        summary="Suspend kimi-tui; resume it with fg",
        run=_suspend,
        binding_id="app.suspend",
    ),
    UiCommand(name="image", summary="Attach an image to the prompt", run=_image, argument="PATH"),
    UiCommand(
        name="editor",
        summary="Edit the prompt in your editor",
        run=_editor,
        binding_id="prompt.editor",
    ),
    UiCommand(name="context", summary="Show what uses the context window", run=_context),
    UiCommand(
        name="cost", summary="Show token usage and cost by model", run=_cost, aliases=("usage", "status")
    ),
    UiCommand(name="checkpoints", summary="List checkpoints", run=_checkpoints),
    UiCommand(name="debug", summary="Show diagnostic information", run=_debug),
)
