"""Width of text in terminal cells. East Asian characters and emoji take two cells."""

from unicodedata import combining, east_asian_width


def cell_len(text: str) -> int:
    """Return the number of terminal cells that `text` takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(it) else 2 if east_asian_width(it) in "WF" else 1 for it in text)


def pad_right(text: str, width: int) -> str:
    """Append spaces to `text` up to `width` cells. Longer text is unchanged."""
    return text + " " * (width - cell_len(text))


def pad_left(text: str, width: int) -> str:
    """Prepend spaces to `text` up to `width` cells. Longer text is unchanged."""
    return " " * (width - cell_len(text)) + text
