"""Content blocks for clients: text, code, images and diffs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import assert_never

from acp.schema import (
    AudioContentBlock,
    ContentToolCallContent,
    FileEditToolCallContent,
    ImageContentBlock,
    ResourceContentBlock,
    TerminalToolCallContent,
    TextContentBlock,
)

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    as_parts,
)
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.wire.display_blocks import (
    BackgroundTaskBlock,
    BriefBlock,
    DiffBlock,
    DisplayBlock,
    ShellBlock,
    TodoBlock,
    UnknownBlock,
)
from kimi_tui.wire.events import ToolReturn

ContentBlock = TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock
ToolCallContent = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

MAX_OUTPUT_CHARS = 20_000
"""Maximum characters of a tool call's output to send to a client."""
_DATA_URL = re.compile(r"data:(?P<mime>[\w.+/-]+);base64,(?P<data>.*)", re.DOTALL)


def text_block(text: str) -> TextContentBlock:
    """Return a text block. Clients render it as Markdown."""
    return TextContentBlock(type="text", text=text)


def to_block(part: ContentPart) -> ContentBlock:
    """Return a part of a message as a content block."""
    match part:
        case TextPart(text=text) | ThinkPart(think=text):
            return text_block(text)
        case ImageURLPart(image_url=url):
            if (data_url := _DATA_URL.fullmatch(url.url)) is not None:
                return ImageContentBlock(type="image", mime_type=data_url["mime"], data=data_url["data"])
            return ResourceContentBlock(type="resource_link", name="image", uri=url.url)
        case AudioURLPart(audio_url=url):
            if (data_url := _DATA_URL.fullmatch(url.url)) is not None:
                return AudioContentBlock(type="audio", mime_type=data_url["mime"], data=data_url["data"])
            return ResourceContentBlock(type="resource_link", name="audio", uri=url.url)
        case VideoURLPart(video_url=url):
            return ResourceContentBlock(type="resource_link", name="video", uri=url.url)
        case _:
            assert_never(part)


def build_code_block(text: str, language: str = "") -> str:
    """Return `text` as a Markdown code block. If `text` exceeds MAX_OUTPUT_CHARS, its beginning is cut.

    The fence is longer than any fence in `text`.
    """
    text = sanitize(text)
    if len(text) > MAX_OUTPUT_CHARS:
        cut = len(text) - MAX_OUTPUT_CHARS
        text = f"[… {cut:,} characters omitted …]\n{text[cut:]}"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def as_tool_call_content(block: ContentBlock) -> ContentToolCallContent:
    """Return `block` as content of a tool call."""
    return ContentToolCallContent(type="content", content=block)


def display_content(display: Iterable[DisplayBlock], *, work_dir: Path) -> Iterator[ToolCallContent]:
    """Yield the content of a tool call that awaits approval. Todo lists are sent as plan updates instead."""
    for block in display:
        match block:
            case BriefBlock(text=text):
                yield as_tool_call_content(text_block(text))
            case DiffBlock(is_summary=True):
                yield as_tool_call_content(text_block(f"`{block.path}`: {block.old_text} → {block.new_text}"))
            case DiffBlock():
                yield FileEditToolCallContent(
                    type="diff",
                    path=str(work_dir / block.path),
                    old_text=block.old_text or None,
                    new_text=block.new_text,
                )
            case ShellBlock(command=command, language=language, danger=danger):
                warning = f"\n\n⚠ {danger}" if danger else ""
                yield as_tool_call_content(text_block(build_code_block(command, language) + warning))
            case BackgroundTaskBlock():
                yield as_tool_call_content(text_block(f"{block.description} ({block.status})"))
            case TodoBlock():
                pass
            case UnknownBlock(data=data):
                yield as_tool_call_content(text_block(build_code_block(str(data))))
            case _:
                assert_never(block)


def result_content(result: ToolReturn, *, work_dir: Path) -> list[ToolCallContent]:
    """Return the content of a finished tool call: changes or text output, otherwise brief or message."""
    changes = [block for block in result.display if isinstance(block, DiffBlock | BackgroundTaskBlock)]
    content = list(display_content(changes, work_dir=work_dir))
    parts = as_parts(result.output)
    if not content:
        text = "".join(part.text for part in parts if isinstance(part, TextPart))
        if text.strip():
            content.append(as_tool_call_content(text_block(build_code_block(text))))
    content += [
        as_tool_call_content(to_block(part)) for part in parts if not isinstance(part, TextPart | ThinkPart)
    ]
    if result.is_error or not content:
        brief = next((block.text for block in result.display if isinstance(block, BriefBlock)), "")
        text = result.message if result.is_error else brief or result.message
        if text:
            content.insert(0, as_tool_call_content(text_block(sanitize(text))))
    return content
