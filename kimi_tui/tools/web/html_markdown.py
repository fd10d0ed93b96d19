"""Conversion of HTML pages to Markdown."""

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.tools.web.worker_process import WorkerFailed, run_worker


@frozen
class ExtractedText:
    """Text of a page."""

    title: str
    text: str
    """Markdown with absolute links."""
    is_truncated: bool


async def extract_text(html: str, *, url: str, timeout_s: float) -> ExtractedText:
    """Return the text of `html`, the page at `url`. Raises WebProblem."""
    try:
        response = await run_worker(
            "kimi_tui.tools.web.extract_worker", {"html": html, "url": url}, timeout_s=timeout_s
        )
    except TimeoutError as error:
        raise WebProblem(
            f"Converting the page took longer than {timeout_s:g} s.",
            hint="Try another page, or download it with a shell command.",
        ) from error
    except WorkerFailed as error:
        raise WebProblem(
            f"The page can't be converted ({error}).",
            hint="Try another page, or download it with a shell command.",
        ) from error
    return ExtractedText(response["title"], response["text"], response["is_cut"])
