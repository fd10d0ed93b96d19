"""Public search engines, asked without a key."""

from collections.abc import Sequence

from kimi_tui.base.errors import WebProblem
from kimi_tui.tools.web.child import ChildFailed, run_child
from kimi_tui.tools.web.connection import proxy_for
from kimi_tui.tools.web.search import Hit
from kimi_tui.tools.web.untrusted import harmless

_SECONDS = 25.0
_HINT = (
    "Try again later, fetch an address that you know, or work with what is on this machine. The user"
    " can set up Moonshot's search service in [services.moonshot_search]."
)


class PublicEngines:
    """Asks DuckDuckGo and others like it; where one refuses, the next is asked."""

    async def search(self, query: str, *, limit: int) -> Sequence[Hit]:
        """At most `limit` hits. Raises WebProblem."""
        request = {"query": query, "limit": limit, "proxy": proxy_for("https", "duckduckgo.com")}
        try:
            answer = await run_child("kimi_tui.tools.web.engines_search", request, seconds=_SECONDS)
        except TimeoutError as error:
            raise WebProblem(f"No search engine answered within {_SECONDS:g} s.", hint=_HINT) from error
        except ChildFailed as error:
            raise WebProblem(f"The web can't be searched: {error}.", hint=_HINT) from error
        if answer["problem"]:
            reason = harmless(answer["problem"]).partition("(")[0].partition(":")[0]  # then come its insides
            raise WebProblem(f"No search engine could be asked: {reason}.", hint=_HINT)
        return [
            Hit(title=found["title"], url=found["href"], summary=found["body"]) for found in answer["hits"]
        ]
