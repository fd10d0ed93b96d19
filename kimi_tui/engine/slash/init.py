"""The slash command /init."""

from pathlib import Path

from kimi_tui.agentspec.project_instructions import FILE_NAME
from kimi_tui.base.assets import read_asset
from kimi_tui.base.content_parts import UserInput
from kimi_tui.engine.slash.registry import PromptCommand


def init_command(work_dir: Path) -> PromptCommand:
    """Return the command that has the model analyze the project and write or update AGENTS.md."""

    async def prompt(instructions: str) -> UserInput:
        state = (
            f"{FILE_NAME} already exists: keep what is correct or intended, and fix the rest."
            if (work_dir / FILE_NAME).is_file()
            else f"{FILE_NAME} doesn't exist yet."
        )
        parts = [read_asset("prompts", "init.md").strip(), state]
        if instructions:
            parts.append(f"Focus on: {instructions}")
        return "\n\n".join(parts)

    return PromptCommand(
        "init",
        "Analyze this project and write AGENTS.md",
        prompt,
        argument="[focus]",
    )
