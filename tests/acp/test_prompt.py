"""What a client prompts with, as the model gets it."""

import base64

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from kimi_tui.acp.prompt import user_input_of
from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart


def text(words: str) -> TextContentBlock:
    return TextContentBlock(type="text", text=words)


def test_text_alone_is_a_string() -> None:
    assert user_input_of([text("fix "), text("it")]) == "fix it"


def test_an_image_stands_where_it_was() -> None:
    image = ImageContentBlock(type="image", mime_type="image/png", data="QUJD")
    assert user_input_of([text("see "), image, text(" there")]) == (
        TextPart("see "),
        ImageURLPart(MediaURL("data:image/png;base64,QUJD")),
        TextPart(" there"),
    )


def test_a_link_to_a_file_is_its_path_and_another_one_its_address() -> None:
    file = ResourceContentBlock(type="resource_link", name="a b.py", uri="file:///src/a%20b.py#L3-9")
    page = ResourceContentBlock(type="resource_link", name="docs", uri="https://x.org/d")
    assert user_input_of([text("compare "), file, text(" and "), page]) == (
        "compare `/src/a b.py` (L3-9) and [docs](https://x.org/d)"
    )


def test_what_an_embedded_resource_holds_comes_after_the_words() -> None:
    resource = EmbeddedResourceContentBlock(
        type="resource", resource=TextResourceContents(uri="file:///a.py", text="x = 1")
    )
    assert user_input_of([text("mend "), resource, text(" please")]) == (
        'mend `/a.py` please\n\n<context ref="/a.py">\nx = 1\n</context>'
    )


def test_embedded_bytes_are_a_picture_or_are_left_out_with_a_word() -> None:
    data = base64.b64encode(b"abc").decode()
    picture = BlobResourceContents(uri="file:///p.png", mime_type="image/png", blob=data)
    archive = BlobResourceContents(uri="file:///a.zip", mime_type="application/zip", blob=data)
    said = user_input_of(
        [EmbeddedResourceContentBlock(type="resource", resource=it) for it in (picture, archive)]
    )
    assert isinstance(said, tuple)
    assert [type(part).__name__ for part in said] == ["TextPart", "ImageURLPart", "TextPart"]
    assert isinstance(said[2], TextPart)
    assert "3 bytes of application/zip" in said[2].text


def test_a_sound_is_said_to_be_there() -> None:
    sound = AudioContentBlock(type="audio", mime_type="audio/wav", data="QUJD")
    said = user_input_of([sound])
    assert isinstance(said, str)
    assert "sound" in said
