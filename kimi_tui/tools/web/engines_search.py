"""A program that asks search engines: `{"query", "limit", "proxy"}` in, `{"hits", "problem"}` out."""

import json
import sys

_ENGINES = "duckduckgo,brave,mojeek,startpage,yahoo"
_SECONDS_EACH = 6
_NOTHING = "No results found."


def main() -> None:
    """Read the request, answer it."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    request = json.load(sys.stdin)
    hits, problem = [], ""
    try:
        engines = DDGS(proxy=request["proxy"], timeout=_SECONDS_EACH)
        hits = engines.text(request["query"], max_results=request["limit"], backend=_ENGINES)
    except DDGSException as error:
        problem = "" if str(error) == _NOTHING else str(error)
    json.dump({"hits": hits, "problem": problem}, sys.stdout)


if __name__ == "__main__":
    main()
