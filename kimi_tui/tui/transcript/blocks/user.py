"""Block for a message of the user."""

from kimi_tui.base.content_parts import (
    ContentPart,
    ImageURLPart,
    TextPart,
    UserInput,
    as_parts,
    is_system_note,
    text_of,
)
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.images.renderer import render_image
from kimi_tui.tui.images.thumbnail import MAX_ROWS
from kimi_tui.tui.markdown.styled_line import BLANK, Spans, StyledLine, span_width, text_style
from kimi_tui.tui.transcript.blocks.block import Block, estimate_rows, wrap_text
from kimi_tui.tui.transcript.blocks.media_label import media_label
from kimi_tui.tui.transcript.render_cache import Piece

_BAR: Spans = (("▌ ", text_style("user-bar")),)


class UserBlock(Block):
    """Prompt or steering message, with its images below."""

    label = tr_lazy("you")

    def __init__(self, user_input: UserInput, *, is_steer: bool = False, margin: Spans = ()) -> None:
        super().__init__(margin=margin)
        parts = [part for part in as_parts(user_input) if _is_shown(part)]
        text = text_of(parts)
        self.text = "\n".join(_part_text(part) for part in parts if not _is_named(part, text))
        self.is_steer = is_steer
        self.pieces = [self.create_piece(self._text_lines, gap=1, guess=1 + estimate_rows(self.text))]
        self.pieces += [self._create_image_piece(part) for part in parts if isinstance(part, ImageURLPart)]

    def refold(self) -> None:
        """Lay out the text again, because the gap above may have changed."""
        self.pieces[0].gap = self.head_gap
        self.pieces[0].redraw()

    def _text_lines(self, width: int) -> list[StyledLine]:
        # A row with the speaker, then the text after a bar.
        speaker = tr("you (steering)") if self.is_steer else tr("you")
        return [
            StyledLine((*_BAR, (speaker, text_style("user-bar"))), margin=2),
            *wrap_text(self.text, width, text_style("user"), margin=_BAR),
        ]

    def _create_image_piece(self, part: ImageURLPart) -> Piece:
        def draw(width: int) -> list[StyledLine]:
            rows = render_image(part.image_url.url, width - span_width(_BAR))
            return [row.indent(_BAR) for row in rows] or [BLANK]

        return self.create_piece(draw, guess=MAX_ROWS)

    def source(self) -> str:
        """Return the text."""
        return self.text

    @property
    def title(self) -> str:
        """Label with the first line."""
        text = self.text.strip()
        return tr("you: {text}", text=text.splitlines()[0] if text else "")


def _is_shown(part: ContentPart) -> bool:
    return not (isinstance(part, TextPart) and is_system_note([part]))


def _is_named(part: ContentPart, text: str) -> bool:
    # Whether the text already contains the image's token.
    return isinstance(part, ImageURLPart) and f"[image #{part.image_url.id} " in text


def _part_text(part: ContentPart) -> str:
    return part.text if isinstance(part, TextPart) else f"[{media_label(part)}]"
