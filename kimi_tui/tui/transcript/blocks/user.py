"""What the user said."""

from kimi_tui.base.content import (
    ContentPart,
    ImageURLPart,
    TextPart,
    UserInput,
    as_parts,
    is_system_note,
    text_of,
)
from kimi_tui.language.saying import later, say
from kimi_tui.tui.images.showing import rows_of
from kimi_tui.tui.images.thumbnail import ROWS
from kimi_tui.tui.markdown.line import BLANK, Line, Spans, ink, span_width
from kimi_tui.tui.transcript.blocks.block import Block, guessed_rows, prose
from kimi_tui.tui.transcript.blocks.media import described
from kimi_tui.tui.transcript.piece import Piece

_BAR: Spans = (("▌ ", ink("user-bar")),)


class UserBlock(Block):
    """A prompt, or what the user threw in while a turn ran; its pictures below it."""

    label = later("you")

    def __init__(self, user_input: UserInput, *, steering: bool = False, margin: Spans = ()) -> None:
        super().__init__(margin=margin)
        parts = [part for part in as_parts(user_input) if _is_shown(part)]
        said = text_of(parts)
        self.text = "\n".join(_shown(part) for part in parts if not _is_named(part, said))
        self.steering = steering
        self.pieces = [self.piece(self._words, gap=1, guess=1 + guessed_rows(self.text))]
        self.pieces += [self._picture(part) for part in parts if isinstance(part, ImageURLPart)]

    def refold(self) -> None:
        """Lay it out again, for what stands above it has changed."""
        self.pieces[0].gap = self.head_gap
        self.pieces[0].redraw()

    def _words(self, width: int) -> list[Line]:
        # A line that says who speaks, then the words behind a bar.
        speaker = say("you, meanwhile") if self.steering else say("you")
        return [
            Line((*_BAR, (speaker, ink("user-bar"))), margin=2),
            *prose(self.text, width, ink("user"), margin=_BAR),
        ]

    def _picture(self, part: ImageURLPart) -> Piece:
        def draw(width: int) -> list[Line]:
            rows = rows_of(part.image_url.url, width - span_width(_BAR))
            return [row.indented(_BAR) for row in rows] or [BLANK]

        return self.piece(draw, guess=ROWS)

    def source(self) -> str:
        """The words."""
        return self.text

    @property
    def title(self) -> str:
        """The first words."""
        words = self.text.strip()
        return say("you: {words}", words=words.splitlines()[0] if words else "")


def _is_shown(part: ContentPart) -> bool:
    return not (isinstance(part, TextPart) and is_system_note([part]))


def _is_named(part: ContentPart, said: str) -> bool:
    # Whether its token stands in the words already.
    return isinstance(part, ImageURLPart) and f"[image #{part.image_url.id} " in said


def _shown(part: ContentPart) -> str:
    return part.text if isinstance(part, TextPart) else f"[{described(part)}]"
