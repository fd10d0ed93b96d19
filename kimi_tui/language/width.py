"""How many cells text takes: characters of East Asian scripts and emoji take two."""

from unicodedata import combining, east_asian_width


def cells(text: str) -> int:
    """The cells that `text` takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(it) else 2 if east_asian_width(it) in "WF" else 1 for it in text)


def padded(text: str, width: int) -> str:
    """`text` with blanks behind it, `width` cells in all or as many as it needs."""
    return text + " " * (width - cells(text))


def right_aligned(text: str, width: int) -> str:
    """`text` with blanks before it, `width` cells in all or as many as it needs."""
    return " " * (width - cells(text)) + text
