"""Values in a session's system prompt that differ from run to run."""

from kimi_tui.agentspec.directory_listing import directory_listing
from kimi_tui.config.session_start import local_time, session_start
from kimi_tui.history.session import Session
from kimi_tui.history.session_state import PromptFacts


def find_prompt_facts(session: Session) -> PromptFacts:
    """Return the values from the session's start. For a new session, determine them. Blocks.

    A resumed session keeps the values. Its requests then begin with the same bytes, so the model's server can
    use its cache.
    """
    return session.state.prompt_facts or PromptFacts(
        now=session_start(), work_dir_ls=directory_listing(session.work_dir)
    )


def resume_note(facts: PromptFacts) -> str:
    """Return a note for the model of a session that began on an earlier day; otherwise an empty string."""
    now = local_time()
    return "" if now[:10] == facts.now[:10] else f"The user resumed the session. It is now {now}."
