"""Errors, told to the user in their language."""

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.language.saying import joined, retell


def told(error: KimiTuiError) -> str:
    """What happened and what to do, on one line."""
    return joined(retell(error.what), retell(error.hint))
