"""Owners: to whom a change of the files belongs."""

from dataclasses import dataclass
from typing import Literal

Who = Literal["call", "revert", "you", "background", "coverage"]
"""A tool call; a revert; the user, or whoever else changed files while no tool ran; the user or a background
task that ran meanwhile, which can't be told apart; nobody: files came under the store's eyes, or left them,
since ignore rules changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who changed files. What is `you` in one session's eyes may be a tool call of another session."""

    who: Who = "you"
    session: str = ""
    call: str = ""
    """The id of the tool call."""
    tool: str = ""
    agent: str = ""
    """The sub-agent that called, if one did."""
    command: str = ""
    """The shell command, if it was one: what else it did can't be taken back."""


YOU = Owner()
COVERAGE = Owner(who="coverage")
