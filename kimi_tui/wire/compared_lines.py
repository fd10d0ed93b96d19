"""Lines of a unified diff of a compared file."""

from difflib import unified_diff

from kimi_tui.wire.timeline import ComparedFile


def diff_lines(file: ComparedFile) -> list[str]:
    """Return a heading with the path, and the changed lines with their context. The text is untrusted."""
    heading = f"{file.change}: {file.path}"
    if file.diff is None:
        return [heading]
    hunks = unified_diff(file.diff.old_text.splitlines(), file.diff.new_text.splitlines(), lineterm="")
    return [heading, *list(hunks)[2:]]
