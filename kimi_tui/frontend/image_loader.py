"""Loading of images from files and pasted data. Slow: call it in a thread."""

import os
import re
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.secret_paths import is_secret
from kimi_tui.frontend.image_attachments import AttachedImage

IMAGE_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".ico"}
)
_MAX_BYTES = 100 << 20
_MAX_PATH_CHARS = 4_096
_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"\n]+)"|(\S+))')


def load_image(data: bytes, *, name: str) -> AttachedImage:
    """Return the image in `data`, prepared for sending. Raises KimiTuiError, with `name` in its message."""
    from kimi_tui.base.image import ImageError, prepare_image

    try:
        image = prepare_image(data)
    except ImageError as error:
        raise KimiTuiError(
            msg("Can't attach {name}: {reason}.", name=name, reason=error), hint="Attach another image."
        ) from error
    if image is None:
        raise KimiTuiError(
            msg("{name} isn't a supported image.", name=name),
            hint="Use PNG, JPEG, GIF, WebP, BMP, TIFF or AVIF.",
        )
    return AttachedImage(data=image.data, media_type=image.media_type, size=image.size)


def load_image_file(path: Path) -> AttachedImage:
    """Return the image in a file. Raises KimiTuiError, also for a file that is likely to contain secrets."""
    if is_secret(os.path.realpath(path)) or is_secret(os.path.abspath(path)):  # noqa: PTH100 - keeps links
        raise KimiTuiError(
            msg("{path} is likely to contain secrets, so it wasn't attached.", path=path),
            hint="Copy it to another directory to attach it anyway.",
        )
    try:
        data = _read_file(path)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise KimiTuiError(
            msg("{path} doesn't exist or isn't a file.", path=path), hint="Enter the path of an image."
        ) from error
    except OSError as error:
        raise KimiTuiError(
            msg("Can't read {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Check its permissions.",
        ) from error
    return load_image(data, name=str(path))


def _read_file(path: Path) -> bytes:
    # Check the opened file instead of the path, which could be replaced by an endless device in between.
    nonblocking = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | nonblocking)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(path)
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise KimiTuiError(msg("{path} is larger than 100 MB.", path=path), hint="Use a smaller image.")
    return data


def parse_image_paths(text: str, work_dir: Path) -> tuple[Path, ...]:
    """Return the image files if `text` consists only of their paths. Otherwise, return an empty tuple.

    Terminals paste the paths of files that are dragged onto them: quoted, escaped, as URLs, or one per line.
    """
    text = text.strip()
    if not text or len(text) > _MAX_PATH_CHARS:
        return ()
    if paths := _find_image_files(text.splitlines(), work_dir):
        return paths
    try:
        words = shlex.split(text)
    except ValueError:
        return ()
    return _find_image_files([_path_of(word) for word in words], work_dir)


def parse_image_argument(text: str, work_dir: Path) -> tuple[Path, ...]:
    """Return the files named by the argument of `/image`: image paths, or a single path of any kind."""
    return parse_image_paths(text, work_dir) or (work_dir / Path(text.strip("\"'")).expanduser(),)


def _find_image_files(names: Sequence[str], work_dir: Path) -> tuple[Path, ...]:
    """Return the image files. If one of `names` isn't an image file, return an empty tuple."""
    found = [_find_image_file(name, work_dir) for name in names]
    paths = tuple(path for path in found if path is not None)
    return paths if len(paths) == len(names) else ()


def _path_of(word: str) -> str:
    return unquote(urlsplit(word).path) if word.startswith("file://") else word


def find_mentioned_images(text: str, work_dir: Path) -> dict[str, Path]:
    """Return the image files that `text` mentions after an `@`. The keys are the mentions."""
    images: dict[str, Path] = {}
    for mention in _MENTION.finditer(text):
        if (path := _find_image_file(mention[1] or mention[2], work_dir)) is not None:
            images[mention[0]] = path
    return images


def _find_image_file(name: str, work_dir: Path) -> Path | None:
    try:
        path = Path(name).expanduser()
        path = path if path.is_absolute() else work_dir / path
        return path if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
