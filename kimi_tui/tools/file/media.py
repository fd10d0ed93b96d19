"""ReadMediaFile: shows an image or a video to a model that supports it."""

import asyncio
import os
from base64 import b64encode
from typing import Protocol

from pydantic import Field

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, MediaURL, VideoURLPart
from kimi_tui.base.errors import FileProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.base.image import ImageData, ImageError, prepare_image
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.encoding import detect_encoding
from kimi_tui.tools.file.regular_file import open_regular, to_file_problem
from kimi_tui.tools.file.secret_consent import require_read_consent
from kimi_tui.tools.path_scope import LocatedPath, PathScope
from kimi_tui.tools.result_messages import format_size
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn

_MAX_BYTES = 100_000_000
_UNSUPPORTED = "The current model doesn't support {what}."
_UNSUPPORTED_HINT = "Continue without it, or ask the user to choose a model that does."


class ModelCapabilities(Protocol):
    """Capabilities of the current model."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Any of `image_in` and `video_in`. May change, because the user may switch models."""
        ...


class ReadMediaFileParams(ToolParams):
    """Parameters of ReadMediaFile."""

    path: str = Field(description="The image or video: relative to the working directory, or absolute.")


@frozen
class _Media:
    part: ContentPart
    description: str


class ReadMediaFile(Tool[ReadMediaFileParams]):
    """Shows the model an image or a video."""

    name = "ReadMediaFile"
    Params = ReadMediaFileParams

    def __init__(
        self,
        path_scope: PathScope,
        approval: Approval,
        model: ModelCapabilities,
        *,
        limit: int = _MAX_BYTES,
    ) -> None:
        self._path_scope = path_scope
        self._approval = approval
        self._model = model
        self._limit = limit

    async def run(self, params: ReadMediaFileParams, call: CallContext) -> ToolReturn:
        """Return the image or video, with a message about its format and scaling."""
        capabilities = self._model.capabilities
        try:
            if "image_in" not in capabilities:
                raise FileProblem(_UNSUPPORTED.format(what="images"), hint=_UNSUPPORTED_HINT)
            file = self._path_scope.locate(params.path)
            await require_read_consent(file, call, self._approval)
            media = await asyncio.to_thread(self._read, file, accepts_video="video_in" in capabilities)
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)
        return success(
            (media.part,), message=f"{file.display_path}: {media.description}.", brief=media.description
        )

    def _read(self, file: LocatedPath, *, accepts_video: bool) -> _Media:
        data = self._read_bytes(file)
        video_type = _video_type(data)
        if video_type is not None:
            if not accepts_video:
                raise FileProblem(
                    _UNSUPPORTED.format(what="videos"),
                    hint="Extract single frames with a shell command (ffmpeg) and view those.",
                )
            video = VideoURLPart(MediaURL(_data_url(video_type, data)))
            return _Media(video, f"a video ({video_type}), {format_size(len(data))}")
        try:
            image = prepare_image(data)
        except ImageError as error:
            raise FileProblem(
                f"{file.display_path} can't be shown: {error}.",
                hint="Convert or scale it with a shell command first.",
            ) from error
        if image is None:
            raise _not_media_error(file, data)
        part = ImageURLPart(MediaURL(_data_url(image.media_type, image.data)))
        return _Media(part, _describe_image(image, len(data)))

    def _read_bytes(self, file: LocatedPath) -> bytes:
        with open_regular(file) as stream:
            try:
                size = os.fstat(stream.fileno()).st_size
                data = b"" if size > self._limit else stream.read(self._limit + 1)
            except OSError as error:
                raise to_file_problem(file, error) from error
        size = max(size, len(data))
        if size > self._limit:
            raise FileProblem(
                f"{file.display_path} has {format_size(size)}, and the limit is {format_size(self._limit)}.",
                hint="Shrink it or extract a part of it with a shell command first.",
            )
        return data


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(data).decode('ascii')}"


def _describe_image(image: ImageData, n_bytes: int) -> str:
    width, height = image.original_size
    description = f"a {image.original_format} image, {width} × {height}, {format_size(n_bytes)}"
    if max(image.size) < max(image.original_size):
        description += f", scaled down to {image.size[0]} × {image.size[1]}"
    return description


def _video_type(data: bytes) -> str | None:
    """Return the media type of a video by its first bytes, or None if `data` isn't a video."""
    if data[4:8] == b"ftyp" and data[8:12] not in (b"avif", b"avis", b"heic", b"heix", b"mif1", b"M4A "):
        return "video/quicktime" if data[8:12] == b"qt  " else "video/mp4"
    if data.startswith(b"\x1aE\xdf\xa3"):
        return "video/webm" if b"webm" in data[:64] else "video/x-matroska"
    if data[:4] == b"RIFF" and data[8:12] == b"AVI ":
        return "video/x-msvideo"
    return "video/mpeg" if data.startswith((b"\x00\x00\x01\xba", b"\x00\x00\x01\xb3")) else None


def _not_media_error(file: LocatedPath, data: bytes) -> FileProblem:
    if not data:
        return FileProblem(f"{file.display_path} is empty.", hint="There is nothing to view.")
    encoding = detect_encoding(data)
    hint = (
        "Convert it to PNG with a shell command first."
        if encoding.is_binary
        else "Read it with the tool for text files."
    )
    return FileProblem(
        f"{file.display_path} is {encoding.label}, not an image or video that can be shown.", hint=hint
    )
