"""Untrusted text made fit for a terminal."""

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
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200d-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_JOINS_NO_PICTURES = re.compile("\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")
"""A zero width joiner takes no room for what follows it: only in emoji is there one sign to be seen."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]|" + _JOINS_NO_PICTURES.pattern
)
"""What a terminal or `plain` keeps from the eye, or what another reader takes for the end of a line."""


def plain(text: str) -> str:
    """`text` without escape sequences, control characters (tab and newline stay) and direction overrides.

    A line that was rewritten in place with carriage returns keeps its last state, as on a terminal.
    """
    if not _SUSPECT.search(text):
        return text
    text = _ESCAPE_SEQUENCES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _JOINS_NO_PICTURES.sub("", text.translate(_FORBIDDEN))


def revealed(text: str) -> str:
    """`text` with everything in it to be seen: for whoever agrees to it as it is.

    `plain` leaves out what would act on a terminal, and with it what stands in an escape sequence or before a
    carriage return; a file has it nevertheless, and an interpreter may run it.
    """
    text = text.replace("\r\n", "\n")
    if _UNSEEN.search(text):
        text = _UNSEEN.sub(_sign_of, text)
    return plain(text)


def hides_something(text: str) -> bool:
    """Whether `text` holds anything that nobody would see."""
    return _UNSEEN.search(text.replace("\r\n", "\n")) is not None


def _sign_of(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code < 0xE000:
        return "\ufffd"
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


def plain_line(text: str) -> str:
    """`plain` on one line: every run of white space becomes a space."""
    return " ".join(plain(text).split())


def without_controls(text: str) -> str:
    """`text` without any control character, tab and newline included, so that no escape sequence begins."""
    return text if text.isprintable() else text.translate(_INVISIBLE)
