"""Text labels for images, audio and video."""

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    MediaURL,
    TextPart,
    ThinkPart,
    VideoURLPart,
)
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr


def media_label(part: ContentPart) -> str:
    """Return a label for `part`: its kind, and either its URL or the format and size of its data."""
    match part:
        case TextPart(text=text):
            return text
        case ThinkPart(think=think):
            return think
        case ImageURLPart(image_url=url):
            return tr("image {details}", details=_url_label(url))
        case AudioURLPart(audio_url=url):
            return tr("audio {details}", details=_url_label(url))
        case VideoURLPart(video_url=url):
            return tr("video {details}", details=_url_label(url))


def _url_label(url: MediaURL) -> str:
    name = f"#{sanitize_line(url.id)} " if url.id else ""
    if not url.url.startswith("data:"):
        return f"{name}{sanitize_line(url.url[:200])}"
    header, _, data = url.url.partition(",")
    media_type = header.removeprefix("data:").partition(";")[0]
    return f"{name}{sanitize_line(media_type.rpartition('/')[2])} {max(1, len(data) * 3 // 4096)} kB"
