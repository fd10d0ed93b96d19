"""Decoding of tagged unions and of messages, without an early import of pydantic."""

import subprocess
import sys

import pytest

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, MediaURL, TextPart
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message import Message
from kimi_tui.wire.display_blocks import BriefBlock, UnknownBlock
from kimi_tui.wire.events import ToolReturn


def test_a_part_is_decoded_by_its_type():
    image = ImageURLPart(MediaURL("https://example.org/a.png", "1"))
    assert from_jsonable(ContentPart, to_jsonable(image)) == image


@pytest.mark.parametrize("data", [{"type": "unknown"}, {"type": "text"}, {}])
def test_a_part_with_an_unknown_type_or_missing_fields_is_an_error(data):
    with pytest.raises(ValueError, match="tagged-union"):
        from_jsonable(ContentPart, data)


def test_a_display_block_of_a_newer_version_is_kept_as_unknown():
    blocks = [{"type": "brief", "text": "done"}, {"type": "chart", "data": {"x": 1}}]
    decoded = from_jsonable(ToolReturn, {"display": blocks}).display
    assert decoded == (BriefBlock("done"), UnknownBlock({"x": 1}, "chart"))


@pytest.mark.parametrize(("content", "parts"), [("hi", (TextPart("hi"),)), (None, ()), ("", ())])
def test_the_content_of_a_message_can_be_a_string_or_missing(content, parts):
    assert from_jsonable(Message, {"role": "user", "content": content}).content == parts


def test_wire_messages_are_imported_without_pydantic():
    code = "import sys, kimi_tui.wire.channel, kimi_tui.wire.codec; print('pydantic' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "False"
