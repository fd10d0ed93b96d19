"""Pictures that go along with a prompt: attached by a command, or named after `@`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tui.images.album import Album, Photo
from kimi_tui.tui.images.reading import mentioned, photo_in
from kimi_tui.wire.events import SessionInfo


class Pictures:
    """Those of a run, and those that wait for the next prompt."""

    def __init__(self, work_dir: Path) -> None:
        self._work_dir = work_dir
        self._album = Album()
        self._waiting: list[str] = []

    @property
    def photos(self) -> Mapping[int, Photo]:
        """All of them by number, in the order in which they came."""
        return self._album.photos

    @property
    def waiting(self) -> Sequence[str]:
        """The tokens of those that wait for the next prompt."""
        return self._waiting

    def put_back(self, photos: Iterable[tuple[int, Photo]]) -> None:
        """Take those over that a draft names, by the numbers that it gives them."""
        for number, photo in photos:
            self._album.add(photo, number=number)

    def attach(self, path: str) -> str:
        """Keep a picture for the next prompt; the token that stands for it. Raises KimiTuiError."""
        token = self._token(self._work_dir / Path(path.strip("\"'")).expanduser())
        self._waiting.append(token)
        return token

    def with_text(self, text: str, session: SessionInfo | None) -> UserInput:
        """`text` with the pictures that it names and those that wait, as it is sent. Raises KimiTuiError."""
        for mention, path in mentioned(text, self._work_dir).items():
            text = text.replace(mention, self._token(path))
        text = " ".join([text, *self._waiting])
        if self._album.named_in(text) and session is not None and "image_in" not in session.capabilities:
            raise KimiTuiError(f"{session.model} takes no pictures.", hint="Choose a model that does.")
        self._waiting = []
        return self._album.unfold(text)

    def _token(self, path: Path) -> str:
        return self._album.add(photo_in(path))[1]
