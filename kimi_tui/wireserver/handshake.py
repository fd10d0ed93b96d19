"""What the server says of itself in the handshake."""

from collections.abc import Iterable
from typing import Any, cast, get_args

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.wire.codec import PROTOCOL_VERSION
from kimi_tui.wire.commands import HookSubscription
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo
from kimi_tui.wireserver.params import HookWish


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
            "supports_plan_mode": True,
            "supports_timeline": True,
        },
        "hooks": {
            "supported_events": list(get_args(HookEventName)),
            "configured": dict(info.hooks) if info else {},
        },
    }


def subscriptions(wishes: Iterable[HookWish]) -> tuple[HookSubscription, ...]:
    """The client's hooks, without those of events that there are not."""
    return tuple(
        HookSubscription(wish.id, cast("HookEventName", wish.event), wish.matcher, wish.timeout)
        for wish in wishes
        if wish.event in get_args(HookEventName)
    )


def _told_of(command: SlashCommandInfo) -> dict[str, Any]:
    return {
        "name": command.name,
        "description": command.description,
        "aliases": list(command.aliases),
    }
