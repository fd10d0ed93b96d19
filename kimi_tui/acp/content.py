"""Content blocks that clients show: text, fenced text, pictures, diffs."""

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

from kimi_tui.base.content import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    as_parts,
)
from kimi_tui.base.terminal import plain
from kimi_tui.wire.display import (
    BackgroundTaskBlock,
    BriefBlock,
    DiffBlock,
    DisplayBlock,
    ShellBlock,
    TodoBlock,
    UnknownBlock,
)
from kimi_tui.wire.events import ToolReturn

Block = TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock
CallContent = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

LONGEST_OUTPUT = 20_000
"""Characters of one output that a client is shown."""
_DATA_URL = re.compile(r"data:(?P<mime>[\w.+/-]+);base64,(?P<data>.*)", re.DOTALL)


def text(words: str) -> TextContentBlock:
    """Words, which a client reads as Markdown."""
    return TextContentBlock(type="text", text=words)


def block_of(part: ContentPart) -> Block:
    """A part of a message as a client shows it."""
    match part:
        case TextPart(text=words) | ThinkPart(think=words):
            return text(words)
        case ImageURLPart(image_url=url):
            if (found := _DATA_URL.fullmatch(url.url)) is not None:
                return ImageContentBlock(type="image", mime_type=found["mime"], data=found["data"])
            return ResourceContentBlock(type="resource_link", name="image", uri=url.url)
        case AudioURLPart(audio_url=url):
            if (found := _DATA_URL.fullmatch(url.url)) is not None:
                return AudioContentBlock(type="audio", mime_type=found["mime"], data=found["data"])
            return ResourceContentBlock(type="resource_link", name="sound", uri=url.url)
        case VideoURLPart(video_url=url):
            return ResourceContentBlock(type="resource_link", name="film", uri=url.url)
        case _:
            assert_never(part)


def fenced(words: str, language: str = "") -> str:
    """`words` as a block of Markdown that nothing in them can end; the end of them when they are long."""
    words = plain(words)
    if len(words) > LONGEST_OUTPUT:
        cut = len(words) - LONGEST_OUTPUT
        words = f"[… {cut:,} characters before this are not shown …]\n{words[cut:]}"
    longest = max((len(run) for run in re.findall("`+", words)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{words.rstrip()}\n{fence}"


def in_call(block: Block) -> ContentToolCallContent:
    """`block` as content of a tool call."""
    return ContentToolCallContent(type="content", content=block)


def shown(display: Iterable[DisplayBlock], *, work_dir: Path) -> Iterator[CallContent]:
    """What is to be shown of a call that is asked for. A todo list is shown as the plan."""
    for block in display:
        match block:
            case BriefBlock(text=words):
                yield in_call(text(words))
            case DiffBlock(is_summary=True):
                yield in_call(text(f"`{block.path}`: {block.old_text} → {block.new_text}"))
            case DiffBlock():
                yield FileEditToolCallContent(
                    type="diff",
                    path=str(work_dir / block.path),
                    old_text=block.old_text or None,
                    new_text=block.new_text,
                )
            case ShellBlock(command=command, language=language, danger=danger):
                warning = f"\n\n⚠ {danger}" if danger else ""
                yield in_call(text(fenced(command, language) + warning))
            case BackgroundTaskBlock():
                yield in_call(text(f"{block.description} ({block.status})"))
            case TodoBlock():
                pass
            case UnknownBlock(data=data):
                yield in_call(text(fenced(str(data))))
            case _:
                assert_never(block)


def result_content(result: ToolReturn, *, work_dir: Path) -> list[CallContent]:
    """What is shown of a call that ended: its changes, else its output, else what it says of itself."""
    changes = [block for block in result.display if isinstance(block, DiffBlock | BackgroundTaskBlock)]
    content = list(shown(changes, work_dir=work_dir))
    parts = as_parts(result.output)
    if not content:
        words = "".join(part.text for part in parts if isinstance(part, TextPart))
        if words.strip():
            content.append(in_call(text(fenced(words))))
    content += [in_call(block_of(part)) for part in parts if not isinstance(part, TextPart | ThinkPart)]
    if result.is_error or not content:
        brief = next((block.text for block in result.display if isinstance(block, BriefBlock)), "")
        words = result.message if result.is_error else brief or result.message
        if words:
            content.insert(0, in_call(text(plain(words))))
    return content
