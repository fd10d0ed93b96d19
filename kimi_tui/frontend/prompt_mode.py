"""Modes of the prompt."""

from typing import Literal

PromptMode = Literal["agent", "shell"]
"""Whether the prompt is sent to the agent or to the user's shell."""
