"""Worker that queries search engines: `{"query", "limit", "proxy"}` in, `{"hits", "problem"}` out."""

import json
import sys

_ENGINES = "duckduckgo,brave,mojeek,startpage,yahoo"
_ENGINE_TIMEOUT_S = 6
_NO_RESULTS = "No results found."


def main() -> None:
    """Read the request and print the response."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    request = json.load(sys.stdin)
    hits, problem = [], ""
    try:
        engines = DDGS(proxy=request["proxy"], timeout=_ENGINE_TIMEOUT_S)
        hits = engines.text(request["query"], max_results=request["limit"], backend=_ENGINES)
    except DDGSException as error:
        problem = "" if str(error) == _NO_RESULTS else str(error)
    json.dump({"hits": hits, "problem": problem}, sys.stdout)


if __name__ == "__main__":
    main()
