"""The demo's answer to a request for a summary of a conversation."""

from kimi_tui.base.compacted import SPEAKER_MARKS, SUMMARY_REQUEST
from kimi_tui.llm.demo_answer import Answer
from kimi_tui.llm.demo_words import words_for

_LONGEST = 200


def answer_to_summary_request(request: str) -> Answer | None:
    """What the user asked for, in their own words: a demo understands no more. None for any other request."""
    if not request.startswith(SUMMARY_REQUEST):
        return None
    said: list[str] = []
    mark = before = ""
    for line in request.split("\n"):
        if line in _MARKS:
            mark = line
        elif before == SPEAKER_MARKS["user"] and line.strip():
            said.append(f"- {line[:_LONGEST]}")
        elif mark in _EARLIER and line.startswith("- "):
            said.append(line)
        before = line
    words = words_for(" ".join(said))
    return Answer(words.thought_of_end, "\n".join([words.summary, "", *said]))


_EARLIER = frozenset({"<summary-so-far>", SPEAKER_MARKS["summary"]})
_MARKS = _EARLIER | {"<conversation>", *SPEAKER_MARKS.values()}
