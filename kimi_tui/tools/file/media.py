"""ReadMediaFile: a picture or a film, for models that can see it."""

import asyncio
import os
from base64 import b64encode
from typing import Protocol

from pydantic import Field

from kimi_tui.base.content import ContentPart, ImageURLPart, MediaURL, VideoURLPart
from kimi_tui.base.errors import FileProblem
from kimi_tui.base.picture import BadPicture, Picture, picture_of
from kimi_tui.base.value import value
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.encoding import encoding_of
from kimi_tui.tools.file.regular import file_problem, open_regular
from kimi_tui.tools.file.secrets import consent_to_read
from kimi_tui.tools.file.size import readable_size
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.workspace import Located, Workspace
from kimi_tui.wire.events import ToolReturn

_MOST_BYTES = 100_000_000
_BLIND = "The model in use can't see {what}."
_BLIND_HINT = "Work without it, or ask the user to choose a model that can."


class ModelSenses(Protocol):
    """What the model in use takes."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Among `image_in` and `video_in`, as they are now: the user may change the model."""
        ...


class ReadMediaFileParams(ToolParams):
    """What to look at."""

    path: str = Field(description="The picture or film: relative to the work dir, or absolute.")


@value
class _Medium:
    part: ContentPart
    what: str


class ReadMediaFile(Tool[ReadMediaFileParams]):
    """Shows the model a picture or a film."""

    name = "ReadMediaFile"
    Params = ReadMediaFileParams

    def __init__(
        self,
        workspace: Workspace,
        approval: Approval,
        senses: ModelSenses,
        *,
        limit: int = _MOST_BYTES,
    ) -> None:
        self._workspace = workspace
        self._approval = approval
        self._senses = senses
        self._limit = limit

    async def run(self, params: ReadMediaFileParams, call: RunningCall) -> ToolReturn:
        """The medium itself; the message says what it is and how it was scaled."""
        senses = self._senses.capabilities
        try:
            if "image_in" not in senses:
                raise FileProblem(_BLIND.format(what="pictures"), hint=_BLIND_HINT)
            file = self._workspace.locate(params.path)
            await consent_to_read(file, call, self._approval)
            medium = await asyncio.to_thread(self._read, file, sees_films="video_in" in senses)
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)
        return ok((medium.part,), message=f"{file.shown}: {medium.what}.", brief=medium.what)

    def _read(self, file: Located, *, sees_films: bool) -> _Medium:
        data = self._bytes_of(file)
        film = _film_type(data)
        if film is not None:
            if not sees_films:
                raise FileProblem(
                    _BLIND.format(what="films"),
                    hint="Take single pictures out of it with a shell command (ffmpeg) and look at those.",
                )
            shown = VideoURLPart(MediaURL(_data_url(film, data)))
            return _Medium(shown, f"a film ({film}), {readable_size(len(data))}")
        try:
            picture = picture_of(data)
        except BadPicture as error:
            raise FileProblem(
                f"{file.shown} can't be shown: {error}.",
                hint="Convert or scale it with a shell command first.",
            ) from error
        if picture is None:
            raise _no_medium(file, data)
        part = ImageURLPart(MediaURL(_data_url(picture.media_type, picture.data)))
        return _Medium(part, _described(picture, len(data)))

    def _bytes_of(self, file: Located) -> bytes:
        with open_regular(file) as stream:
            try:
                size = os.fstat(stream.fileno()).st_size
                data = b"" if size > self._limit else stream.read(self._limit + 1)
            except OSError as error:
                raise file_problem(file, error) from error
        size = max(size, len(data))
        if size > self._limit:
            raise FileProblem(
                f"{file.shown} has {readable_size(size)}; at most {readable_size(self._limit)} are shown.",
                hint="Make it smaller or cut a piece out of it with a shell command first.",
            )
        return data


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(data).decode('ascii')}"


def _described(picture: Picture, n_bytes: int) -> str:
    width, height = picture.original_size
    what = f"a {picture.original_format} picture, {width} × {height}, {readable_size(n_bytes)}"
    if max(picture.size) < max(picture.original_size):
        what += f", shown scaled down to {picture.size[0]} × {picture.size[1]}"
    return what


def _film_type(data: bytes) -> str | None:
    """The media type of the film that `data` is, by its first bytes; None when it is none."""
    if data[4:8] == b"ftyp" and data[8:12] not in (b"avif", b"avis", b"heic", b"heix", b"mif1", b"M4A "):
        return "video/quicktime" if data[8:12] == b"qt  " else "video/mp4"
    if data.startswith(b"\x1aE\xdf\xa3"):
        return "video/webm" if b"webm" in data[:64] else "video/x-matroska"
    if data[:4] == b"RIFF" and data[8:12] == b"AVI ":
        return "video/x-msvideo"
    return "video/mpeg" if data.startswith((b"\x00\x00\x01\xba", b"\x00\x00\x01\xb3")) else None


def _no_medium(file: Located, data: bytes) -> FileProblem:
    if not data:
        return FileProblem(f"{file.shown} is empty.", hint="There is nothing to see in it.")
    encoding = encoding_of(data)
    hint = (
        "Convert it to PNG with a shell command first."
        if encoding.is_binary
        else "Read it with the tool for text files."
    )
    return FileProblem(f"{file.shown} is {encoding.label}, no picture or film that can be shown.", hint=hint)
