"""ReadMediaFile, as seen by the model and the user."""

import os
from base64 import b64decode
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zlib import crc32

import pytest
from PIL import Image

from kimi_tui.base.content_parts import ImageURLPart, VideoURLPart
from kimi_tui.tools.file.media import ReadMediaFile
from kimi_tui.wire.events import ToolReturn
from tests.tools.tool_env import ToolEnv, brief_text

MP4 = b"\x00\x00\x00\x18ftypmp42" + b"\x00" * 100


@dataclass
class FakeModel:
    capabilities: frozenset[str] = frozenset({"image_in", "video_in"})


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    return ToolEnv(tmp_path)


@pytest.fixture
def model() -> FakeModel:
    return FakeModel()


async def read_media(
    tool_env: ToolEnv, model: FakeModel, path: str, *, limit: int = 100_000_000
) -> ToolReturn:
    return await tool_env.run(
        ReadMediaFile(tool_env.path_scope, tool_env.user, model, limit=limit), path=path
    )


def make_image(
    size: tuple[int, int] = (64, 48), kind: str = "PNG", mode: str = "RGB", **options: object
) -> bytes:
    stream = BytesIO()
    Image.new(mode, size, (200, 30, 30, 0) if mode == "RGBA" else 120 if mode == "L" else (200, 30, 30)).save(
        stream, kind, **options
    )
    return stream.getvalue()


def make_noise(size: tuple[int, int]) -> Image.Image:
    return Image.frombytes("RGB", size, os.urandom(size[0] * size[1] * 3))


def sent_media(result: ToolReturn) -> tuple[str, bytes]:
    (part,) = result.output
    assert isinstance(part, ImageURLPart)
    header, _, data = part.image_url.url.partition(",")
    return header, b64decode(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_small_image_is_sent_unchanged(tool_env: ToolEnv, model: FakeModel, kind: str) -> None:
    data = make_image(kind=kind)
    tool_env.write_file("shot.dat", data)
    result = await read_media(tool_env, model, "shot.dat")

    assert not result.is_error
    assert sent_media(result) == (f"data:image/{kind.lower()};base64", data)
    assert f"a {kind} image, 64 × 48" in result.message
    assert "64 × 48" in brief_text(result)


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "AVIF", "PPM"])
async def test_other_formats_are_converted(tool_env: ToolEnv, model: FakeModel, kind: str) -> None:
    tool_env.write_file("a.png", make_image(kind=kind))
    header, data = sent_media(await read_media(tool_env, model, "a.png"))

    assert header == "data:image/png;base64"
    assert Image.open(BytesIO(data)).size == (64, 48)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
async def test_a_large_image_is_scaled_down_and_the_message_says_so(
    tool_env: ToolEnv, model: FakeModel, kind: str
) -> None:
    tool_env.write_file("a", make_image((4000, 3000), kind))
    result = await read_media(tool_env, model, "a")

    assert Image.open(BytesIO(sent_media(result)[1])).size == (2000, 1500)
    assert "4000 × 3000" in result.message
    assert "scaled down to 2000 × 1500" in result.message


async def test_an_image_with_too_many_bytes_is_compressed(tool_env: ToolEnv, model: FakeModel) -> None:
    make_noise((1200, 1200)).save(tool_env.dir / "noise.png", compress_level=1)
    header, data = sent_media(await read_media(tool_env, model, "noise.png"))

    assert len(data) < 3_750_000
    assert header == "data:image/jpeg;base64"


async def test_transparency_is_kept(tool_env: ToolEnv, model: FakeModel) -> None:
    tool_env.write_file("a.png", make_image((2500, 10), mode="RGBA"))
    assert Image.open(BytesIO(sent_media(await read_media(tool_env, model, "a.png"))[1])).mode == "RGBA"


async def test_a_photo_is_rotated_upright(tool_env: ToolEnv, model: FakeModel) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    tool_env.write_file("a.jpg", make_image((64, 48), "JPEG", exif=exif))
    assert Image.open(BytesIO(sent_media(await read_media(tool_env, model, "a.jpg"))[1])).size == (48, 64)


async def test_a_video_is_sent_to_models_that_support_video(tool_env: ToolEnv, model: FakeModel) -> None:
    tool_env.write_file("a.mp4", MP4)
    (part,) = (await read_media(tool_env, model, "a.mp4")).output
    assert isinstance(part, VideoURLPart)
    assert part.video_url.url.startswith("data:video/mp4;base64,")

    model.capabilities = frozenset({"image_in"})
    result = await read_media(tool_env, model, "a.mp4")
    assert result.is_error
    assert "ffmpeg" in result.message


async def test_a_model_without_image_support_gets_an_error(tool_env: ToolEnv, model: FakeModel) -> None:
    tool_env.write_file("a.png", make_image())
    model.capabilities = frozenset({"thinking"})
    result = await read_media(tool_env, model, "a.png")

    assert result.is_error
    assert "doesn't support images" in result.message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "tool for text files"),
        (b"%PDF-1.7\x00", "PDF"),
        (b"", "empty"),
        (b"\x00\x01\x02", "binary"),
        (make_image()[:60], "can't be shown"),
        (make_image((500, 500), "JPEG")[:-1200], "can't be shown"),
    ],
)
async def test_files_that_cannot_be_shown_are_errors(
    tool_env: ToolEnv, model: FakeModel, content: bytes, expected: str
) -> None:
    tool_env.write_file("a.png", content)
    result = await read_media(tool_env, model, "a.png")

    assert result.is_error
    assert expected in result.message


async def test_an_image_with_too_many_pixels_is_not_decoded(tool_env: ToolEnv, model: FakeModel) -> None:
    small = make_image()
    header = b"IHDR" + (40_000).to_bytes(4) + (10_000).to_bytes(4) + small[24:29]
    tool_env.write_file("bomb.png", small[:12] + header + crc32(header).to_bytes(4) + small[33:])
    result = await read_media(tool_env, model, "bomb.png")
    assert result.is_error
    assert "pixels" in result.message


async def test_a_file_that_is_too_large_is_not_read(tool_env: ToolEnv, model: FakeModel) -> None:
    with tool_env.write_file("a.mp4", MP4).open("r+b") as file:
        file.truncate(100_000_001)
    result = await read_media(tool_env, model, "a.mp4")
    assert result.is_error
    assert "100.0 MB" in result.message


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
@pytest.mark.timeout(60)
async def test_only_regular_files_are_read(tool_env: ToolEnv, model: FakeModel) -> None:
    os.mkfifo(tool_env.dir / "fifo")
    for path, expected in (
        ("fifo", "FIFO"),
        ("/dev/zero", "device"),
        (".", "directory"),
        ("no.png", "doesn't exist"),
    ):
        result = await read_media(tool_env, model, path)
        assert result.is_error
        assert expected in result.message


async def test_secret_files_need_approval(tool_env: ToolEnv, model: FakeModel) -> None:
    tool_env.write_file("scan.key", make_image())
    await read_media(tool_env, model, "scan.key")
    assert tool_env.user.actions == ["read secret file"]
