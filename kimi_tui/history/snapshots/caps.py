"""Caps: how much of a work dir is covered, and how much of it is kept for how long."""

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Sizes are bytes of content, before compression unless it says otherwise."""

    file: int = 64 * MB
    """Files that are larger are not covered."""
    total: int = 2048 * MB
    """How much a project's store may take on disk before its oldest states go. No capture takes in more new
    content, either: the files beyond are not covered."""
    files: int = 400_000
    """In a work dir with more files than this, only those that tools name are covered."""
    first_look_s: float = 180.0
    """When the first look at all files takes longer, only those that tools name are covered."""
    look_s: float = 20.0
    """The same of later looks, which read only what changed."""
    exclude: tuple[str, ...] = ()
    """What is not covered, as lines of an ignore file in the work dir, and in each folder added to it."""
    own: str = ""
    """The program's own folder, without links, which is not covered wherever it lies; empty for none."""
    age_days: float = 60.0
    """States that are older go when they are collected."""


DEFAULT_CAPS = Caps()
