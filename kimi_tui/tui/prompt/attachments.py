"""The attachments: pictures that go along with what the prompt sends."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from textual.widget import Widget

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.errors import told
from kimi_tui.language.saying import say
from kimi_tui.tui.images.album import Album, Photo
from kimi_tui.tui.images.reading import mentioned, photo_in
from kimi_tui.tui.prompt.drafts import DraftStore
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.wire.events import SessionInfo


class Attachments:
    """Reads pictures, and puts the tokens that stand for them into the editor."""

    def __init__(
        self,
        *,
        owner: Widget,
        editor: Callable[[], PromptEditor],
        session: Callable[[], SessionInfo | None],
        drafts: DraftStore,
        work_dir: Path,
    ) -> None:
        """`owner` is the widget that tells the user what can't be attached."""
        self._owner = owner
        self._editor = editor
        self._session = session
        self._drafts = drafts
        self._work_dir = work_dir
        self.album = Album()

    async def attach(self, read: Callable[[], Photo]) -> None:
        """Put a picture into the prompt; `read` is called in a thread and may raise KimiTuiError."""
        try:
            photo = await asyncio.to_thread(read)
        except KimiTuiError as error:
            self._owner.notify(plain(told(error)), severity="error", markup=False)
            return
        token = self._keep(photo)
        self._editor().insert_token(token)
        session = self._session()
        if session is not None and "image_in" not in session.capabilities:
            what = say(
                "{model} takes no pictures. Choose another model, or remove {token}.",
                model=plain_line(session.model),
                token=token,
            )
            self._owner.notify(what, severity="warning", markup=False)

    async def with_pictures(self, text: str) -> str:
        """`text` with a token behind each picture that it names after an `@`. Raises KimiTuiError."""
        found = await asyncio.to_thread(mentioned, text, self._work_dir)
        for mention, path in found.items():
            token = self._keep(await asyncio.to_thread(photo_in, path))
            text = text.replace(mention, f"{mention} {token}", 1)
        return text

    def put_back(self, photos: Iterable[tuple[int, Photo]]) -> None:
        """Take those over that a draft names, by the numbers that it gives them."""
        for number, photo in photos:
            self.album.add(photo, number=number)

    def _keep(self, photo: Photo) -> str:
        number, token = self.album.add(photo)
        self._drafts.keep_picture(number, photo)
        return token
