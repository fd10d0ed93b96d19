"""What the user said."""

from kimi_tui.base.content import ContentPart, TextPart, UserInput, as_parts, is_system_note
from kimi_tui.tui.markdown.line import Line, Spans, ink
from kimi_tui.tui.transcript.blocks.block import SinglePieceBlock, guessed_rows, prose
from kimi_tui.tui.transcript.blocks.media import described

_BAR: Spans = (("▌ ", ink("user-bar")),)


class UserBlock(SinglePieceBlock):
    """A prompt, or what the user threw in while a turn ran."""

    label = "you"

    def __init__(self, user_input: UserInput, *, steering: bool = False, margin: Spans = ()) -> None:
        self.text = "\n".join(_shown(part) for part in as_parts(user_input) if _is_shown(part))
        self.steering = steering
        super().__init__(margin=margin, guess=1 + guessed_rows(self.text))

    def lines(self, width: int) -> list[Line]:
        """A line that says who speaks, then the words behind a bar."""
        speaker = "you, meanwhile" if self.steering else "you"
        return [
            Line((*_BAR, (speaker, ink("user-bar"))), margin=2),
            *prose(self.text, width, ink("user"), margin=_BAR),
        ]

    def source(self) -> str:
        """The words."""
        return self.text

    @property
    def title(self) -> str:
        """The first words."""
        return f"you: {self.text.strip().splitlines()[0] if self.text.strip() else ''}"


def _is_shown(part: ContentPart) -> bool:
    return not (isinstance(part, TextPart) and is_system_note([part]))


def _shown(part: ContentPart) -> str:
    return part.text if isinstance(part, TextPart) else f"[{described(part)}]"
