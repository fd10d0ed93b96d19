"""Runs the calls of the resident engine in the editor of this client."""

import asyncio
import signal
from pathlib import Path

from kimi_tui.resident.editor_call import EditorCall, EditorResult, EditorService
from kimi_tui.tools.file.client_editor import Editor
from kimi_tui.tools.shell.client_terminals import Terminals


class EditorServer:
    """Accesses files and runs commands in an editor."""

    def __init__(self, editor: Editor, terminals: Terminals) -> None:
        self._editor = editor
        self._terminals = terminals

    @property
    def services(self) -> frozenset[EditorService]:
        """What the editor provides. It can still refuse a file."""
        return frozenset({"files", "terminals"} if self._terminals.is_available else {"files"})

    async def run(self, call: EditorCall) -> EditorResult:
        """Run a call and return its result. A cancellation ends a command, whose output is returned."""
        match call.kind:
            case "read":
                text = await self._editor.read(Path(call.path))
                return EditorResult(id=call.id, is_done=text is not None, text=text or "")
            case "write":
                return EditorResult(id=call.id, is_done=await self._editor.write(Path(call.path), call.text))
            case "run" | "cancel":
                return await self._run_command(call)

    async def _run_command(self, call: EditorCall) -> EditorResult:
        output = _Output()
        try:
            status = await self._terminals.run(
                call.text,
                call_id=call.tool_call_id,
                work_dir=Path(call.path),
                timeout_s=call.timeout_s,
                output=output,
            )
        except asyncio.CancelledError:
            return EditorResult(id=call.id, is_done=True, text=output.text, status=-signal.SIGKILL)
        if status is None:
            return EditorResult(id=call.id)
        return EditorResult(
            id=call.id, is_done=True, text=output.text, status=status.status, timed_out=status.timed_out
        )


class _Output:
    """Collects the output of a command."""

    def __init__(self) -> None:
        self._data = bytearray()

    def receive(self, data: bytes) -> None:
        """Add output."""
        self._data += data

    @property
    def text(self) -> str:
        """The output so far."""
        return self._data.decode("utf-8", "replace")
