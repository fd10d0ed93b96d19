"""Events as a client is shown them."""

from pathlib import Path
from typing import Any

from kimi_tui.acp.narrator import Narrator
from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display import BriefBlock, DiffBlock
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    CompactionBegin,
    CompactionEnd,
    CostUpdate,
    HookResolved,
    Notification,
    PlannedFile,
    Reverted,
    RevertPlan,
    StatusUpdate,
    StepInterrupted,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
    TurnFailure,
)
from kimi_tui.wire.requests import ApprovalRequest

WORK = Path("/work dir")


def told(*events: Outgoing) -> list[Any]:
    narrator = Narrator(work_dir=WORK)
    return [update for event in events for update in narrator.tell(event)]


def words(*events: Outgoing) -> str:
    return "".join(update.content.text for update in told(*events))


def notice(title: str, body: str = "", severity: Any = "info") -> Notification:
    return Notification("n", "session", "notice", "engine", "s", title, body, severity)


def test_notices_are_remarks_whose_lines_stay_lines() -> None:
    assert words(notice("All is well")) == "All is well\n\n"
    assert words(notice("Odd", "one line", "warning")) == "⚠ Odd\n\none line\n\n"
    assert words(notice("List", "a\n``` b")) == "List\n\n````\na\n``` b\n````\n\n"


def test_what_controls_a_terminal_stays_out_of_the_programs_own_words() -> None:
    assert words(notice("\x1b[31mred\x1b]0;x\x07", "a\x1b[2Jb")) == "red\n\nab\n\n"


def test_what_has_no_update_of_its_own_is_told_in_words() -> None:
    assert "compacted" in words(CompactionBegin())
    assert "from 12,000 to 3,000 tokens" in words(CompactionEnd(12_000, 3_000))
    assert (
        words(TurnEnd("failed", failure=TurnFailure("It broke.", "Mend it."))) == "⚠ It broke. Mend it.\n\n"
    )
    assert "checkpoint 3" in words(Reverted(3, 5, "user", files=("a.py",)))
    assert words(Reverted(3, 5, "dmail")) == ""
    plan = RevertPlan(3, "user", (PlannedFile("a.py", "restore"),), note="so far")
    assert "- restore: a.py\nso far" in words(plan)
    assert "why?" in words(BtwBegin("b", "why?"))
    assert words(BtwEnd("b", "because")) == "because\n\n"
    assert "no way" in words(HookResolved("PreToolUse", "Bash", "block", "no way", 3))
    assert words(HookResolved("PreToolUse", "Bash", "allow", "", 3)) == ""


def test_usage_is_told_when_it_changes() -> None:
    status = StatusUpdate(context_tokens=100, max_context_tokens=1000)
    updates = told(StatusUpdate(), status, status, CostUpdate(0.5), CostUpdate(0.5))
    assert [(it.used, it.size, it.cost and it.cost.amount) for it in updates] == [
        (100, 1000, None),
        (100, 1000, 0.5),
    ]


def test_the_user_is_told_in_a_replay_alone() -> None:
    begin = TurnBegin((TextPart("see"), ImageURLPart(MediaURL("data:image/png;base64,QUJD"))))
    assert told(begin) == []
    replayed = list(Narrator(work_dir=WORK).replay(begin))
    assert [update.content.type for update in replayed] == ["text", "image"]  # type: ignore[union-attr]


def test_arguments_that_arrive_in_pieces_make_the_title_as_they_can() -> None:
    updates = told(
        ToolCall("c", FunctionCall("ReadFile", "")),
        ToolCallPart('{"path": "src/a.'),
        ToolCallPart('py", "line_offset": 3}'),
    )
    assert [update.title for update in updates] == ["ReadFile", "ReadFile: src/a.", "ReadFile: src/a.py"]
    [place] = updates[-1].locations
    assert (place.path, place.line) == ("/work dir/src/a.py", 3)


def test_a_result_shows_its_changes_else_its_output_else_its_brief() -> None:
    def content(result: ToolReturn) -> list[Any]:
        call = ToolCall("c", FunctionCall("X", "{}"))
        found: list[Any] = told(call, ToolResult("c", result))[-1].content
        return found

    diff = DiffBlock("a.py", "old\n", "new\n")
    [shown] = content(ToolReturn(output="done", display=(BriefBlock("+1 −1"), diff)))
    assert (shown.type, shown.path, shown.old_text) == ("diff", "/work dir/a.py", "old\n")
    [shown] = content(ToolReturn(output="out", display=(BriefBlock("3 lines"),)))
    assert shown.content.text == "```\nout\n```"
    [shown] = content(ToolReturn(message="m", display=(BriefBlock("no output"),)))
    assert shown.content.text == "no output"
    said, shown = content(ToolReturn(is_error=True, message="It failed.", output="x"))
    assert (said.content.text, shown.content.text) == ("It failed.", "```\nx\n```")


def test_output_that_is_too_long_is_shown_by_its_end() -> None:
    call, result = ToolCall("c", FunctionCall("X", "{}")), ToolReturn(output="x" * 50_000 + "END")
    [shown] = told(call, ToolResult("c", result))[-1].content
    assert len(shown.content.text) < 21_000
    assert "END" in shown.content.text
    assert "characters before this are not shown" in shown.content.text


def test_calls_of_an_answer_that_broke_off_have_failed() -> None:
    updates = told(ToolCall("c", FunctionCall("X", "{")), StepInterrupted(), ToolResult("c", ToolReturn()))
    assert [update.status for update in updates] == ["pending", "failed"]


def test_a_call_that_is_known_by_its_request_alone_ends_with_the_answer() -> None:
    narrator = Narrator(work_dir=WORK)
    request = ApprovalRequest(
        "r", "unseen", "Bash", "run command", "Run `ls`", agent_id="a1", subagent_type="worker"
    )
    [started], asked = narrator.asked(request)
    assert (started.title, asked.tool_call_id) == ("Run `ls`", started.tool_call_id)
    [update] = narrator.tell(ApprovalResponse("r", "reject"))
    assert (update.tool_call_id, update.status) == (started.tool_call_id, "failed")
