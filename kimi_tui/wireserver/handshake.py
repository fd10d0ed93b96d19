"""The server's part of the handshake."""

from collections.abc import Iterable
from typing import Any, cast, get_args

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.wire.codec import PROTOCOL_VERSION
from kimi_tui.wire.commands import HookSubscription
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo
from kimi_tui.wireserver.params import HookParams

_CAPABILITIES = {
    "supports_question": True,
    "supports_plan_mode": True,
    "supports_timeline": True,
    "supports_effects": True,
}


def build_handshake(info: SessionInfo | None, *, version: str, for_kimi_cli: bool = False) -> dict[str, Any]:
    """Return the result of `initialize` without the client's tools. `info` is None if no session is open.

    With `for_kimi_cli`, the result names only capabilities that Kimi CLI has. The protocol version is always
    the server's own: Wire 1.x only adds to earlier versions, and clients ignore unknown fields.
    """
    return {
        "protocol_version": PROTOCOL_VERSION,
        "server": {"name": "kimi-tui", "version": version},
        "slash_commands": [_command_info(command) for command in info.slash_commands] if info else [],
        "capabilities": {"supports_question": True} if for_kimi_cli else _CAPABILITIES,
        "hooks": {
            "supported_events": list(get_args(HookEventName)),
            "configured": dict(info.hooks) if info else {},
        },
    }


def hook_subscriptions(requested: Iterable[HookParams]) -> tuple[HookSubscription, ...]:
    """Return the client's hooks, except hooks for unknown events."""
    return tuple(
        HookSubscription(hook.id, cast("HookEventName", hook.event), hook.matcher, hook.timeout)
        for hook in requested
        if hook.event in get_args(HookEventName)
    )


def _command_info(command: SlashCommandInfo) -> dict[str, Any]:
    return {
        "name": command.name,
        "description": command.description,
        "aliases": list(command.aliases),
    }
