"""Errors, told to the user in their language."""

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.language.saying import retell


def told(error: KimiTuiError) -> str:
    """What happened and what to do, on one line."""
    return f"{retell(error.what)} {retell(error.hint)}".strip()
