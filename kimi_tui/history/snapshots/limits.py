"""Limits of snapshots: which files are covered, and how long and how much is stored."""

from kimi_tui.base.frozen import frozen

MB = 1 << 20


@frozen(kw_only=True)
class SnapshotLimits:
    """Limits of snapshots. Sizes are in bytes of content, uncompressed unless stated otherwise."""

    file: int = 64 * MB
    """Larger files are not covered."""
    total: int = 2048 * MB
    """Disk space of a project's store. If the store grows larger, the oldest states are deleted.

    Also limits the new content of one capture: files beyond this limit are not covered.
    """
    files: int = 400_000
    """If the working directory contains more files, only files named by tools are covered."""
    watched_files: int = 5_000
    """With this many files, directories are watched so that some scans can be skipped."""
    first_scan_s: float = 180.0
    """If the first full scan takes longer, only files named by tools are covered."""
    scan_s: float = 20.0
    """The same for later scans, which read only changed files."""
    retry_scan_s: float = 60.0
    """Seconds after which a full scan is tried again while coverage is partial."""
    exclude: tuple[str, ...] = ()
    """Excluded files, as lines of an ignore file in the working directory and in each added directory."""
    own: str = ""
    """The program's own directory, with symbolic links resolved. It is never covered. Empty for none."""
    age_days: float = 60.0
    """Older states are deleted by the next collection."""


DEFAULT_LIMITS = SnapshotLimits()
