"""Pictures in prompts: pasted, named, dropped, refused, kept, and shown in cells."""

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

from kimi_tui.base.content import ImageURLPart, TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.config.appearance import Images
from kimi_tui.tui.images.album import Album, Photo
from kimi_tui.tui.images.kitty import MARKS
from kimi_tui.tui.images.reading import mentioned, photo_in, picture_path
from kimi_tui.tui.images.showing import Pictures, means_for
from kimi_tui.tui.images.thumbnail import COLUMNS, ROWS, thumbnail
from kimi_tui.tui.markdown.line import Line
from kimi_tui.tui.prompt.drafts import Draft, DraftStore
from kimi_tui.wire.commands import Prompt, Steer
from kimi_tui.wire.events import TurnBegin
from tests.tui.conftest import SESSION, Desk

SEEING = replace(SESSION, capabilities=("image_in",))


def png(width: int = 64, height: int = 48, colour: str = "red") -> bytes:
    stream = BytesIO()
    Image.new("RGB", (width, height), colour).save(stream, "PNG")
    return stream.getvalue()


def url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


async def pasted(desk: Desk, token: str) -> None:
    await desk.pilot.press("ctrl+v")
    await desk.until(lambda: token in desk.prompt_text)


async def test_a_picture_is_pasted_as_a_token_and_sent_as_its_data(open_desk: Any) -> None:
    async with open_desk(session=SEEING) as desk:
        desk.clipboard.picture = png()
        await desk.write("what is this")
        await pasted(desk, "[image #1 64x48]")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt))
        text, picture = desk.told(Prompt)[0].user_input
        assert text == TextPart("what is this [image #1 64x48]")
        assert picture.image_url.url == url(png())
        assert picture.image_url.id == "1"


async def test_several_pictures_and_one_taken_out_before_sending(open_desk: Any) -> None:
    async with open_desk(session=SEEING) as desk:
        desk.clipboard.picture = png()
        await pasted(desk, "#1")
        desk.clipboard.picture = png(10, 20)
        await pasted(desk, "[image #2 10x20]")
        await desk.pilot.press("backspace", "backspace")
        assert desk.prompt_text == "[image #1 64x48] "
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt))
        assert len(desk.told(Prompt)[0].user_input) == 2


async def test_a_queued_and_a_steered_prompt_carry_their_pictures(open_desk: Any) -> None:
    async with open_desk(session=SEEING) as desk:
        await desk.say(TurnBegin("go"))
        desk.clipboard.picture = png()
        await pasted(desk, "#1")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.screen.state.queue)
        await desk.pilot.press("up")
        await desk.until(lambda: "[image #1" in desk.prompt_text)
        await desk.pilot.press("ctrl+s")
        await desk.until(lambda: desk.told(Steer))
        assert isinstance(desk.told(Steer)[0].user_input[1], ImageURLPart)


async def test_a_model_that_takes_no_pictures_is_named_and_nothing_is_lost(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.clipboard.picture = png()
        await desk.write("see")
        await pasted(desk, "#1")
        await desk.pilot.press("enter")
        await desk.until(lambda: "kimi-k2 takes no pictures" in desk.toasts())
        assert desk.prompt_text.startswith("see [image #1 64x48]")
        assert desk.told(Prompt) == []


async def test_a_dropped_path_becomes_a_picture_and_another_text_stays_text(
    open_desk: Any, tmp_path: Path
) -> None:
    async with open_desk(session=SEEING) as desk:
        (tmp_path / "my shot.png").write_bytes(png())
        path = str(tmp_path / "my shot.png").replace(" ", "\\ ")
        desk.screen.prompt.editor.post_message(events.Paste(path))
        await desk.until(lambda: desk.prompt_text == "[image #1 64x48] ")
        desk.screen.prompt.editor.post_message(events.Paste("/nowhere/x.png"))
        await desk.until(lambda: desk.prompt_text.endswith("/nowhere/x.png"))


async def test_a_picture_named_after_an_at_sign_is_sent_too(open_desk: Any, options: Any) -> None:
    (options.work_dir / "shot.png").write_bytes(png(8, 9))
    async with open_desk(session=SEEING) as desk:
        await desk.write("look at @shot.png please")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt))
        text, picture = desk.told(Prompt)[0].user_input
        assert text.text == "look at @shot.png [image #1 8x9] please"
        assert picture.image_url.url == url(png(8, 9))


async def test_what_is_no_picture_is_refused_in_words(open_desk: Any, tmp_path: Path) -> None:
    async with open_desk(session=SEEING) as desk:
        (tmp_path / "fake.png").write_text("no picture")
        desk.screen.prompt.editor.post_message(events.Paste(str(tmp_path / "fake.png")))
        await desk.until(lambda: "is no picture that can be read" in desk.toasts())
        assert desk.prompt_text == ""


async def test_an_empty_clipboard_says_so(open_desk: Any) -> None:
    async with open_desk(session=SEEING) as desk:
        await desk.pilot.press("ctrl+v")
        await desk.until(lambda: "neither text nor a picture" in desk.toasts())


async def test_a_picture_is_shown_in_the_conversation(open_desk: Any) -> None:
    async with open_desk(session=SEEING) as desk:
        album = Album()
        album.add(Photo(data=png(), media_type="image/png", size=(64, 48)))
        await desk.say(TurnBegin(album.unfold("see [image #1 64x48]")))
        assert "▀▀▀▀" in desk.shown()
        assert "see [image #1 64x48]" in desk.shown()


