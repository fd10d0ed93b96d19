"""Writes a session as one HTML page."""

from pathlib import Path

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import Message
from kimi_tui.engine.transfer.html.call_changes import SessionChanges, collect_changes
from kimi_tui.engine.transfer.html.page_text import CleanTexts
from kimi_tui.engine.transfer.html.session_page import PageBranch, PageContent, render_page
from kimi_tui.history.branch import Branch
from kimi_tui.history.check_log import read_step_checks
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.read_only import ReadOnlyConversation
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.project_store import ProjectStore

_MAX_BYTES_PER_STEP = 2_000
_MIN_BYTES = 2_000_000
LIMITS = (20_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120, 60, 40)
"""Maximum lengths of texts in characters. The first one that makes the page short enough applies."""


def to_html(session: Session, *, data_dir: Path) -> str:
    """Return the page: at most 2 MB for 1,000 steps, and proportionally more for longer sessions.

    Blocks. Raises SessionError.
    """
    conversation = ReadOnlyConversation(session.context_file)
    state = conversation.current_state()
    tree = conversation.tree(state)
    uids = {checkpoint.uid for checkpoint in state.checkpoints}
    branches = []
    for branch in tree.own_branches():
        own = conversation.read_branch(branch.number)
        if own is not None:
            branches.append(_own_part(branch, own, uids))
            uids |= {checkpoint.uid for checkpoint in own.checkpoints}
    content = PageContent(
        title=session.state.title,
        session_id=session.id,
        work_dir=session.work_dir.name,
        model=session.state.model or "",
        cost_usd=session.state.cost_usd,
        current=PageBranch(
            number=None, messages=tuple(state.history), checkpoints=tuple(state.indexed_checkpoints)
        ),
        branches=tuple(branches),
        changes=_changes(session, data_dir),
        checks=read_step_checks(session.dir),
    )
    return render_within(content)


def render_within(content: PageContent) -> str:
    """Return the page with its texts cut to the length limit of `to_html`."""
    parts = (content.current, *content.branches)
    n_steps = sum(message.role == "assistant" for part in parts for message in part.messages)
    most = max(_MIN_BYTES, n_steps * _MAX_BYTES_PER_STEP)
    page, clean_texts = "", CleanTexts()
    lengths = [len(part.text) for it in parts for message in it.messages for part in _texts_of(message)]
    for limit in LIMITS:
        if limit != LIMITS[-1] and sum(min(length, limit) for length in lengths) > most:
            continue  # skip rendering, because the page would be too long
        page = render_page(content, limit=limit, clean_texts=clean_texts)
        if len(page.encode("utf-8", "replace")) <= most:
            break
    return page


def _texts_of(message: Message) -> list[TextPart]:
    return [part for part in message.content if isinstance(part, TextPart)]


def _own_part(branch: Branch, state: ConversationState, shared: set[str]) -> PageBranch:
    """Return the part of a branch that isn't on the branches before it."""
    own = [(count, it) for count, it in state.indexed_checkpoints if it.uid not in shared]
    first = own[0][0] if own else len(state.history)
    return PageBranch(
        number=branch.number,
        reason=branch.reason or "",
        messages=tuple(state.history[first:]),
        checkpoints=tuple((count - first, checkpoint) for count, checkpoint in own),
    )


def _changes(session: Session, data_dir: Path) -> SessionChanges:
    store = ProjectStore(data_dir, session.work_dir, session.id)
    return collect_changes(store.manifests, store.blobs, store.manifests.newest(session.id))
