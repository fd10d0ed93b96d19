"""Worker that extracts Markdown from HTML: `{"html", "url"}` in, `{"title", "text", "is_cut"}` out."""

import json
import re
import sys

_INVISIBLE_MARKUP = re.compile(
    r"<!--.*?(?:-->|$)|<(script|style|svg)\b.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL
)
_HTML_TAG = re.compile(r"<html\b", re.IGNORECASE)
_MAX_MARKUP_CHARS = 400_000
"""Maximum number of characters of markup to parse: enough for all text that is shown of a page. Parsing time
grows faster than the length."""


def main() -> None:
    """Read the request and print the response."""
    request = json.load(sys.stdin)
    html = _INVISIBLE_MARKUP.sub("", request["html"])
    title, text = _extract(html[:_MAX_MARKUP_CHARS], request["url"])
    json.dump({"title": title, "text": text, "is_cut": len(html) > _MAX_MARKUP_CHARS}, sys.stdout)


def _extract(html: str, url: str) -> tuple[str, str]:
    import trafilatura

    if html.strip() and not _HTML_TAG.search(html):
        html = f"<html><body>{html}</body></html>"  # a mere fragment isn't accepted as a page
    text = trafilatura.extract(
        html,
        url=url,
        output_format="markdown",
        fast=True,  # the slower methods take minutes for a page of a few megabytes
        favor_recall=True,
        include_comments=True,
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    if not text:  # a page with little text or many links: take all of its text
        text = trafilatura.html2txt(html)
    tree = trafilatura.load_html(html)
    title = " ".join(tree.findtext(".//title", default="").split()) if tree is not None else ""
    return title, text or ""


if __name__ == "__main__":
    main()
