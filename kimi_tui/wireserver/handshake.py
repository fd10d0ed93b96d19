"""What the server says of itself in the handshake."""

from typing import Any

from kimi_tui.wire.codec import PROTOCOL_VERSION
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo


def introduction(info: SessionInfo | None, *, version: str) -> dict[str, Any]:
    """The result of `initialize`, but for the client's tools; `info` is None where no session is open.

    The version is ours whatever the client's is: Wire 1.x only grows, and clients ignore what is new to them.
    """
    return {
        "protocol_version": PROTOCOL_VERSION,
        "server": {"name": "kimi-tui", "version": version},
        "slash_commands": [_told_of(command) for command in info.slash_commands] if info else [],
        "capabilities": {
            "supports_question": True,
            "supports_plan_mode": False,
            "supports_timeline": True,
        },
        "hooks": {"supported_events": [], "configured": {}},
    }


def _told_of(command: SlashCommandInfo) -> dict[str, Any]:
    return {
        "name": command.name,
        "description": command.description,
        "aliases": list(command.aliases),
    }
