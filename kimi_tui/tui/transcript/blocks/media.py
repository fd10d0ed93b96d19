"""What an image, sound or film is called where it can't be shown."""

from kimi_tui.base.content import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    MediaURL,
    TextPart,
    ThinkPart,
    VideoURLPart,
)
from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say


def described(part: ContentPart) -> str:
    """A few words for `part`: its kind, its format and size when it carries its data, else its address."""
    match part:
        case TextPart(text=text):
            return text
        case ThinkPart(think=think):
            return think
        case ImageURLPart(image_url=url):
            return say("image {what}", what=_medium(url))
        case AudioURLPart(audio_url=url):
            return say("sound {what}", what=_medium(url))
        case VideoURLPart(video_url=url):
            return say("film {what}", what=_medium(url))


def _medium(url: MediaURL) -> str:
    name = f"#{plain_line(url.id)} " if url.id else ""
    if not url.url.startswith("data:"):
        return f"{name}{plain_line(url.url[:200])}"
    header, _, data = url.url.partition(",")
    media_type = header.removeprefix("data:").partition(";")[0]
    return f"{name}{plain_line(media_type.rpartition('/')[2])} {max(1, len(data) * 3 // 4096)} kB"
