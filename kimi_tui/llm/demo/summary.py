"""Response of the demo model to a compaction request."""

from kimi_tui.base.compaction_markers import SPEAKER_LABELS, SUMMARY_REQUEST
from kimi_tui.llm.demo.phrases import phrases_for
from kimi_tui.llm.demo.response import DemoResponse

_MAX_CHARS = 200


def respond_to_summary_request(request: str) -> DemoResponse | None:
    """Return a list of the user's requests as a summary; None if `request` isn't a summary request."""
    if not request.startswith(SUMMARY_REQUEST):
        return None
    requests: list[str] = []
    section = previous = ""
    for line in request.split("\n"):
        if line in _SECTION_MARKERS:
            section = line
        elif previous == SPEAKER_LABELS["user"] and line.strip():
            requests.append(f"- {line[:_MAX_CHARS]}")
        elif section in _SUMMARY_MARKERS and line.startswith("- "):
            requests.append(line)
        previous = line
    phrases = phrases_for(" ".join(requests))
    return DemoResponse(phrases.final_thought, "\n".join([phrases.summary, "", *requests]))


_SUMMARY_MARKERS = frozenset({"<summary-so-far>", SPEAKER_LABELS["summary"]})
_SECTION_MARKERS = _SUMMARY_MARKERS | {"<conversation>", *SPEAKER_LABELS.values()}
