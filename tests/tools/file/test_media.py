"""ReadMediaFile, as a model and a user see it."""

import os
from base64 import b64decode
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zlib import crc32

import pytest
from PIL import Image

from kimi_tui.base.content import ImageURLPart, VideoURLPart
from kimi_tui.tools.file.media import ReadMediaFile
from kimi_tui.wire.events import ToolReturn
from tests.tools.desk import Desk, brief

MP4 = b"\x00\x00\x00\x18ftypmp42" + b"\x00" * 100


@dataclass
class Senses:
    capabilities: frozenset[str] = frozenset({"image_in", "video_in"})


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def senses() -> Senses:
    return Senses()


async def look(desk: Desk, senses: Senses, path: str, *, limit: int = 100_000_000) -> ToolReturn:
    return await desk.run(ReadMediaFile(desk.workspace, desk.user, senses, limit=limit), path=path)


def picture(
    size: tuple[int, int] = (64, 48), kind: str = "PNG", mode: str = "RGB", **options: object
) -> bytes:
    stream = BytesIO()
    Image.new(mode, size, (200, 30, 30, 0) if mode == "RGBA" else 120 if mode == "L" else (200, 30, 30)).save(
        stream, kind, **options
    )
    return stream.getvalue()


def noise(size: tuple[int, int]) -> Image.Image:
    return Image.frombytes("RGB", size, os.urandom(size[0] * size[1] * 3))


def sent(result: ToolReturn) -> tuple[str, bytes]:
    (part,) = result.output
    assert isinstance(part, ImageURLPart)
    header, _, data = part.image_url.url.partition(",")
    return header, b64decode(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_picture_that_fits_goes_as_it_is(desk: Desk, senses: Senses, kind: str) -> None:
    data = picture(kind=kind)
    desk.put("shot.dat", data)
    result = await look(desk, senses, "shot.dat")

    assert not result.is_error
    assert sent(result) == (f"data:image/{kind.lower()};base64", data)
    assert f"a {kind} picture, 64 × 48" in result.message
    assert "64 × 48" in brief(result)


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "AVIF", "PPM"])
async def test_other_formats_are_converted(desk: Desk, senses: Senses, kind: str) -> None:
    desk.put("a.png", picture(kind=kind))
    header, data = sent(await look(desk, senses, "a.png"))

    assert header == "data:image/png;base64"
    assert Image.open(BytesIO(data)).size == (64, 48)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
async def test_a_large_picture_is_scaled_down_and_that_is_said(desk: Desk, senses: Senses, kind: str) -> None:
    desk.put("a", picture((4000, 3000), kind))
    result = await look(desk, senses, "a")

    assert Image.open(BytesIO(sent(result)[1])).size == (2000, 1500)
    assert "4000 × 3000" in result.message
    assert "scaled down to 2000 × 1500" in result.message


async def test_a_picture_of_too_many_bytes_is_packed_tighter(desk: Desk, senses: Senses) -> None:
    noise((1200, 1200)).save(desk.dir / "noise.png", compress_level=1)
    header, data = sent(await look(desk, senses, "noise.png"))

    assert len(data) < 3_750_000
    assert header == "data:image/jpeg;base64"


async def test_transparency_is_kept(desk: Desk, senses: Senses) -> None:
    desk.put("a.png", picture((2500, 10), mode="RGBA"))
    assert Image.open(BytesIO(sent(await look(desk, senses, "a.png"))[1])).mode == "RGBA"


async def test_a_photo_is_turned_upright(desk: Desk, senses: Senses) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    desk.put("a.jpg", picture((64, 48), "JPEG", exif=exif))
    assert Image.open(BytesIO(sent(await look(desk, senses, "a.jpg"))[1])).size == (48, 64)


async def test_a_film_is_shown_to_models_that_take_films(desk: Desk, senses: Senses) -> None:
    desk.put("a.mp4", MP4)
    (part,) = (await look(desk, senses, "a.mp4")).output
    assert isinstance(part, VideoURLPart)
    assert part.video_url.url.startswith("data:video/mp4;base64,")

    senses.capabilities = frozenset({"image_in"})
    result = await look(desk, senses, "a.mp4")
    assert result.is_error
    assert "ffmpeg" in result.message


async def test_after_a_change_to_a_blind_model_the_error_says_so(desk: Desk, senses: Senses) -> None:
    desk.put("a.png", picture())
    senses.capabilities = frozenset({"thinking"})
    result = await look(desk, senses, "a.png")

    assert result.is_error
    assert "can't see pictures" in result.message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "tool for text files"),
        (b"%PDF-1.7\x00", "PDF"),
        (b"", "empty"),
        (b"\x00\x01\x02", "binary"),
        (picture()[:60], "can't be shown"),
        (picture((500, 500), "JPEG")[:-1200], "can't be shown"),
    ],
)
async def test_what_cannot_be_shown_is_a_clear_error(
    desk: Desk, senses: Senses, content: bytes, said: str
) -> None:
    desk.put("a.png", content)
    result = await look(desk, senses, "a.png")

    assert result.is_error
    assert said in result.message


async def test_a_picture_of_too_many_pixels_is_not_unpacked(desk: Desk, senses: Senses) -> None:
    small = picture()
    header = b"IHDR" + (40_000).to_bytes(4) + (10_000).to_bytes(4) + small[24:29]
    desk.put("bomb.png", small[:12] + header + crc32(header).to_bytes(4) + small[33:])
    result = await look(desk, senses, "bomb.png")
    assert result.is_error
    assert "pixels" in result.message


async def test_a_file_that_is_too_large_is_not_read(desk: Desk, senses: Senses) -> None:
    with desk.put("a.mp4", MP4).open("r+b") as file:
        file.truncate(100_000_001)
    result = await look(desk, senses, "a.mp4")
    assert result.is_error
    assert "100.0 MB" in result.message


@pytest.mark.skipif(os.name == "nt", reason="there are none")
@pytest.mark.timeout(60)
async def test_nothing_but_regular_files_is_read(desk: Desk, senses: Senses) -> None:
    os.mkfifo(desk.dir / "fifo")
    for path, said in (("fifo", "FIFO"), ("/dev/zero", "device"), (".", "folder"), ("no.png", "not exist")):
        result = await look(desk, senses, path)
        assert result.is_error
        assert said in result.message


async def test_secrets_are_read_only_with_consent(desk: Desk, senses: Senses) -> None:
    desk.put("scan.key", picture())
    await look(desk, senses, "scan.key")
    assert desk.user.actions == ["read secret file"]
