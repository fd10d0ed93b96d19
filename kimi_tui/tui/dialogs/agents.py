"""The agents: what each one is for and can do, and beginning a session with one."""

from typing import Unpack

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, say
from kimi_tui.language.width import cells, padded
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.dialogs.following import Followed
from kimi_tui.tui.dialogs.listed import ListedDialog
from kimi_tui.tui.hints import Hint
from kimi_tui.tui.key_tables import AGENTS_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.markdown.line import BLANK, Line, ink
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.wire.agents import AgentList, ListedAgent
from kimi_tui.wire.commands import RunSlash
from kimi_tui.words.agents import told_origin, told_purpose


class AgentsDialog(ListedDialog[str]):
    """Asks the engine which agents there are; gives the name of the one that is chosen."""

    BINDINGS = bindings(AGENTS_KEYS)
    NAME = "agents"
    HEADING = later("Agents")

    def __init__(self, *, wanted: str = "", **followed: Unpack[Followed]) -> None:
        """`wanted` is the agent that is marked at first, if there is one of that name; else the session's."""
        super().__init__(**followed)
        self._wanted = wanted
        self._shown: AgentList | None = None

    def on_mount(self) -> None:
        """Ask for them; those of an earlier look are shown until they come."""
        self._follow()
        self.watch(self._owner, "state", self._follow, init=False)
        self.watch(self.choices, "marked", self.details.redraw, init=False)
        self._command(RunSlash("agents"))

    @property
    def marked(self) -> ListedAgent | None:
        """The marked one."""
        agents = self._shown.agents if self._shown is not None else ()
        return agents[self.choices.marked] if self.choices.marked < len(agents) else None

    def _follow(self) -> None:
        listed = self._state().replies.agents
        if listed is None or listed == self._shown:
            return
        wanted = self.marked.name if self.marked is not None else self._wanted
        self._shown = listed
        self.choices.show([_choice(agent, listed.current) for agent in listed.agents])
        names = [agent.name for agent in listed.agents]
        self.choices.marked = next((names.index(it) for it in (wanted, listed.current) if it in names), 0)
        self.details.redraw()

    def _hints(self) -> list[Hint]:
        first = self._names.first
        return [
            Hint(first("agents.begin"), say("begin a new session with it"), "begin"),
            Hint(first("agents.close"), say("close"), "close"),
        ]

    def _drawn(self, width: int) -> list[Line]:
        agent = self.marked
        if agent is None:
            return []
        role = "failed" if agent.problem else ""
        lines = [BLANK, *wrap([(told_purpose(agent), ink(role) if role else ink())], width), BLANK]
        facts = [
            (say("from"), told_origin(agent.origin)),
            (say("model"), plain_line(agent.model)),
            (say("tools"), ", ".join(map(plain_line, agent.tools))),
            *((plain_line(it.name), plain_line(it.description)) for it in agent.subagents),
        ]
        column = max(cells(label) for label, _ in facts) + 2
        for at, (label, text) in enumerate(facts):
            if at == len(facts) - len(agent.subagents):
                lines += [BLANK, *wrap([(say("It gives work to:"), ink("dim"))], width)]
            if text:
                margin = ((padded(label, column), ink("dim")),)
                lines += wrap([(text, ink())], width, first=margin, rest=((" " * column, ink()),))
        return lines

    def _take_marked(self) -> None:
        self.action_begin()

    def action_begin(self) -> None:
        """Begin a new session with the marked agent, unless it is broken."""
        if self.marked is not None and not self.marked.problem:
            self.dismiss(self.marked.name)


def _choice(agent: ListedAgent, current: str) -> Choice:
    note = say("in use") if agent.name == current else ""
    return Choice(
        value=agent.name,
        label=f"{'✗ ' if agent.problem else ''}{agent.name}",
        detail=told_purpose(agent),
        note=note,
        is_in_use=agent.name == current,
    )
