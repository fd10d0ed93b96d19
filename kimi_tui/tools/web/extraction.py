"""A program that takes an HTML page apart: `{"html", "url"}` in, `{"title", "text", "is_cut"}` out.

The text is Markdown.
"""

import json
import re
import sys

_UNSEEN = re.compile(r"<!--.*?(?:-->|$)|<(script|style|svg)\b.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_WHOLE = re.compile(r"<html\b", re.IGNORECASE)
_MOST = 400_000
"""Characters of markup that are taken apart: more than the text of any page that is shown, and the time
that it takes grows faster than they do."""


def main() -> None:
    """Read the request, answer it."""
    request = json.load(sys.stdin)
    seen = _UNSEEN.sub("", request["html"])
    title, text = _taken_apart(seen[:_MOST], request["url"])
    json.dump({"title": title, "text": text, "is_cut": len(seen) > _MOST}, sys.stdout)


def _taken_apart(html: str, url: str) -> tuple[str, str]:
    import trafilatura

    if html.strip() and not _WHOLE.search(html):
        html = f"<html><body>{html}</body></html>"  # a fragment alone is taken for no page
    text = trafilatura.extract(
        html,
        url=url,
        output_format="markdown",
        fast=True,  # the slower ways take minutes for a page of some megabytes
        favor_recall=True,
        include_comments=True,
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    if not text:  # a page of few words or of many links: all there is to read in it
        text = trafilatura.html2txt(html)
    tree = trafilatura.load_html(html)
    title = " ".join(tree.findtext(".//title", default="").split()) if tree is not None else ""
    return title, text or ""


if __name__ == "__main__":
    main()