def test_a_thumbnail_keeps_its_shape_and_fits() -> None:
    lines = thumbnail(url(png(400, 100)), 100)
    assert (len(lines), lines[0].cells) == (5, COLUMNS)
    assert len(thumbnail(url(png(10, 4000)), 100)) == ROWS
    assert lines[0].spans[0][1].roles == ("#ff0000", "on #ff0000")


@pytest.mark.parametrize(
    "address",
    ["https://x/y.png", "data:image/png;base64,AAAA", "data:image/png;base64,§", "data:text/plain,x"],
)
def test_what_can_not_be_shown_has_no_thumbnail(address: str) -> None:
    assert thumbnail(address, 80) == []


def test_pictures_of_a_draft_outlive_the_process(tmp_path: Path) -> None:
    store = DraftStore(share_dir=tmp_path / "share", work_dir=tmp_path, pid=2**22 + 1)
    photo = Photo(data=png(), media_type="image/png", size=(64, 48))
    store.keep_picture(3, photo)
    store.save(Draft("see [image #3 64x48]"))
    later = DraftStore(share_dir=tmp_path / "share", work_dir=tmp_path)
    orphan = later.orphan()
    assert orphan is not None
    assert (orphan.draft, orphan.pictures) == (Draft("see [image #3 64x48]"), ((3, photo),))
    assert later.claim(orphan)
    later.save(Draft(""))
    assert not list((tmp_path / "share" / "drafts").iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_file_of_pictures_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    for name in ("pipe.png", "folder.png", "zero.png", "gone.png"):
        with pytest.raises(KimiTuiError, match="There is no file"):
            photo_in(tmp_path / name)
    (tmp_path / "link.png").symlink_to(tmp_path / "real.png")
    (tmp_path / "real.png").write_bytes(png())
    assert photo_in(tmp_path / "link.png").size == (64, 48)


def test_paths_are_read_as_terminals_paste_them(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(b"")
    plain = str(tmp_path / "a b.png")
    for text in (
        plain,
        f"'{plain}'",
        plain.replace(" ", "\\ "),
        f"file://{plain.replace(' ', '%20')}",
        f" {plain}\n",
    ):
        assert picture_path(text, Path("/")) == tmp_path / "a b.png"
    for text in ("", "a.png\nb.png", "/nowhere.png", "x" * 9000, "\0.png", "'", str(tmp_path)):
        assert picture_path(text, Path("/")) is None
    assert mentioned('see @"a b.png" and x@a.png', tmp_path) == {'@"a b.png"': tmp_path / "a b.png"}


def placed(lines: list[Line]) -> list[list[tuple[int, int]]]:
    """The rows and columns that placeholders name."""
    rows = []
    for line in lines:
        cells = line.text.split("\U0010eeee")[1:]
        rows.append([(MARKS.index(ord(cell[0])), MARKS.index(ord(cell[1]))) for cell in cells])
    return rows


def test_kitty_gets_a_picture_once_and_placeholders_for_each_of_its_cells() -> None:
    sent: list[str] = []
    pictures = Pictures("kitty", send=sent.append)
    lines = pictures.rows(url(png(400, 200)), 100)
    assert pictures.rows(url(png(400, 200)), 100) == lines
    assert len(sent) == 1
    [first, *others] = sent[0].split("\x1b\\")[:-1]
    head, _, data = first.partition(";")
    asked = dict(pair.split("=") for pair in head.removeprefix("\x1b_G").split(","))
    assert (asked["a"], asked["U"], asked["f"], asked["q"]) == ("T", "1", "100", "2")
    columns, rows = int(asked["c"]), int(asked["r"])
    assert (columns, rows) == (COLUMNS, ROWS)
    assert placed(lines) == [[(row, column) for column in range(columns)] for row in range(rows)]
    assert {line.cells for line in lines} == {columns}
    [role] = {role for line in lines for _, ink in line.spans for role in ink.roles}
    assert role == f"#{int(asked['i']):06x}"
    data += "".join(other.partition(";")[2] for other in others)
    with Image.open(BytesIO(base64.b64decode(data))) as image:
        assert image.size == (400, 200)


def test_a_picture_leaves_the_terminal_when_nobody_looks_at_it_any_more() -> None:
    sent: list[str] = []
    pictures = Pictures("kitty", send=sent.append)
    pictures.rows(url(png(40, 40)), 100)
    pictures.forget()
    number = sent[0].partition("i=")[2].partition(",")[0]
    assert sent[1] == f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


def test_within_tmux_each_sequence_is_passed_on() -> None:
    sent: list[str] = []
    Pictures("kitty", send=sent.append, in_tmux=True).rows(url(png(400, 200)), 100)
    assert sent[0].startswith("\x1bPtmux;\x1b\x1b_G")
    assert sent[0].count("\x1bPtmux;") == sent[0].count("\x1b\x1b_G")


@pytest.mark.parametrize("address", ["https://example.org/a.png", "data:image/png;base64,!!!", "data:,x", ""])
def test_what_is_no_picture_is_not_sent(address: str) -> None:
    sent: list[str] = []
    assert Pictures("kitty", send=sent.append).rows(address, 80) == []
    assert Pictures("off", send=sent.append).rows(url(png(4, 4)), 80) == []
    assert sent == []


@pytest.mark.parametrize(
    ("wish", "environment", "means"),
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
def test_pictures_are_shown_by_what_the_terminal_can(
    wish: Images, environment: Mapping[str, str], means: str
) -> None:
    assert means_for(wish, environment) == means
