"""HTML pages as Markdown."""

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.value import value
from kimi_tui.tools.web.child import ChildFailed, run_child


@value
class Extract:
    """What there is to read in a page."""

    title: str
    text: str
    """Markdown; links are absolute."""
    is_cut: bool


async def extract(html: str, *, url: str, seconds: float) -> Extract:
    """What there is to read in `html`, which came from `url`. Raises WebProblem."""
    try:
        answer = await run_child("kimi_tui.tools.web.extraction", {"html": html, "url": url}, seconds=seconds)
    except TimeoutError as error:
        raise WebProblem(
            f"The page takes longer than {seconds:g} s to take apart.",
            hint="Try another page, or download it with a shell command.",
        ) from error
    except ChildFailed as error:
        raise WebProblem(
            f"The page can't be taken apart ({error}).",
            hint="Try another page, or download it with a shell command.",
        ) from error
    return Extract(answer["title"], answer["text"], answer["is_cut"])
