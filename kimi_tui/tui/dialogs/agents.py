"""Agents dialog: lists agents with their descriptions and starts a session with one."""

from typing import Unpack

from rich.cells import cell_len

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.agents import origin_text, purpose_text
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.dialogs.list_dialog import ListDialog
from kimi_tui.tui.dialogs.state_dialog import StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import AGENTS_KEYS
from kimi_tui.tui.markdown.styled_line import BLANK, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.tui.widgets.key_hints import KeyHint
from kimi_tui.wire.agent_list import AgentList, AgentListItem
from kimi_tui.wire.commands import RunSlash


class AgentsDialog(ListDialog[str]):
    """Lists the agents that the engine reports. Returns the name of the chosen one."""

    BINDINGS = bindings(AGENTS_KEYS)
    NAME = "agents"
    HEADING = tr_lazy("Agents")

    def __init__(self, *, initial_agent: str = "", **source: Unpack[StateSource]) -> None:
        """`initial_agent` is highlighted first if it exists; otherwise the session's agent is."""
        super().__init__(**source)
        self._initial_agent = initial_agent
        self._shown_agents: AgentList | None = None

    def on_mount(self) -> None:
        """Request the agents; until they arrive, show the previous list."""
        self._update_from_state()
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self.watch(self.choices, "highlighted", self.details.redraw, init=False)
        self._host.command(RunSlash("agents"))

    @property
    def highlighted_agent(self) -> AgentListItem | None:
        """The highlighted agent."""
        agents = self._shown_agents.agents if self._shown_agents is not None else ()
        return agents[self.choices.highlighted] if self.choices.highlighted < len(agents) else None

    def _update_from_state(self) -> None:
        agents = self._host.state.replies.agents
        if agents is None or agents == self._shown_agents:
            return
        highlighted = (
            self.highlighted_agent.name if self.highlighted_agent is not None else self._initial_agent
        )
        self._shown_agents = agents
        self.choices.show([_choice(agent, agents.current) for agent in agents.agents])
        names = [agent.name for agent in agents.agents]
        self.choices.highlighted = next(
            (names.index(name) for name in (highlighted, agents.current) if name in names), 0
        )
        self.details.redraw()

    def _hints(self) -> list[KeyHint]:
        first = self._key_labels.first_key
        return [
            KeyHint(first("agents.begin"), tr("start a session"), "begin"),
            KeyHint(first("agents.close"), tr("close"), "close"),
        ]

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the details of the highlighted agent."""
        agent = self.highlighted_agent
        if agent is None:
            return []
        role = "failed" if agent.problem else ""
        lines = [
            BLANK,
            *wrap([(purpose_text(agent), text_style(role) if role else text_style())], width),
            BLANK,
        ]
        facts = [
            (tr("source"), origin_text(agent.origin)),
            (tr("model"), sanitize_line(agent.model)),
            (tr("tools"), ", ".join(map(sanitize_line, agent.tools))),
            *((sanitize_line(it.name), sanitize_line(it.description)) for it in agent.subagents),
        ]
        column = max(cell_len(label) for label, _ in facts) + 2
        for index, (label, text) in enumerate(facts):
            if index == len(facts) - len(agent.subagents):
                lines += [BLANK, *wrap([(tr("Sub-agents:"), text_style("dim"))], width)]
            if text:
                margin = ((pad_right(label, column), text_style("dim")),)
                lines += wrap(
                    [(text, text_style())], width, first=margin, rest=((" " * column, text_style()),)
                )
        return lines

    def _activate_highlighted(self) -> None:
        self.action_begin()

    def action_begin(self) -> None:
        """Close the dialog to start a session with the highlighted agent, unless the agent is broken."""
        if self.highlighted_agent is not None and not self.highlighted_agent.problem:
            self.dismiss(self.highlighted_agent.name)


def _choice(agent: AgentListItem, current: str) -> Choice:
    note = tr("in use") if agent.name == current else ""
    return Choice(
        value=agent.name,
        label=f"{'✗ ' if agent.problem else ''}{agent.name}",
        detail=purpose_text(agent),
        note=note,
        is_current=agent.name == current,
    )
