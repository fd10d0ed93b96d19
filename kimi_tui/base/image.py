"""Conversion of images to a format and size that every provider accepts."""

import warnings
from io import BytesIO
from typing import TYPE_CHECKING

from kimi_tui.base.frozen import frozen

if TYPE_CHECKING:
    from PIL import Image

MAX_SIDE_PIXELS = 2000
"""Maximum width and height. Providers scale down larger images."""
MAX_IMAGE_BYTES = 3_700_000
"""Maximum size in bytes; 5 MB in base64, the lowest limit of any provider."""
_MAX_PIXELS = 120_000_000
_READABLE_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "ICO", "PPM")
_MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_ORIENTATION = 0x0112
_QUALITIES = (85, 70, 50)


class ImageError(Exception):
    """An image can't be read. The message is the reason."""


@frozen(kw_only=True)
class ImageData:
    """An image as it is sent to the model."""

    data: bytes
    media_type: str
    original_format: str
    original_size: tuple[int, int]
    """Width and height in pixels."""
    size: tuple[int, int]


def prepare_image(data: bytes) -> ImageData | None:
    """Return the image in `data`, scaled down and converted if necessary; None if `data` isn't an image.

    Raises ImageError if the image is damaged or too large.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the size is checked below
            image = Image.open(BytesIO(data), formats=_READABLE_FORMATS)
            with image:
                return _fit_image(image, data)
    except UnidentifiedImageError:
        return None
    except Image.DecompressionBombError as error:
        raise ImageError("it has too many pixels") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise ImageError(f"it is damaged ({str(error)[:100]})") from error


def _fit_image(image: "Image.Image", data: bytes) -> ImageData:
    width, height = image.size
    if width * height > _MAX_PIXELS:
        raise ImageError(f"it has {width} × {height} pixels, which is too many")
    name = image.format or ""
    fits = (
        name in _MEDIA_TYPES
        and max(width, height) <= MAX_SIDE_PIXELS
        and len(data) <= MAX_IMAGE_BYTES
        and image.getexif().get(_ORIENTATION, 1) == 1
    )
    if fits:
        image.load()  # detect damaged images here instead of at the provider
        sent, media_type, size = data, _MEDIA_TYPES[name], image.size
    else:
        sent, media_type, size = _convert_image(image)
    return ImageData(
        data=sent, media_type=media_type, original_format=name, original_size=(width, height), size=size
    )


def _convert_image(image: "Image.Image") -> tuple[bytes, str, tuple[int, int]]:
    """Return the converted data, its media type and its size.

    PNG is preferred because it keeps text sharp. If it is too large, use JPEG of decreasing quality and size.
    """
    from PIL import ImageOps

    is_photo = image.format == "JPEG"
    image.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
    rotated = ImageOps.exif_transpose(image)
    has_alpha = "A" in rotated.getbands() or "transparency" in rotated.info
    converted = rotated.convert("RGBA" if has_alpha else "RGB")
    if not is_photo:
        data = _encode_image(converted, "PNG", optimize=False)
        if len(data) <= MAX_IMAGE_BYTES:
            return data, "image/png", converted.size
    opaque = _flatten_on_white(converted)
    while True:
        for quality in _QUALITIES:
            data = _encode_image(opaque, "JPEG", quality=quality)
            if len(data) <= MAX_IMAGE_BYTES:
                return data, "image/jpeg", opaque.size
        opaque.thumbnail((opaque.width // 2, opaque.height // 2))


def _flatten_on_white(image: "Image.Image") -> "Image.Image":
    from PIL import Image

    if image.mode != "RGBA":
        return image
    white = Image.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white


def _encode_image(image: "Image.Image", name: str, **options: object) -> bytes:
    stream = BytesIO()
    image.save(stream, name, **options)
    return stream.getvalue()
