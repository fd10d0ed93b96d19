"""The modes of the prompt."""

from typing import Literal

PromptMode = Literal["agent", "shell"]
"""Whom the user talks to: the agent, or their own shell."""
