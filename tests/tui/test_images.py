"""Images in prompts and in the conversation: attaching, sending, thumbnails and kitty graphics."""

import base64
import os
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from textual import events

from kimi_tui.base.content_parts import ImageURLPart, TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.config.startup_settings import ImageMode
from kimi_tui.frontend.drafts import Draft, DraftStore
from kimi_tui.frontend.image_attachments import AttachedImage, ImageAttachments
from kimi_tui.frontend.image_loader import (
    find_mentioned_images,
    load_image_file,
    parse_image_argument,
    parse_image_paths,
)
from kimi_tui.tui.images.kitty import DIACRITICS
from kimi_tui.tui.images.renderer import ImageRenderer, detect_protocol
from kimi_tui.tui.images.thumbnail import MAX_COLUMNS, MAX_ROWS, render_thumbnail
from kimi_tui.tui.markdown.styled_line import StyledLine
from kimi_tui.wire.commands import Prompt, Steer
from kimi_tui.wire.events import TurnBegin
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.timeline.test_dialogs import click_text

VISION_SESSION = replace(SESSION, capabilities=("image_in",))


def png(width: int = 64, height: int = 48, color: str = "red") -> bytes:
    stream = BytesIO()
    Image.new("RGB", (width, height), color).save(stream, "PNG")
    return stream.getvalue()


def data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


async def paste_image(harness: AppHarness, token: str) -> None:
    await harness.driver.press("ctrl+v")
    await harness.wait_until(lambda: token in harness.prompt_text)


async def test_a_pasted_image_becomes_a_token_and_is_sent_as_data(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION) as harness:
        harness.clipboard.image = png()
        await harness.type_text("what is this")
        await paste_image(harness, "[image #1 64x48]")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt))
        text, image_part = harness.commands_of(Prompt)[0].user_input
        assert text == TextPart("what is this [image #1 64x48]")
        assert image_part.image_url.url == data_url(png())
        assert image_part.image_url.id == "1"


async def test_an_image_token_can_be_deleted_before_sending(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION) as harness:
        harness.clipboard.image = png()
        await paste_image(harness, "#1")
        harness.clipboard.image = png(10, 20)
        await paste_image(harness, "[image #2 10x20]")
        await harness.driver.press("backspace", "backspace")
        assert harness.prompt_text == "[image #1 64x48] "
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt))
        assert len(harness.commands_of(Prompt)[0].user_input) == 2


async def test_attached_images_are_shown_above_the_prompt_and_removed_with_a_click(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION, size=(80, 24)) as harness:
        harness.clipboard.image = png(64, 48)
        await harness.type_text("what is")
        await paste_image(harness, "[image #1 64x48]")
        await harness.wait_until(lambda: "▀▀▀▀" in harness.screen_text())
        harness.clipboard.image = png(30, 90, "blue")
        await paste_image(harness, "[image #2 30x90]")
        await harness.wait_until(lambda: "30x90" in harness.screen_text().replace("#2 30x90", ""))
        await click_text(harness, "✕ remove")
        await harness.wait_until(lambda: harness.prompt_text == "what is [image #2 30x90] ")
        await harness.wait_until(lambda: "64x48" not in harness.screen_text())
        await harness.type_text("and this")
        assert harness.prompt_text == "what is [image #2 30x90] and this"
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt))
        await harness.wait_until(lambda: "✕ remove" not in harness.screen_text())


async def test_images_without_room_are_counted(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION, size=(80, 24)) as harness:
        for number in range(1, 6):
            harness.clipboard.image = png(64 + number, 48)
            await paste_image(harness, f"[image #{number} {64 + number}x48]")
        await harness.wait_until(lambda: "3 more" in harness.screen_text())
        await harness.driver.press("backspace", "backspace")
        await harness.wait_until(lambda: "2 more" in harness.screen_text())


