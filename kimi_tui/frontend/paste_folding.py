"""Folds large pastes into tokens in the prompt and unfolds them when it is sent."""

import re

MAX_LINES = 15
MAX_CHARACTERS = 1000
_TOKEN = re.compile(r"\[paste #(\d+) \+\d+ (?:lines|characters)\]")


class FoldedPastes:
    """The pasted texts that a draft's tokens stand for."""

    def __init__(self, texts: dict[int, str] | None = None) -> None:
        self._texts = dict(texts or {})

    @property
    def texts(self) -> dict[int, str]:
        """Pasted texts by number."""
        return dict(self._texts)

    def fold(self, text: str) -> str:
        """Return `text`. If it has over 15 lines or 1,000 characters, store it and return a token instead."""
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines <= MAX_LINES and len(text) <= MAX_CHARACTERS:
            return text
        number = max(self._texts, default=0) + 1
        self._texts[number] = text
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        return f"[paste #{number} +{size}]"

    def unfold(self, text: str) -> str:
        """Return `text` with every token replaced by the pasted text."""
        return _TOKEN.sub(lambda token: self._texts.get(int(token[1]), token[0]), text)

    def token_before(self, line: str, column: int) -> int | None:
        """Return the start of the token that ends at `column` of `line`, or None if no token ends there."""
        for token in _TOKEN.finditer(line, 0, column):
            if token.end() == column and int(token[1]) in self._texts:
                return token.start()
        return None

    def clear(self) -> None:
        """Forget all pastes."""
        self._texts.clear()
