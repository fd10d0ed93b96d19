"""A program that takes an HTML page apart: `{"html", "url"}` in, `{"title", "text"}` (Markdown) out."""

import json
import sys


def main() -> None:
    """Read the request, answer it."""
    import trafilatura

    request = json.load(sys.stdin)
    html = request["html"]
    text = trafilatura.extract(
        html,
        url=request["url"],
        output_format="markdown",
        fast=True,  # the slower ways take minutes for a page of some megabytes
        favor_recall=True,
        include_comments=True,
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    tree = trafilatura.load_html(html)
    title = " ".join(tree.findtext(".//title", default="").split()) if tree is not None else ""
    if not text:  # a page of few words or of many links: all there is to read in it
        text = trafilatura.html2txt(html)
    json.dump({"title": title, "text": text or ""}, sys.stdout)


if __name__ == "__main__":
    main()
