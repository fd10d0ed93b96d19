"""Lines that another session's agent wrote and that this session recorded as changes from outside."""

from kimi_tui.history.line_origins.line_tracer import LineOrigin, LineTracer
from kimi_tui.history.snapshots.manifest import Manifest, ManifestLog, session_of
from kimi_tui.history.snapshots.other_sessions import CLOCK_TOLERANCE_S

_MAX_DEPTH = 3
"""Maximum number of other sessions through which a line is followed."""


def trace_across_sessions(
    tracer: LineTracer, manifests: ManifestLog, path: str, head: str, line: int
) -> LineOrigin | None:
    """Return the origin of a line, in any session of the project; None if the line doesn't exist."""
    origin = tracer.trace(path, head, [line]).get(line)
    found = origin
    for _ in range(_MAX_DEPTH):
        if found is None or not found.is_users:
            break
        record = _find_record_by_tool(tracer, manifests, found)
        if record is None:
            break
        found = tracer.trace(found.version.path, record.id, [found.line]).get(found.line)
    return found if found is not None and not found.is_users else origin


def _find_record_by_tool(tracer: LineTracer, manifests: ManifestLog, origin: LineOrigin) -> Manifest | None:
    """Return the record of another session in which a tool wrote the same version, if there is one."""
    version = origin.version
    if version.entry is None or version.author is None or version.author.command:
        return None
    own = session_of(version.record)
    earliest, latest = origin.time_before - CLOCK_TOLERANCE_S, origin.time_after + CLOCK_TOLERANCE_S
    for segment in manifests.segments_since(earliest):
        if session_of(f"{segment}:0") == own:
            continue
        for record in tracer.changes(segment, version.path):
            is_same = record.changes.get(version.path) == version.entry
            if record.author.is_tool and is_same and earliest <= record.time <= latest:
                return record
    return None