async def test_low_terminals_show_only_the_tokens(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION, size=(80, 16)) as harness:
        harness.clipboard.image = png()
        await paste_image(harness, "[image #1 64x48]")
        await harness.driver.pause()
        assert "▀▀▀▀" not in harness.screen_text()


async def test_queued_and_steering_prompts_include_their_images(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION) as harness:
        await harness.send(TurnBegin("go"))
        harness.clipboard.image = png()
        await paste_image(harness, "#1")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.screen.state.queue)
        await harness.driver.press("up")
        await harness.wait_until(lambda: "[image #1" in harness.prompt_text)
        await harness.driver.press("ctrl+s")
        await harness.wait_until(lambda: harness.commands_of(Steer))
        assert isinstance(harness.commands_of(Steer)[0].user_input[1], ImageURLPart)


async def test_a_model_without_image_support_is_reported_and_the_draft_is_kept(open_app: Any) -> None:
    async with open_app() as harness:
        harness.clipboard.image = png()
        await harness.type_text("see")
        await paste_image(harness, "#1")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "kimi-k2 doesn't support images" in harness.toast_text())
        assert harness.prompt_text.startswith("see [image #1 64x48]")
        assert harness.commands_of(Prompt) == []


async def test_a_dropped_image_path_is_attached_and_other_text_is_inserted(
    open_app: Any, tmp_path: Path
) -> None:
    async with open_app(session=VISION_SESSION) as harness:
        (tmp_path / "my shot.png").write_bytes(png())
        path = str(tmp_path / "my shot.png").replace(" ", "\\ ")
        harness.screen.prompt.editor.post_message(events.Paste(path))
        await harness.wait_until(lambda: harness.prompt_text == "[image #1 64x48] ")
        harness.screen.prompt.editor.post_message(events.Paste("/nowhere/x.png"))
        await harness.wait_until(lambda: harness.prompt_text.endswith("/nowhere/x.png"))


async def test_an_image_mentioned_with_an_at_sign_is_attached(open_app: Any, options: Any) -> None:
    (options.work_dir / "shot.png").write_bytes(png(8, 9))
    async with open_app(session=VISION_SESSION) as harness:
        await harness.type_text("look at @shot.png please")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt))
        text, image_part = harness.commands_of(Prompt)[0].user_input
        assert text.text == "look at @shot.png [image #1 8x9] please"
        assert image_part.image_url.url == data_url(png(8, 9))


async def test_a_file_that_is_not_an_image_is_reported(open_app: Any, tmp_path: Path) -> None:
    async with open_app(session=VISION_SESSION) as harness:
        (tmp_path / "fake.png").write_text("not an image")
        harness.screen.prompt.editor.post_message(events.Paste(str(tmp_path / "fake.png")))
        await harness.wait_until(lambda: "isn't a supported image" in harness.toast_text())
        assert harness.prompt_text == ""


async def test_an_empty_clipboard_is_reported(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION) as harness:
        await harness.driver.press("ctrl+v")
        await harness.wait_until(lambda: "The clipboard is empty" in harness.toast_text())


async def test_an_image_is_shown_in_the_conversation(open_app: Any) -> None:
    async with open_app(session=VISION_SESSION) as harness:
        attachments = ImageAttachments()
        attachments.add(AttachedImage(data=png(), media_type="image/png", size=(64, 48)))
        await harness.send(TurnBegin(attachments.expand("see [image #1 64x48]")))
        assert "▀▀▀▀" in harness.screen_text()
        assert "see [image #1 64x48]" in harness.screen_text()


def test_a_thumbnail_keeps_its_aspect_ratio_and_fits() -> None:
    lines = render_thumbnail(data_url(png(400, 100)), 100)
    assert (len(lines), lines[0].cells) == (5, MAX_COLUMNS)
    assert len(render_thumbnail(data_url(png(10, 4000)), 100)) == MAX_ROWS
    assert lines[0].spans[0][1].roles == ("#ff0000", "on #ff0000")


