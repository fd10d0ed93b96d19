"""User commands: images, editor, shell, usage and diagnostics."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.registry import UiCommand
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.transcript.blocks.block import format_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class UserActions:
    """Actions of the user commands on the screen."""

    open_session: Callable[[SessionRequest], None]
    choose_session: Callable[[CommandHost], Awaitable[SessionRequest | None]]
    choose_agent: Callable[[CommandHost, str], Awaitable[SessionRequest | None]]
    """Shows the agents, with the named one highlighted if it exists."""
    attach: Callable[[str], Awaitable[None]]
    """Attaches the image in a file."""
    edit_prompt: Callable[[], Awaitable[None]]
    open_pager: Callable[[str, str], None]
    """Shows a title and a text in the pager."""
    suspend: Callable[[], None]
    """Suspends the app until `fg`. Raises KimiTuiError."""
    print_all: Callable[[], None]
    """Prints the conversation to the terminal's scrollback."""
    facts: Callable[[], Sequence[tuple[str, str]]]
    """Returns names and values for the diagnostic information."""
    log: Callable[[], Sequence[str]]
    """Returns the last lines of the log."""


def user_commands(actions: UserActions) -> tuple[UiCommand, ...]:
    """Return the commands, which run `actions`."""

    async def print_all(_: CommandHost, __: str) -> None:
        actions.print_all()

    async def suspend(host: CommandHost, _: str) -> None:
        try:
            actions.suspend()
        except KimiTuiError as error:
            host.notify(translate_error(error), severity="error")

    async def image(host: CommandHost, path: str) -> None:
        if path:
            await actions.attach(path)
        else:
            host.notify(tr("Use /image PATH, or paste an image."), severity="error")

    async def editor(_: CommandHost, __: str) -> None:
        await actions.edit_prompt()

    async def cost(host: CommandHost, _: str) -> None:
        actions.open_pager(tr("Usage"), _usage_text(host.state))

    async def debug(host: CommandHost, _: str) -> None:
        actions.open_pager(tr("Debug"), _debug_text(host.state, actions.facts(), actions.log()))

    return (
        UiCommand(
            name="print",
            summary="Print the conversation to the terminal's scrollback",
            run=print_all,
            binding_id="transcript.print",
        ),
        UiCommand(
            name="suspend",
            summary="Suspend kimi-tui; resume it with fg",
            run=suspend,
            binding_id="app.suspend",
        ),
        UiCommand(name="image", summary="Attach an image to the prompt", run=image, argument="PATH"),
        UiCommand(
            name="editor",
            summary="Edit the prompt in your editor",
            run=editor,
            binding_id="prompt.editor",
        ),
        UiCommand(name="cost", summary="Show token usage and cost", run=cost, aliases=("usage",)),
        UiCommand(name="debug", summary="Show diagnostic information", run=debug),
    )


def _usage_text(state: SessionViewState) -> str:
    usage = state.usage
    read = usage.input_cache_read
    lines = [
        (tr("input, uncached"), f"{usage.input_other:,}"),
        (tr("input, cache reads"), f"{read:,}"),
        (tr("input, cache writes"), f"{usage.input_cache_creation:,}"),
        (tr("output"), f"{usage.output:,}"),
        (
            tr("cost"),
            tr("unknown: the model has no price") if state.cost_usd is None else f"${state.cost_usd:.4f}",
        ),
        (
            tr("context"),
            tr(
                "{used} of {most} ({share:.0%})",
                used=format_tokens(state.context_tokens),
                most=format_tokens(state.max_context_tokens),
                share=state.context_share,
            ),
        ),
    ]
    return _format_table(lines)


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
