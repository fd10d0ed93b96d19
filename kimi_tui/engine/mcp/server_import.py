"""Import of the MCP servers that the user configured for Claude and VS Code."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import ConfigError, KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import show_invisible
from kimi_tui.config.project_mcp import read_mcp_source
from kimi_tui.engine.mcp.notices import mcp_notice
from kimi_tui.mcp.config_discovery import user_mcp_path
from kimi_tui.mcp.config_file import find_server_table, write_server
from kimi_tui.mcp.other_programs import ServerCopy, find_other_servers, plan_copies
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.requests import Question, QuestionOption, QuestionRequest, QuestionResponse

_IMPORT = "Import"
_SKIP = "Skip"
_MAX_QUESTIONS = 4
"""Maximum number of questions in one request."""


class McpServerImport:
    """Finds servers of other programs that kimi-tui doesn't have, and copies the ones that the user chooses.

    No server is started. A copied server connects when a session is opened.
    """

    def __init__(self, wire: Wire, *, data_dir: Path, work_dir: Path, home: Path) -> None:
        self._wire = wire
        self._data_dir = data_dir
        self._work_dir = work_dir
        self._home = home
        self._offered_file = data_dir / "offered-mcp-servers.json"

    async def offer(self) -> None:
        """Send a notification that names the servers not offered before."""
        new = await asyncio.to_thread(self._take_new)
        if not new:
            return
        programs = dict.fromkeys(copy.server.program for copy in new)
        self._send_notice(
            msg("MCP servers found: {programs}", programs=", ".join(programs)),
            msg(
                "kimi-tui doesn't use {names}. To choose which to import, type /mcp import.",
                names=", ".join(copy.name for copy in new),
            ),
        )

    async def run(self) -> None:
        """Ask about each server, copy the chosen ones, and report the outcome."""
        try:
            copies = await asyncio.to_thread(self._find)
            chosen = await self._choose(copies)
            await asyncio.to_thread(self._write, chosen)
        except KimiTuiError as error:
            self._wire.send(mcp_notice("Import of MCP servers failed", str(error)))
            return
        if chosen:
            self._send_notice(
                msg("Imported MCP servers: {names}", names=", ".join(copy.name for copy in chosen)),
                "To connect them, reopen the session with /reload, or restart kimi-tui.",
            )
        elif copies:
            self._send_notice("No MCP servers imported")
        else:
            self._send_notice("No MCP servers of Claude or VS Code to import")

    async def _choose(self, copies: Sequence[ServerCopy]) -> list[ServerCopy]:
        chosen: list[ServerCopy] = []
        for start in range(0, len(copies), _MAX_QUESTIONS):
            batch = copies[start : start + _MAX_QUESTIONS]
            answers = await self._ask(batch)
            chosen += [copy for copy in batch if answers.get(_question_text(copy)) == _IMPORT]
            if len(answers) < len(batch):
                break  # dismissed
        return chosen

    def _send_notice(self, title: str, body: str = "") -> None:
        self._wire.send(mcp_notice(title, body, "info"))

    def _find(self) -> tuple[ServerCopy, ...]:
        path = user_mcp_path(self._data_dir)
        own = find_server_table(read_mcp_source(path)) if path.exists() else {}
        found = find_other_servers(home=self._home, work_dir=self._work_dir)
        return plan_copies(found.servers, own)

    def _take_new(self) -> tuple[ServerCopy, ...]:
        """Return the servers not offered before, and store them as offered."""
        try:
            copies = self._find()
        except ConfigError:
            return ()  # the session reports a problem with mcp.json itself
        known = self._read_offered()
        new = tuple(copy for copy in copies if _key(copy) not in known)
        if new:
            keys = sorted(known | {_key(copy) for copy in new})
            try:
                write_private_atomic(self._offered_file, json.dumps(keys, indent=1))
            except OSError:
                return ()  # otherwise, the offer would be repeated at each start
        return new

    def _read_offered(self) -> set[str]:
        try:
            return set(json.loads(self._offered_file.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return set()

    def _write(self, copies: Sequence[ServerCopy]) -> None:
        for copy in copies:
            write_server(user_mcp_path(self._data_dir), copy.name, copy.server.entry)

    async def _ask(self, copies: Sequence[ServerCopy]) -> dict[str, str]:
        options = (QuestionOption(_IMPORT), QuestionOption(_SKIP))
        questions = tuple(Question(_question_text(copy), copy.name, options) for copy in copies)
        response = await self._wire.ask(QuestionRequest(new_id(), "", questions))
        return response.answers if isinstance(response, QuestionResponse) else {}


def _question_text(copy: ServerCopy) -> str:
    server = copy.server
    return msg(
        "Import the MCP server {name} from {program}? {target}",
        name=copy.name,
        program=server.program,
        target=show_invisible(server.target),
    )


def _key(copy: ServerCopy) -> str:
    return f"{copy.server.program}: {copy.server.name}"
