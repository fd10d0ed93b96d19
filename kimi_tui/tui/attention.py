"""Calling the user back when a turn has ended, or something waits, while they look elsewhere."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, assert_never

from kimi_tui.base.terminal import plain_line
from kimi_tui.config.appearance import Notify
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.state import OpenRequest, ScreenState
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Notification, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest

Way = Literal["off", "bell", "osc9", "osc777", "osc99"]

_LONGEST = 100
"""Characters of a word to the user."""
_AWAY_S = 60.0
"""Without a key for so long, the user may look elsewhere, where the terminal doesn't say."""
_BY_PROGRAM: Mapping[str, Way] = {"iTerm.app": "osc9", "WezTerm": "osc9", "ghostty": "osc777"}
_BY_TERM: tuple[tuple[str, Way], ...] = (
    ("xterm-kitty", "osc99"),
    ("xterm-ghostty", "osc777"),
    ("foot", "osc777"),
    ("rxvt", "osc777"),
)


def way_for(wish: Notify, environment: Mapping[str, str] = os.environ) -> Way:
    """How this terminal is told, by what it says of itself in the environment.

    Within tmux and screen `auto` rings the bell, which they mark the window with and pass on; the rest they
    drop unless they are told to let it through.
    """
    if wish != "auto":
        return wish
    term = environment.get("TERM", "")
    if "TMUX" in environment or term.startswith(("screen", "tmux")):
        return "bell"
    by_term: Way = next((way for name, way in _BY_TERM if term.startswith(name)), "bell")
    return _BY_PROGRAM.get(environment.get("TERM_PROGRAM", ""), by_term)


def call(way: Way, title: str, body: str, *, in_tmux: bool) -> str:
    """What to write to the terminal. Both texts are made harmless and short.

    OSC 9 is iTerm2's, OSC 777 urxvt's, OSC 99 kitty's (which shows it only while its window lacks the focus).
    """
    title, body = _short(title), _short(body)
    match way:
        case "off":
            return ""
        case "bell":
            return "\a"
        case "osc9":
            sent = f"\x1b]9;{title}: {body}\x1b\\"
        case "osc777":
            sent = f"\x1b]777;notify;{title.replace(';', ',')};{body}\x1b\\"
        case "osc99":
            sent = f"\x1b]99;i=kimi-tui:d=0:o=unfocused;{title}\x1b\\\x1b]99;i=kimi-tui:p=body;{body}\x1b\\"
        case _:
            assert_never(way)
    return through_tmux(sent) if in_tmux else sent


def through_tmux(sequence: str) -> str:
    """`sequence` for the terminal around tmux, which passes it on when `allow-passthrough` is on."""
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"


class Attention:
    """Knows whether somebody looks, and what they were told already."""

    def __init__(
        self,
        *,
        way: Way,
        send: Callable[[str], object],
        clock: Callable[[], float],
        in_tmux: bool,
        asks_for_focus: bool = True,
    ) -> None:
        """Where nobody `asks_for_focus`, the terminal never tells: only the keys say who is here."""
        self._asks_for_focus = asks_for_focus
        self._way = way
        self._send = send
        self._clock = clock
        self._in_tmux = in_tmux
        self._is_watched: bool | None = None
        """None as long as the terminal has said nothing."""
        self._typed_at = clock()
        self._told: set[str] = set()

    def focused(self, is_watched: bool) -> None:
        """The terminal says whether it has the focus."""
        self._is_watched = is_watched

    def typed(self) -> None:
        """The user is here."""
        self._typed_at = self._clock()
        if self._is_watched is False:
            self._is_watched = True

    def follow(self, state: ScreenState, batch: Sequence[Outgoing]) -> None:
        """Call for what has come, if it needs the user and they look elsewhere. `state` is that after it."""
        asked = [request for request in state.requests if request.id not in self._told]
        self._told = {request.id for request in state.requests}
        if state.replaying or not self._is_away:
            return
        if asked:
            self._call(state, _question(asked))
        elif state.requests or state.busy or state.queue:
            return
        elif ended := [message for message in batch if isinstance(message, TurnEnd)]:
            if words := _ending(ended[-1]):
                self._call(state, words)
        elif news := [it for it in batch if isinstance(it, Notification) and _is_news(it)]:
            self._call(state, retell(news[-1].title))

    @property
    def _is_away(self) -> bool:
        if self._is_watched is None:
            # Many terminals, and tmux as it comes, never say. A bell then does no harm.
            may_guess = self._way == "bell" or not self._asks_for_focus
            return may_guess and self._clock() - self._typed_at >= _AWAY_S
        return not self._is_watched

    def _call(self, state: ScreenState, body: str) -> None:
        session = state.session
        title = plain_line(session.title) if session is not None else ""
        self._send(
            call(self._way, f"kimi-tui, {title}" if title else "kimi-tui", body, in_tmux=self._in_tmux)
        )


def _question(asked: Sequence[OpenRequest]) -> str:
    match asked[0]:
        case ApprovalRequest(sender=tool, action=action, description=description):
            words = say("May {tool} {act}?", tool=tool, act=retell(action)) + f" {description}"
        case QuestionRequest(questions=questions):
            words = questions[0].question if questions else say("A question waits.")
        case _:
            assert_never(asked[0])
    if len(asked) == 1:
        return words
    return _short(words, _LONGEST - 20) + say(" and {count} more", count=len(asked) - 1)


def _ending(end: TurnEnd) -> str:
    match end.outcome:
        case "finished":
            return say("The turn is done.")
        case "cancelled":
            return ""
        case "rejected" | "max_steps" | "limit" | "failed":
            why = retell(end.failure.what) if end.failure is not None else ""
            return f"{say('The turn has stopped.')} {why}"


def _is_news(notification: Notification) -> bool:
    return notification.severity == "error" or notification.category == "task"


def _short(text: str, longest: int = _LONGEST) -> str:
    text = plain_line(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
