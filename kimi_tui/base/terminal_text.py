"""Sanitizing of untrusted text for a terminal."""

import re

_ESCAPE_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)"  # OSC, DCS, SOS, PM, APC up to their terminator
    r"|\x1b[ -/]*[0-~]"  # other escapes
    r"|\x9b[0-?]*[ -/]*[@-~]",  # 8-bit CSI
    re.DOTALL,
)
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}
_BIDI = dict.fromkeys((*range(8234, 8239), *range(8294, 8298), 8206, 8207, 1564))
_SURROGATES = dict.fromkeys(range(55296, 57344), 65533)
_FORBIDDEN = {**_CONTROLS, **_BIDI, **_SURROGATES}
_INVISIBLE = {**_FORBIDDEN, 0x09: None, 0x0A: None}
_UNSAFE_PATTERN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200d-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_JOINER_OUTSIDE_EMOJI = re.compile("\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")
"""A zero width joiner hides the text after it, except in emoji."""
_INVISIBLE_PATTERN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]|" + _JOINER_OUTSIDE_EMOJI.pattern
)
"""Characters that a terminal or `sanitize` hides, or that other programs treat as the end of a line."""

_TAB_COLUMNS = 4


def sanitize(text: str) -> str:
    """Return `text` without escape sequences, direction overrides and control characters.

    Tabs and newlines are unchanged. As on a terminal, only the last state remains of a line that was
    overwritten with carriage returns.
    """
    if not _UNSAFE_PATTERN.search(text):
        return text
    text = _ESCAPE_SEQUENCES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _JOINER_OUTSIDE_EMOJI.sub("", text.translate(_FORBIDDEN))


def show_invisible(text: str) -> str:
    """Return `text` with invisible characters made visible. For text that a user is asked to approve.

    `sanitize` removes escape sequences and text before a carriage return, but a file still contains them and
    an interpreter may run them.
    """
    text = text.replace("\r\n", "\n")
    if _INVISIBLE_PATTERN.search(text):
        text = _INVISIBLE_PATTERN.sub(_visible_symbol, text)
    return sanitize(text)


def has_invisible(text: str) -> bool:
    """Return whether `text` contains invisible characters."""
    return _INVISIBLE_PATTERN.search(text.replace("\r\n", "\n")) is not None


def _visible_symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code < 0xE000:
        return "\ufffd"
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


def sanitize_line(text: str) -> str:
    """Return sanitized `text` on one line. Each run of white space becomes a space."""
    return " ".join(sanitize(text).split())


def sanitize_code_line(text: str) -> str:
    """Return sanitized `text` on one line, such as a line of code or output, with its indentation."""
    return " ".join(sanitize(text).expandtabs(_TAB_COLUMNS).splitlines()).rstrip()


def strip_controls(text: str) -> str:
    """Return `text` without control characters, including tab and newline.

    No escape sequence can start in the result.
    """
    return text if text.isprintable() else text.translate(_INVISIBLE)
