"""The slash command /init: a turn that writes the project's AGENTS.md, or makes it better."""

from pathlib import Path

from kimi_tui.agentspec.instructions import FILE_NAME
from kimi_tui.base.assets import read_asset
from kimi_tui.base.content import UserInput
from kimi_tui.engine.slash_book import PromptCommand


def init_command(work_dir: Path) -> PromptCommand:
    """Has the model learn how the project is worked on, and write it down for agents."""

    async def prompt(wish: str) -> UserInput:
        there = (work_dir / FILE_NAME).is_file()
        state = (
            f"There is an {FILE_NAME} already: keep what is right and what was meant so, mend the rest."
            if there
            else f"There is no {FILE_NAME} yet."
        )
        parts = [read_asset("prompts", "init.md").strip(), state]
        if wish:
            parts.append(f"What matters to me: {wish}")
        return "\n\n".join(parts)

    return PromptCommand(
        "init",
        "Learn how this project is worked on and write it into AGENTS.md",
        prompt,
        argument="[what matters]",
    )
