"""Pictures made fit for a model: in a format that every provider takes, not larger than it looks at."""

import warnings
from io import BytesIO
from typing import TYPE_CHECKING

from kimi_tui.base.value import value

if TYPE_CHECKING:
    from PIL import Image

LONGEST_SIDE = 2000
"""Pixels; providers scale down what is larger."""
MOST_BYTES = 3_700_000
"""5 MB when it is written in base64, the least that a provider allows."""
_MOST_PIXELS = 120_000_000
_READ = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "ICO", "PPM")
_SENT = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_ORIENTATION = 0x0112
_QUALITIES = (85, 70, 50)


class BadPicture(Exception):
    """A picture that can't be read; the text says why."""


@value(kw_only=True)
class Picture:
    """A picture as it is sent."""

    data: bytes
    media_type: str
    original_format: str
    original_size: tuple[int, int]
    """Pixels: width, height."""
    size: tuple[int, int]


def picture_of(data: bytes) -> Picture | None:
    """The picture that `data` is, scaled down and converted where need be; None when it is none.

    Raises BadPicture when it is damaged or too large.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # our own limit follows, and nobody reads warnings here
            image = Image.open(BytesIO(data), formats=_READ)
            with image:
                return _fit(image, data)
    except UnidentifiedImageError:
        return None
    except Image.DecompressionBombError as error:
        raise BadPicture("it has too many pixels") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise BadPicture(f"it is damaged ({str(error)[:100]})") from error


def _fit(image: "Image.Image", data: bytes) -> Picture:
    width, height = image.size
    if width * height > _MOST_PIXELS:
        raise BadPicture(f"it has {width} × {height} pixels, which is too many")
    name = image.format or ""
    fits = (
        name in _SENT
        and max(width, height) <= LONGEST_SIDE
        and len(data) <= MOST_BYTES
        and image.getexif().get(_ORIENTATION, 1) == 1
    )
    if fits:
        image.load()  # damaged ones are told here rather than by the provider
        sent, media_type, size = data, _SENT[name], image.size
    else:
        sent, media_type, size = _converted(image)
    return Picture(
        data=sent, media_type=media_type, original_format=name, original_size=(width, height), size=size
    )


def _converted(image: "Image.Image") -> tuple[bytes, str, tuple[int, int]]:
    """PNG where that is small enough, since it keeps text sharp; else JPEG, smaller and smaller."""
    from PIL import ImageOps

    is_photo = image.format == "JPEG"
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    turned = ImageOps.exif_transpose(image)
    has_alpha = "A" in turned.getbands() or "transparency" in turned.info
    picture = turned.convert("RGBA" if has_alpha else "RGB")
    if not is_photo:
        data = _saved(picture, "PNG", optimize=False)
        if len(data) <= MOST_BYTES:
            return data, "image/png", picture.size
    opaque = _on_white(picture)
    while True:
        for quality in _QUALITIES:
            data = _saved(opaque, "JPEG", quality=quality)
            if len(data) <= MOST_BYTES:
                return data, "image/jpeg", opaque.size
        opaque.thumbnail((opaque.width // 2, opaque.height // 2))


def _on_white(picture: "Image.Image") -> "Image.Image":
    from PIL import Image

    if picture.mode != "RGBA":
        return picture
    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def _saved(picture: "Image.Image", name: str, **options: object) -> bytes:
    stream = BytesIO()
    picture.save(stream, name, **options)
    return stream.getvalue()
