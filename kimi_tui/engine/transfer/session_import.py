"""Import of a conversation from a file as a new session."""

import asyncio
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.transfer.atif import parse_atif
from kimi_tui.engine.transfer.import_text import ExportedConversation, parse_export, read_text_file
from kimi_tui.history.context import Context
from kimi_tui.history.journal_reader import read_journal
from kimi_tui.history.session import Session, SessionStore


async def import_session(file: Path, *, work_dir: Path, store: SessionStore) -> Session:
    """Create a session in `work_dir` with the conversation in `file`. Raises KimiTuiError.

    `file` is a JSON export, an ATIF trajectory or a journal.
    """
    conversation = await asyncio.to_thread(_read_conversation, file)
    session = store.create(work_dir)
    session.acquire()
    try:
        context = Context(session.context_file)
        try:
            await context.checkpoint(False, kind="import", label=f"imported from {file.name}")
            await context.append_message(conversation.messages)
        except ValueError as error:
            raise _no_conversation_error(file, str(error)) from error
        finally:
            await context.close()
        await session.update_state(title=sanitize_line(conversation.title or file.stem))
    except BaseException:
        session.release()
        await asyncio.to_thread(store.delete, session)
        raise
    session.release()
    return session


def _read_conversation(file: Path) -> ExportedConversation:
    if file.suffix == ".jsonl":
        try:
            conversation = ExportedConversation("", tuple(read_journal(file).state.history))
        except SessionError as error:
            raise _no_conversation_error(file, error.what) from error
    else:
        text = read_text_file(file, hint="Choose a JSON export.")
        if (trajectory := parse_atif(text)) is not None:
            conversation = ExportedConversation(*trajectory)
        elif (export := parse_export(text)) is not None:
            conversation = export
        else:
            raise _no_conversation_error(file, "it isn't a JSON export")
    messages = tuple(message for message in conversation.messages if message.role != "system")
    if not messages:
        raise _no_conversation_error(file, "it has no messages")
    return ExportedConversation(conversation.title, messages)


def _no_conversation_error(file: Path, reason: str) -> KimiTuiError:
    return KimiTuiError(
        msg("{path} doesn't contain a conversation: {reason}.", path=file, reason=reason.rstrip(".")),
        hint="Choose a file written by `kimi-tui sessions export ID -o FILE.json`, or a context.jsonl.",
    )
