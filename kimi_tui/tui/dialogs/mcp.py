"""MCP dialog: lists the MCP servers with their status and contents, and reconnects them."""

from typing import assert_never

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, tr_lazy, tr_n, translate_message
from kimi_tui.tui.dialogs.list_dialog import ListDialog
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import MCP_KEYS
from kimi_tui.tui.markdown.styled_line import BLANK, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.tui.widgets.key_hints import KeyHint
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.mcp_status import McpServerState, McpServerStatus, McpStatus

_NO_SERVERS = tr_lazy(
    "No MCP servers configured.\n\nAdd one with: kimi-tui mcp add NAME -- COMMAND\n"
    "or: kimi-tui mcp add NAME https://…\nThen restart kimi-tui.\n\n"
    "To import those of Claude and VS Code, type /mcp import."
)
_LABEL_CELLS = 13


class McpDialog(ListDialog[None]):
    """Shows the MCP status of the session and updates as it changes."""

    BINDINGS = bindings(MCP_KEYS)
    NAME = "mcp"
    HEADING = tr_lazy("MCP servers")

    _shown_status: McpStatus | None = None

    def on_mount(self) -> None:
        """Show the status and watch it for changes."""
        self._update_from_state()
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self.watch(self.choices, "highlighted", self.details.redraw, init=False)

    @property
    def highlighted_server(self) -> McpServerStatus | None:
        """The highlighted server."""
        status = self._host.state.mcp
        index = self.choices.highlighted
        return status.servers[index] if status is not None and index < len(status.servers) else None

    def _update_from_state(self) -> None:
        status = self._host.state.mcp
        if status is None or status is self._shown_status:
            self.details.redraw()
            return
        self._shown_status = status
        index = self.choices.highlighted
        self.choices.show([_choice(server) for server in status.servers])
        self.choices.highlighted = min(index, max(len(status.servers) - 1, 0))
        tools = " · " + tr_n("{count} tool", "{count} tools", status.tools) if status.tools else ""
        self.title_line.update(
            tr(
                "MCP servers   {connected} of {total} connected{tools}",
                connected=status.connected,
                total=status.total,
                tools=tools,
            )
        )
        self.details.redraw()

    def _hints(self) -> list[KeyHint]:
        first = self._key_labels.first_key
        return [
            KeyHint(first("mcp.reconnect"), tr("reconnect"), "reconnect"),
            KeyHint(first("mcp.sign_in"), tr("sign in"), "sign_in"),
            KeyHint(first("mcp.close"), tr("close"), "close"),
        ]

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the details of the highlighted server."""
        server = self.highlighted_server
        if server is None:
            return [
                line for text in tr(_NO_SERVERS).split("\n") for line in wrap([(text, text_style())], width)
            ]
        lines = [BLANK]
        if server.error:
            lines += [
                *wrap([(sanitize_line(translate_message(server.error)), text_style("failed"))], width),
                BLANK,
            ]
        for label, text in _facts(server):
            margin = ((pad_right(label, _LABEL_CELLS), text_style("dim")),)
            blank = ((" " * _LABEL_CELLS, text_style()),)
            lines += wrap([(sanitize_line(text), text_style())], width, first=margin, rest=blank)
        return lines

    def action_reconnect(self) -> None:
        """Reconnect the highlighted server."""
        if (server := self.highlighted_server) is not None:
            self._host.command(RunSlash(f"mcp reconnect {server.name}"))

    def action_sign_in(self) -> None:
        """Sign in to the highlighted server."""
        if (server := self.highlighted_server) is not None:
            self._host.command(RunSlash(f"mcp auth {server.name}"))


def _choice(server: McpServerStatus) -> Choice:
    sign, label = _status_label(server.status)
    tools = tr_n("{count} tool", "{count} tools", len(server.tools)) if server.tools else ""
    return Choice(
        value=server.name, label=f"{sign} {server.name}", detail=label, note=f"{tools}  {server.transport}"
    )


def _status_label(status: McpServerState) -> tuple[str, str]:
    match status:
        case "connected":
            return "●", tr("connected")
        case "pending" | "connecting":
            return "◌", tr("connecting …")
        case "unauthorized":
            return "✗", tr("sign-in required")
        case "failed":
            return "✗", tr("not connected")
        case _:
            assert_never(status)


def _facts(server: McpServerStatus) -> list[tuple[str, str]]:
    facts = [
        (tr("server"), server.title),
        (tr("URL") if server.transport in ("http", "sse") else tr("command"), server.target),
        (tr("tools"), ", ".join(server.tools)),
        (tr("prompts"), ", ".join(f"/{prompt}" for prompt in server.prompts)),
        (tr("resources"), ", ".join(resource.uri for resource in server.resources)),
    ]
    return [(label, text) for label, text in facts if text]
