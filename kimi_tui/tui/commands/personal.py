"""The commands that concern the user alone: pictures, their editor and shell, what it cost, what is wrong."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line
from kimi_tui.language.errors import told
from kimi_tui.language.saying import say
from kimi_tui.language.width import cells, padded
from kimi_tui.tui.commands.registry import Host, SlashCommand
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.transcript.blocks.block import tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalActs:
    """What these commands do to the screen."""

    open_session: Callable[[SessionWish], None]
    choose_session: Callable[[], Awaitable[SessionWish | None]]
    choose_agent: Callable[[str], Awaitable[SessionWish | None]]
    """Shows the agents, the one of that name first if there is one."""
    attach: Callable[[str], Awaitable[None]]
    """Attaches the picture in a file."""
    edit_prompt: Callable[[], Awaitable[None]]
    read: Callable[[str, str], None]
    """Opens a title and a text in the pager."""
    suspend: Callable[[], None]
    """Gives the terminal back to the shell until `fg`. Raises KimiTuiError."""
    print_all: Callable[[], None]
    """Puts the conversation into the terminal's scrollback."""
    facts: Callable[[], Sequence[tuple[str, str]]]
    """What else is known of the program, in pairs."""
    log: Callable[[], Sequence[str]]
    """The last lines of the log."""


def personal_commands(acts: PersonalActs) -> tuple[SlashCommand, ...]:
    """The commands, bound to what they do."""

    async def print_all(_: Host, __: str) -> None:
        acts.print_all()

    async def suspend(host: Host, _: str) -> None:
        try:
            acts.suspend()
        except KimiTuiError as error:
            host.say(told(error), severity="error")

    async def image(host: Host, path: str) -> None:
        if path:
            await acts.attach(path)
        else:
            host.say(say("Say /image PATH, or paste a picture."), severity="error")

    async def editor(_: Host, __: str) -> None:
        await acts.edit_prompt()

    async def cost(host: Host, _: str) -> None:
        acts.read(say("Usage"), _usage(host.state))

    async def debug(host: Host, _: str) -> None:
        acts.read(say("Debug"), _debug(host.state, acts.facts(), acts.log()))

    return (
        SlashCommand(
            name="print",
            summary="Put the conversation into the terminal's scrollback",
            run=print_all,
            binding_id="transcript.print",
        ),
        SlashCommand(
            name="suspend",
            summary="Back to the shell for a while; fg goes on",
            run=suspend,
            binding_id="app.suspend",
        ),
        SlashCommand(name="image", summary="Attach a picture to the prompt", run=image, argument="PATH"),
        SlashCommand(
            name="editor",
            summary="Write the prompt in your own editor",
            run=editor,
            binding_id="prompt.editor",
        ),
        SlashCommand(name="cost", summary="Tokens and money spent", run=cost, aliases=("usage",)),
        SlashCommand(name="debug", summary="What to tell when something is wrong", run=debug),
    )


def _usage(state: ScreenState) -> str:
    usage = state.usage
    read = usage.input_cache_read
    lines = [
        (say("input, not cached"), f"{usage.input_other:,}"),
        (say("input from the cache"), f"{read:,}"),
        (say("input into the cache"), f"{usage.input_cache_creation:,}"),
        (say("output"), f"{usage.output:,}"),
        (
            say("cost"),
            say("not known: the model has no price") if state.cost_usd is None else f"${state.cost_usd:.4f}",
        ),
        (
            say("context"),
            say(
                "{used} of {most} ({share:.0%})",
                used=tokens(state.context_tokens),
                most=tokens(state.max_context_tokens),
                share=state.context_share,
            ),
        ),
    ]
    return _table(lines)


def _debug(state: ScreenState, facts: Sequence[tuple[str, str]], log: Sequence[str]) -> str:
    session = state.session
    lines = list(facts)
    if session is not None:
        lines += [
            ("session", session.session_id),
            ("title", session.title),
            ("work dir", session.work_dir),
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
        ("tool calls that run", str(len(state.runs.running))),
    ]
    return "\n".join([_table(lines), "", "The last lines of the log:", *map(plain_line, log)])


def _table(lines: Sequence[tuple[str, str]]) -> str:
    width = max(cells(name) for name, _ in lines)
    return "\n".join(f"{padded(name, width)}  {value}" for name, value in lines)
