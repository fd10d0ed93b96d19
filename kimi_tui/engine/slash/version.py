"""The slash commands /version and /changelog."""

import asyncio
import re

from kimi_tui.base.assets import read_asset
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.version import __version__

_RELEASE = re.compile(r"^## .+$", re.MULTILINE)


def version_command(publisher: SessionPublisher) -> SlashCommand:
    """Return the command that shows the version."""

    async def run(_: str) -> None:
        publisher.send_notice(f"kimi-tui {__version__}", "", severity="info")

    return SlashCommand("version", "Show the version", run)


def changelog_command(publisher: SessionPublisher) -> SlashCommand:
    """Return the command that shows the changes of the newest release."""

    async def run(_: str) -> None:
        text = await asyncio.to_thread(read_asset, "CHANGELOG.md")
        publisher.send_notice("Changelog", newest_release(text), severity="info")

    return SlashCommand("changelog", "Show what is new in this version", run)


def newest_release(changelog: str) -> str:
    """Return the first section of a changelog in the format of Keep a Changelog, without its heading."""
    starts = [match.end() for match in _RELEASE.finditer(changelog)]
    ends = [match.start() for match in _RELEASE.finditer(changelog)]
    return changelog[starts[0] : (*ends, len(changelog))[1]].strip() if starts else changelog.strip()
