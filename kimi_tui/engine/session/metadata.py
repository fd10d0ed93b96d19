"""Metadata that a resumed session needs: title, directories, agent, modes and values of the system prompt."""

from typing import Any

from kimi_tui.base.content_parts import UserInput
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.history.session import Session
from kimi_tui.history.session_state import PromptFacts
from kimi_tui.tools.path_scope import PathScope


class SessionMetadata:
    """Saves the metadata with the first prompt, so that a session without prompts leaves no files."""

    def __init__(
        self,
        *,
        session: Session,
        title: SessionTitle,
        modes: Modes,
        publisher: SessionPublisher,
        agent: str,
        scope: PathScope,
        prompt_facts: PromptFacts,
    ) -> None:
        """`agent` is empty for the default agent."""
        self._session = session
        self._title = title
        self._modes = modes
        self._publisher = publisher
        self._agent = agent
        self._scope = scope
        self._prompt_facts = prompt_facts

    async def save_changes(self, user_input: UserInput) -> None:
        """Save the metadata that changed, for a session that gets `user_input`. Raises SessionError."""
        title = self._title.suggest(user_input)
        changes: dict[str, Any] = (
            {"title": title, "title_source": "prompt"} if title else {}
        ) | self._modes.unsaved
        state = self._session.state
        if state.agent != self._agent:
            changes["agent"] = self._agent
        if state.prompt_facts is None:
            changes["prompt_facts"] = self._prompt_facts
        if state.additional_dirs != (folders := tuple(map(str, self._scope.additional_dirs))):
            changes["additional_dirs"] = folders
        if changes:
            await self._session.update_state(**changes)
            self._publisher.send_info()
