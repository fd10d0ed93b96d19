"""Thumbnails of the images in the prompt."""

from collections.abc import Mapping

from textual import events

from kimi_tui.frontend.image_attachments import IMAGE_TOKEN, AttachedImage, ImageAttachments
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.images.renderer import render_image
from kimi_tui.tui.markdown.styled_line import Span, Spans, StyledLine, TextStyle, span_width, text_style
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.transcript.render_cache import GUTTER
from kimi_tui.tui.widgets.line_view import LineView

_COLUMNS = 16
_ROWS = 4
"""Maximum height of a thumbnail, in rows."""
_GAP: Span = ("   ", text_style())


class AttachmentPreviews(LineView):
    """Shows the images whose tokens the editor contains, next to each other."""

    DEFAULT_CSS = """
    AttachmentPreviews { height: auto; max-height: 4; }
    """
    ALLOW_SELECT = False

    def __init__(self, *, editor: PromptEditor, attached: ImageAttachments) -> None:
        super().__init__(self)
        self._editor = editor
        self._attached = attached
        self._shown: Mapping[int, AttachedImage] = {}

    def update_images(self) -> None:
        """Show the images of the editor's text."""
        images = self._attached.find_named(self._editor.text)
        if list(images) != list(self._shown):
            self._shown = images
            self.redraw()

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the thumbnails with their captions. The last caption has the number of omitted images."""
        rows: list[Spans] = [()] * _ROWS
        for index, (number, image) in enumerate(self._shown.items()):
            block = _image_rows(number, image)
            more: Spans = ((tr("{count} more", count=len(self._shown) - index), text_style("dim")),)
            is_last = index == len(self._shown) - 1
            needed = span_width(block[0]) + (0 if is_last else span_width((_GAP, *more)))
            if index and span_width(rows[0]) + needed > width:
                rows[0] += more
                break
            gap = () if is_last else (_GAP,)
            rows = [(*row, *part, *gap) for row, part in zip(rows, block, strict=True)]
        return [StyledLine(row) for row in rows] if rows[0] else []

    def on_click(self, event: events.Click) -> None:
        """Remove the image whose ✕ is clicked. Undo in the editor restores its token."""
        line = self.lines[event.y] if event.y < len(self.lines) else StyledLine()
        if number := line.link_at(event.x - GUTTER):
            self._remove(number)
        self._editor.focus()

    def _remove(self, number: str) -> None:
        for row, text in enumerate(self._editor.text.split("\n")):
            for token in reversed(list(IMAGE_TOKEN.finditer(text))):
                if token[1] == number:
                    end = token.end() + text[token.end() :].startswith(" ")
                    self._editor.delete((row, token.start()), (row, end), maintain_selection_offset=True)


def _image_rows(number: int, image: AttachedImage) -> list[Spans]:
    """Return the rows of one image: thumbnail, number, size, and ✕ to remove it."""
    thumbnail = [line.spans for line in render_image(image.url, _COLUMNS, max_rows=_ROWS)]
    thumbnail_width = max(map(span_width, thumbnail), default=0)
    width, height = image.size
    captions: list[Span] = [
        (f"#{number}", text_style("strong")),
        (f"{width}x{height}", text_style("dim")),
        ("", text_style()),
        ("✕ " + tr("remove"), TextStyle(("dim",), str(number))),
    ]
    caption_width = max(span_width((caption,)) for caption in captions)
    rows: list[Spans] = []
    for index, caption in enumerate(captions):
        spans = thumbnail[index] if index < len(thumbnail) else ()
        gap = thumbnail_width - span_width(spans) + (1 if thumbnail_width else 0)
        pad = caption_width - span_width((caption,))
        rows.append((*spans, (" " * gap, text_style()), caption, (" " * pad, text_style())))
    return rows
