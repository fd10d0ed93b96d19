"""The MCP servers: how each one is, what it offers, and connecting it anew."""

from typing import assert_never

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say, say_many
from kimi_tui.language.width import padded
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.dialogs.listed import ListedDialog
from kimi_tui.tui.hints import Hint
from kimi_tui.tui.key_tables import MCP_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.markdown.line import BLANK, Line, ink
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.mcp import McpServerState, McpServerStatus, McpStatus

_NONE = later(
    "This session has no MCP servers.\n\nAdd one with: kimi-tui mcp add NAME -- COMMAND\n"
    "or: kimi-tui mcp add NAME https://…\nand start kimi-tui again."
)
_LABEL_CELLS = 13


class McpDialog(ListedDialog[None]):
    """Follows the state of the screen that opened it."""

    BINDINGS = bindings(MCP_KEYS)
    NAME = "mcp"
    HEADING = later("MCP servers")

    _shown: McpStatus | None = None

    def on_mount(self) -> None:
        """Show how things are, and go on doing so."""
        self._follow()
        self.watch(self._owner, "state", self._follow, init=False)
        self.watch(self.choices, "marked", self.details.redraw, init=False)

    @property
    def server(self) -> McpServerStatus | None:
        """The marked one."""
        status = self._state().mcp
        marked = self.choices.marked
        return status.servers[marked] if status is not None and marked < len(status.servers) else None

    def _follow(self) -> None:
        status = self._state().mcp
        if status is None or status is self._shown:
            self.details.redraw()
            return
        self._shown = status
        marked = self.choices.marked
        self.choices.show([_choice(server) for server in status.servers])
        self.choices.marked = min(marked, max(len(status.servers) - 1, 0))
        tools = " · " + say_many("{count} tool", "{count} tools", status.tools) if status.tools else ""
        self.title_line.update(
            say(
                "MCP servers   {connected} of {total} connected{tools}",
                connected=status.connected,
                total=status.total,
                tools=tools,
            )
        )
        self.details.redraw()

    def _hints(self) -> list[Hint]:
        first = self._names.first
        return [
            Hint(first("mcp.reconnect"), say("connect anew"), "reconnect"),
            Hint(first("mcp.sign_in"), say("sign in"), "sign_in"),
            Hint(first("mcp.close"), say("close"), "close"),
        ]

    def _drawn(self, width: int) -> list[Line]:
        server = self.server
        if server is None:
            return [line for text in say(_NONE).split("\n") for line in wrap([(text, ink())], width)]
        lines = [BLANK]
        if server.error:
            lines += [*wrap([(plain_line(retell(server.error)), ink("failed"))], width), BLANK]
        for label, text in _facts(server):
            margin = ((padded(label, _LABEL_CELLS), ink("dim")),)
            blank = ((" " * _LABEL_CELLS, ink()),)
            lines += wrap([(plain_line(text), ink())], width, first=margin, rest=blank)
        return lines

    def action_reconnect(self) -> None:
        """Connect the marked server anew."""
        if (server := self.server) is not None:
            self._command(RunSlash(f"mcp reconnect {server.name}"))

    def action_sign_in(self) -> None:
        """Sign in to the marked server."""
        if (server := self.server) is not None:
            self._command(RunSlash(f"mcp auth {server.name}"))


def _choice(server: McpServerStatus) -> Choice:
    sign, words = _state_in_words(server.status)
    tools = say_many("{count} tool", "{count} tools", len(server.tools)) if server.tools else ""
    return Choice(
        value=server.name, label=f"{sign} {server.name}", detail=words, note=f"{tools}  {server.transport}"
    )


def _state_in_words(state: McpServerState) -> tuple[str, str]:
    match state:
        case "connected":
            return "●", say("connected")
        case "pending" | "connecting":
            return "◌", say("connecting …")
        case "unauthorized":
            return "✗", say("wants you to sign in")
        case "failed":
            return "✗", say("not connected")
        case _:
            assert_never(state)


def _facts(server: McpServerStatus) -> list[tuple[str, str]]:
    facts = [
        (say("server"), server.title),
        (say("at") if server.transport in ("http", "sse") else say("program"), server.target),
        (say("tools"), ", ".join(server.tools)),
        (say("prompts"), ", ".join(f"/{prompt}" for prompt in server.prompts)),
        (say("resources"), ", ".join(resource.uri for resource in server.resources)),
    ]
    return [(label, text) for label, text in facts if text]
