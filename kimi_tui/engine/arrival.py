"""A conversation that arrives from a file and becomes a session of its own."""

import asyncio
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.importing import Exported, exported, text_of
from kimi_tui.history.context import Context
from kimi_tui.history.loading import load
from kimi_tui.history.session import Session, SessionStore


async def arrived(file: Path, *, work_dir: Path, store: SessionStore) -> Session:
    """A new session in `work_dir` with the conversation of `file`: an export as JSON, or a journal.

    Raises KimiTuiError.
    """
    conversation = await asyncio.to_thread(_conversation_in, file)
    session = store.create(work_dir)
    session.acquire()
    try:
        context = Context(session.context_file)
        try:
            await context.checkpoint(False, kind="import", label=f"imported from {file.name}")
            await context.append_message(conversation.messages)
        except ValueError as error:
            raise _no_conversation(file, str(error)) from error
        finally:
            await context.close()
        await session.update_state(title=plain_line(conversation.title or file.stem))
    except BaseException:
        session.release()
        await asyncio.to_thread(store.delete, session)
        raise
    session.release()
    return session


def _conversation_in(file: Path) -> Exported:
    if file.suffix == ".jsonl":
        try:
            conversation = Exported("", tuple(load(file).line.history))
        except SessionError as error:
            raise _no_conversation(file, error.what) from error
    else:
        if (found := exported(text_of(file, hint="Name an export."))) is None:
            raise _no_conversation(file, "it is no export as JSON")
        conversation = found
    said = tuple(message for message in conversation.messages if message.role != "system")
    if not said:
        raise _no_conversation(file, "nothing was said in it")
    return Exported(conversation.title, said)


def _no_conversation(file: Path, why: str) -> KimiTuiError:
    return KimiTuiError(
        f"There is no conversation in {file}: {why.rstrip('.')}.",
        hint="Name what `kimi-tui sessions export ID -o FILE.json` wrote, or a context.jsonl.",
    )