@pytest.mark.parametrize(
    "address",
    ["https://x/y.png", "data:image/png;base64,AAAA", "data:image/png;base64,§", "data:text/plain,x"],
)
def test_undecodable_images_have_no_thumbnail(address: str) -> None:
    assert render_thumbnail(address, 80) == []


def test_images_of_a_draft_survive_a_restart(tmp_path: Path) -> None:
    store = DraftStore(data_dir=tmp_path / "share", work_dir=tmp_path, pid=2**22 + 1)
    image = AttachedImage(data=png(), media_type="image/png", size=(64, 48))
    store.save_image(3, image)
    store.save(Draft("see [image #3 64x48]"))
    later = DraftStore(data_dir=tmp_path / "share", work_dir=tmp_path)
    orphan = later.find_orphan()
    assert orphan is not None
    assert (orphan.draft, orphan.images) == (Draft("see [image #3 64x48]"), ((3, image),))
    assert later.claim(orphan)
    later.save(Draft(""))
    assert not list((tmp_path / "share" / "drafts").iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this platform")
def test_pipes_devices_and_directories_are_not_read_as_images(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    for name in ("pipe.png", "folder.png", "zero.png", "gone.png"):
        with pytest.raises(KimiTuiError, match="doesn't exist or isn't a file"):
            load_image_file(tmp_path / name)
    (tmp_path / "link.png").symlink_to(tmp_path / "real.png")
    (tmp_path / "real.png").write_bytes(png())
    assert load_image_file(tmp_path / "link.png").size == (64, 48)


def test_image_paths_are_parsed_as_terminals_paste_them(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(b"")
    path = str(tmp_path / "a b.png")
    for text in (
        path,
        f"'{path}'",
        path.replace(" ", "\\ "),
        f"file://{path.replace(' ', '%20')}",
        f" {path}\n",
    ):
        assert parse_image_paths(text, Path("/")) == (tmp_path / "a b.png",)
    (tmp_path / "b(1).png").write_bytes(b"")
    both = (tmp_path / "a b.png", tmp_path / "b(1).png")
    for text in (
        f"'{both[0]}' '{both[1]}'",
        f"'{both[0]}'\n{tmp_path}/b\\(1\\).png",
        f"{both[0]}\n{both[1]}\n",
    ):
        assert parse_image_paths(text, Path("/")) == both
    for text in (
        "",
        "a.png\nb.png",
        f"'{path}' and more",
        "/nowhere.png",
        "x" * 9000,
        "\0.png",
        "'",
        str(tmp_path),
    ):
        assert parse_image_paths(text, Path("/")) == ()
    escaped = path.replace(" ", "\\ ")
    assert parse_image_argument(escaped, Path("/")) == (tmp_path / "a b.png",)
    assert parse_image_argument("'no image.txt'", tmp_path) == (tmp_path / "no image.txt",)
    assert find_mentioned_images('see @"a b.png" and x@a.png', tmp_path) == {
        '@"a b.png"': tmp_path / "a b.png"
    }


def decode_placeholders(lines: list[StyledLine]) -> list[list[tuple[int, int]]]:
    """Return the (row, column) pairs encoded in the placeholders."""
    rows = []
    for line in lines:
        cells = line.text.split("\U0010eeee")[1:]
        rows.append([(DIACRITICS.index(ord(cell[0])), DIACRITICS.index(ord(cell[1]))) for cell in cells])
    return rows


class FakeTerminal:
    """Collects the sequences sent to it."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, sequence: str) -> None:
        self.sent.append(sequence)


def test_kitty_gets_an_image_once_and_a_placeholder_per_cell() -> None:
    terminal = FakeTerminal()
    renderer = ImageRenderer("kitty", terminal=terminal)
    lines = renderer.render(data_url(png(400, 200)), 100)
    assert renderer.render(data_url(png(400, 200)), 100) == lines
    assert len(terminal.sent) == 1
    [first, *continuations] = terminal.sent[0].split("\x1b\\")[:-1]
    head, _, data = first.partition(";")
    control = dict(pair.split("=") for pair in head.removeprefix("\x1b_G").split(","))
    assert (control["a"], control["U"], control["f"], control["q"]) == ("T", "1", "100", "2")
    columns, rows = int(control["c"]), int(control["r"])
    assert (columns, rows) == (MAX_COLUMNS, MAX_ROWS)
    assert decode_placeholders(lines) == [[(row, column) for column in range(columns)] for row in range(rows)]
    assert {line.cells for line in lines} == {columns}
    [role] = {role for line in lines for _, style in line.spans for role in style.roles}
    assert role == f"#{int(control['i']):06x}"
    data += "".join(continuation.partition(";")[2] for continuation in continuations)
    with Image.open(BytesIO(base64.b64decode(data))) as image:
        assert image.size == (400, 200)


def test_images_are_deleted_from_the_terminal() -> None:
    terminal = FakeTerminal()
    renderer = ImageRenderer("kitty", terminal=terminal)
    renderer.render(data_url(png(40, 40)), 100)
    renderer.delete_all()
    image_id = terminal.sent[0].partition("i=")[2].partition(",")[0]
    assert terminal.sent[1] == f"\x1b_Ga=d,d=I,i={image_id},q=2\x1b\\"


def test_each_sequence_is_wrapped_for_tmux() -> None:
    terminal = FakeTerminal()
    ImageRenderer("kitty", terminal=terminal, in_tmux=True).render(data_url(png(400, 200)), 100)
    assert terminal.sent[0].startswith("\x1bPtmux;\x1b\x1b_G")
    assert terminal.sent[0].count("\x1bPtmux;") == terminal.sent[0].count("\x1b\x1b_G")


@pytest.mark.parametrize("address", ["https://example.org/a.png", "data:image/png;base64,!!!", "data:,x", ""])
def test_invalid_images_are_not_transmitted(address: str) -> None:
    terminal = FakeTerminal()
    assert ImageRenderer("kitty", terminal=terminal).render(address, 80) == []
    assert ImageRenderer("off", terminal=terminal).render(data_url(png(4, 4)), 80) == []
    assert terminal.sent == []


@pytest.mark.parametrize(
    ("setting", "environment", "protocol"),
    [
        ("auto", {"TERM": "xterm-kitty", "COLORTERM": "truecolor"}, "kitty"),
        ("auto", {"TERM": "xterm-ghostty", "COLORTERM": "truecolor"}, "kitty"),
        ("auto", {"TERM": "xterm-kitty", "COLORTERM": "truecolor", "TMUX": "x"}, "blocks"),
        ("auto", {"TERM": "xterm-kitty", "COLORTERM": "truecolor", "NO_COLOR": "1"}, "blocks"),
        ("auto", {"TERM": "xterm-kitty"}, "blocks"),
        ("auto", {"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "blocks"),
        ("kitty", {"TERM": "tmux-256color", "TMUX": "x"}, "kitty"),
        ("off", {"TERM": "xterm-kitty", "COLORTERM": "truecolor"}, "off"),
    ],
)
def test_the_image_protocol_is_detected_from_the_environment(
    setting: ImageMode, environment: Mapping[str, str], protocol: str
) -> None:
    assert detect_protocol(setting, environment) == protocol


def test_an_image_that_is_likely_to_contain_secrets_is_not_attached(tmp_path: Path) -> None:
    folder = tmp_path / ".ssh"
    folder.mkdir()
    Image.new("RGB", (1, 1)).save(folder / "key.png")
    (tmp_path / "link.png").symlink_to(folder / "key.png")
    for path in (folder / "key.png", tmp_path / "link.png"):
        with pytest.raises(KimiTuiError, match="likely to contain secrets"):
            load_image_file(path)
