"""Reading pictures: from files, and from what is pasted. Slow: in a thread."""

import os
import re
import shlex
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tui.images.album import Photo

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".ico"})
_MOST_BYTES = 100 << 20
_LONGEST_PATH = 4_096
_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"\n]+)"|(\S+))')


def photo_of(data: bytes, *, name: str) -> Photo:
    """The picture that `data` is, fit to be sent. Raises KimiTuiError, which calls it `name`."""
    from kimi_tui.base.picture import BadPicture, picture_of

    try:
        picture = picture_of(data)
    except BadPicture as error:
        raise KimiTuiError(f"{name} can't be sent: {error}.", hint="Attach another picture.") from error
    if picture is None:
        raise KimiTuiError(
            f"{name} is no picture that can be read.", hint="PNG, JPEG, GIF, WebP, BMP, TIFF and AVIF can."
        )
    return Photo(data=picture.data, media_type=picture.media_type, size=picture.size)


def photo_in(path: Path) -> Photo:
    """The picture in a file. Raises KimiTuiError."""
    try:
        data = _content(path)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise KimiTuiError(f"There is no file {path}.", hint="Name the path of a picture.") from error
    except OSError as error:
        raise KimiTuiError(
            f"{path} can't be read: {error.strerror or error}.", hint="Check its permissions."
        ) from error
    return photo_of(data, name=str(path))


def _content(path: Path) -> bytes:
    # What was opened is looked at, not the path once more: in between it may become something without an end.
    at_once = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(path)
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise KimiTuiError(f"{path} is larger than 100 MB.", hint="Make it smaller first.")
    return data


def picture_path(text: str, work_dir: Path) -> Path | None:
    """The picture whose path `text` is, as a terminal pastes a dropped file: quoted, escaped or as a URL."""
    text = text.strip()
    if not text or "\n" in text or len(text) > _LONGEST_PATH:
        return None
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    elif text[0] in "'\"" or "\\ " in text:
        try:
            words = shlex.split(text)
        except ValueError:
            return None
        if len(words) != 1:
            return None
        text = words[0]
    return _existing(text, work_dir)


def mentioned(text: str, work_dir: Path) -> dict[str, Path]:
    """The pictures that `text` names after an `@`, by how it names them."""
    found: dict[str, Path] = {}
    for mention in _MENTION.finditer(text):
        if (path := _existing(mention[1] or mention[2], work_dir)) is not None:
            found[mention[0]] = path
    return found


def _existing(name: str, work_dir: Path) -> Path | None:
    try:
        path = Path(name).expanduser()
        path = path if path.is_absolute() else work_dir / path
        return path if path.suffix.lower() in SUFFIXES and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
