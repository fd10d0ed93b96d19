"""Tests of the translation of events to session updates."""

from pathlib import Path
from typing import Any

from kimi_tui.acp.session_update_translator import SessionUpdateTranslator
from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock
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

WORK_DIR = Path("/work dir")


def updates_for(*events: Outgoing) -> list[Any]:
    translator = SessionUpdateTranslator(work_dir=WORK_DIR)
    return [update for event in events for update in translator.translate(event)]


def text_for(*events: Outgoing) -> str:
    return "".join(update.content.text for update in updates_for(*events))


def notice(title: str, body: str = "", severity: Any = "info") -> Notification:
    return Notification("n", "session", "notice", "engine", "s", title, body, severity)


def test_notices_keep_their_line_breaks() -> None:
    assert text_for(notice("All is well")) == "All is well\n\n"
    assert text_for(notice("Odd", "one line", "warning")) == "⚠ Odd\n\none line\n\n"
    assert text_for(notice("List", "a\n``` b")) == "List\n\n````\na\n``` b\n````\n\n"


def test_terminal_control_characters_are_removed_from_notices() -> None:
    assert text_for(notice("\x1b[31mred\x1b]0;x\x07", "a\x1b[2Jb")) == "red\n\nab\n\n"


def test_events_without_a_matching_update_become_text() -> None:
    assert "Compacting" in text_for(CompactionBegin())
    assert "from 12,000 to 3,000 tokens" in text_for(CompactionEnd(12_000, 3_000))
    assert (
        text_for(TurnEnd("failed", failure=TurnFailure("It broke.", "Fix it."))) == "⚠ It broke. Fix it.\n\n"
    )
    assert "Reverted to checkpoint 3" in text_for(Reverted(3, 5, "user", files=("a.py",)))
    assert text_for(Reverted(3, 5, "dmail")) == ""
    plan = RevertPlan(3, "user", (PlannedFile("a.py", "restore"),), note="so far")
    assert "- restore: a.py\nso far" in text_for(plan)
    assert "why?" in text_for(BtwBegin("b", "why?"))
    assert text_for(BtwEnd("b", "because")) == "because\n\n"
    assert "no way" in text_for(HookResolved("PreToolUse", "Bash", "block", "no way", 3))
    assert text_for(HookResolved("PreToolUse", "Bash", "allow", "", 3)) == ""


def test_usage_is_sent_when_it_changes() -> None:
    status = StatusUpdate(context_tokens=100, max_context_tokens=1000)
    updates = updates_for(StatusUpdate(), status, status, CostUpdate(0.5), CostUpdate(0.5))
    assert [(it.used, it.size, it.cost and it.cost.amount) for it in updates] == [
        (100, 1000, None),
        (100, 1000, 0.5),
    ]


def test_user_messages_are_sent_only_in_a_replay() -> None:
    begin = TurnBegin((TextPart("see"), ImageURLPart(MediaURL("data:image/png;base64,QUJD"))))
    assert updates_for(begin) == []
    replayed = list(SessionUpdateTranslator(work_dir=WORK_DIR).translate_replay(begin))
    assert [update.content.type for update in replayed] == ["text", "image"]  # type: ignore[union-attr]


def test_streamed_arguments_update_the_title() -> None:
    updates = updates_for(
        ToolCall("c", FunctionCall("ReadFile", "")),
        ToolCallPart('{"path": "src/a.'),
        ToolCallPart('py", "line_offset": 3}'),
    )
    assert [update.title for update in updates] == ["ReadFile", "ReadFile: src/a.", "ReadFile: src/a.py"]
    [location] = updates[-1].locations
    assert (location.path, location.line) == ("/work dir/src/a.py", 3)


def test_a_result_shows_its_changes_else_its_output_else_its_brief() -> None:
    def content(result: ToolReturn) -> list[Any]:
        call = ToolCall("c", FunctionCall("X", "{}"))
        blocks: list[Any] = updates_for(call, ToolResult("c", result))[-1].content
        return blocks

    diff = DiffBlock("a.py", "old\n", "new\n")
    [block] = content(ToolReturn(output="done", display=(BriefBlock("+1 −1"), diff)))
    assert (block.type, block.path, block.old_text) == ("diff", "/work dir/a.py", "old\n")
    [block] = content(ToolReturn(output="out", display=(BriefBlock("3 lines"),)))
    assert block.content.text == "```\nout\n```"
    [block] = content(ToolReturn(message="m", display=(BriefBlock("no output"),)))
    assert block.content.text == "no output"
    message, block = content(ToolReturn(is_error=True, message="It failed.", output="x"))
    assert (message.content.text, block.content.text) == ("It failed.", "```\nx\n```")


def test_only_the_end_of_long_output_is_shown() -> None:
    call, result = ToolCall("c", FunctionCall("X", "{}")), ToolReturn(output="x" * 50_000 + "END")
    [block] = updates_for(call, ToolResult("c", result))[-1].content
    assert len(block.content.text) < 21_000
    assert "END" in block.content.text
    assert "characters omitted" in block.content.text


def test_calls_of_an_interrupted_response_fail() -> None:
    updates = updates_for(
        ToolCall("c", FunctionCall("X", "{")), StepInterrupted(), ToolResult("c", ToolReturn())
    )
    assert [update.status for update in updates] == ["pending", "failed"]


def test_a_call_known_only_from_its_request_ends_with_the_answer() -> None:
    translator = SessionUpdateTranslator(work_dir=WORK_DIR)
    request = ApprovalRequest(
        "r", "unseen", "Bash", "run command", "Run `ls`", agent_id="a1", subagent_type="worker"
    )
    [started], call = translator.build_permission_update(request)
    assert (started.title, call.tool_call_id) == ("Run `ls`", started.tool_call_id)
    [update] = translator.translate(ApprovalResponse("r", "reject"))
    assert (update.tool_call_id, update.status) == (started.tool_call_id, "failed")


def test_long_arguments_are_sent_as_they_stream() -> None:
    """Each update repeats all arguments, so the updates become rarer."""
    text = "".join(f"line {number}\\n" for number in range(2_000))
    fragments = [text[start : start + 40] for start in range(0, len(text), 40)]
    updates = updates_for(
        ToolCall("c", FunctionCall("WriteFile", "")),
        ToolCallPart('{"path": "a.txt", "content": "'),
        *map(ToolCallPart, fragments),
        ToolCallPart('"}'),
    )
    inputs = [it.raw_input for it in updates if it.raw_input]
    sizes = [len(it["content"]) for it in inputs]
    assert sizes[0] < 400
    assert sizes == sorted(sizes)
    assert 10 < len(sizes) < 40
    assert sum(sizes) < 8 * len(text)
    assert all(it["path"] == "a.txt" for it in inputs)
    assert inputs[-1]["content"] == text.replace("\\n", "\n")
