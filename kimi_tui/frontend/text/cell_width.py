"""Width of text in terminal cells, as the screen measures it: emoji sequences and East Asian characters take
two cells, combining characters none.
"""


def cell_len(text: str) -> int:
    """Return the number of terminal cells that `text` takes."""
    from rich.cells import cell_len as measure  # not needed to start a front end without a screen

    return measure(text)


def pad_right(text: str, width: int) -> str:
    """Append spaces to `text` up to `width` cells. Longer text is unchanged."""
    return text + " " * (width - cell_len(text))


def fit_cells(text: str, width: int) -> str:
    """Return `text` in exactly `width` cells: padded, or cut off with an ellipsis."""
    if cell_len(text) <= width:
        return pad_right(text, width)
    while cell_len(text) > width - 1:
        text = text[:-1]
    return pad_right(f"{text}…", width)


def pad_left(text: str, width: int) -> str:
    """Prepend spaces to `text` up to `width` cells. Longer text is unchanged."""
    return " " * (width - cell_len(text)) + text
