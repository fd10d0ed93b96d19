"""Tool calls show their status in a head row, and their results below it."""

from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.tool_arguments import PartialToolArguments
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.display_blocks import (
    BackgroundTaskBlock,
    BriefBlock,
    DiffBlock,
    ShellBlock,
    TodoBlock,
    TodoItem,
    UnknownBlock,
)
from kimi_tui.wire.events import (
    ApprovalResponse,
    StatusUpdate,
    SubagentEvent,
    ToolOutput,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.tui.transcript.conftest import OpenTranscript, TranscriptHarness


def build_call(name: str, arguments: str | None = None, call_id: str = "c") -> ToolCall:
    return ToolCall(call_id, FunctionCall(name, arguments))


def build_result(
    call_id: str = "c", *, output: str = "", error: bool = False, **fields: object
) -> ToolResult:
    return ToolResult(call_id, ToolReturn(is_error=error, output=output, **fields))  # type: ignore[arg-type]


def non_blank_rows(rows: list[str]) -> list[str]:
    return [row.strip() for row in rows if row.strip()]


async def first_line(s: TranscriptHarness, *messages: object) -> str:
    return non_blank_rows(await s.feed(*messages))[0]


async def test_a_call_goes_from_writing_to_done(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        assert await first_line(s, build_call("Bash")) == "⋯ Bash"
        assert await first_line(s, ToolCallPart('{"command": "pytest -')) == "⋯ Bash pytest -"
        assert await first_line(s, ToolCallPart('q"}')) == "⟳ Bash pytest -q"
        s.clock.now += 4
        assert await first_line(s, build_result(output="ok")) == "✔ Bash pytest -q  4.0 s"


async def test_a_call_starts_when_the_message_is_complete(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript() as s:
        await s.feed(build_call("LS"))
        assert await first_line(s, StatusUpdate()) == "⟳ LS"


async def test_fragments_belong_to_the_call_they_name_or_the_last_one(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript() as s:
        await s.feed(build_call("ReadFile", None, "a"), build_call("Grep", None, "b"))
        rows = await s.feed(ToolCallPart('{"path": "a.py"}', "a"), ToolCallPart('{"pattern": "x"}'))
        assert non_blank_rows(rows) == ["⟳ ReadFile a.py", "⟳ Grep x"]


async def test_an_approval_stops_the_clock(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(build_call("Bash", '{"command": "rm x"}'))
        s.clock.now += 1
        assert "? Bash rm x  awaiting approval" in await first_line(
            s, ApprovalRequest("r", "c", "Bash", "run command", "")
        )
        s.clock.now += 100
        assert await first_line(s, ApprovalResponse("r", "approve")) == "⟳ Bash rm x  1 s"
        s.clock.now += 2
        assert await first_line(s, build_result()) == "✔ Bash rm x  3.0 s"


async def test_a_command_that_the_user_edited_is_shown_as_it_ran(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(
            build_call("Bash", '{"command": "rm x", "timeout": 9}'),
            ApprovalRequest("r", "c", "Bash", "run command", ""),
        )
        row = await first_line(s, ApprovalResponse("r", "approve", edited="rm y"))
        assert row == "⟳ Bash rm y"


async def test_a_call_that_ended_before_it_began_is_not_a_failure(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(build_call("Bash", '{"command": "rm x"}'))
        row = await first_line(s, build_result(error=True, extras={"not_run": True}))
        assert row == "⊘ Bash rm x"


async def test_output_is_streamed_and_its_end_remains(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(build_call("Bash", '{"command": "make"}'))
        rows = await s.feed(ToolOutput("c", "\n".join(f"line {n}" for n in range(1, 11))))
        assert non_blank_rows(rows)[1:] == ["⋯ 4 more lines above", *(f"line {n}" for n in range(5, 11))]
        rows = await s.feed(build_result(output="all\nof it"))
        assert non_blank_rows(rows)[1:] == ["all", "of it"]


async def test_errors_are_shown_and_long_results_are_not(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(
            build_call("ReadFile", '{"path": "a.py"}', "a"), build_call("ReadFile", '{"path": "b.py"}', "b")
        )
        rows = await s.feed(
            build_result("a", output="x\n" * 500, display=(BriefBlock("500 lines"),)),
            build_result("b", error=True, message="There is no file b.py."),
        )
        assert non_blank_rows(rows) == [
            "✔ ReadFile a.py  500 lines",
            "✗ ReadFile b.py",
            "There is no file b.py.",
        ]


async def test_unfolding_shows_arguments_and_all_output(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 40) as s:
        await s.feed(
            build_call("Bash", '{"command": "seq 20\\necho"}'),
            build_result(output="\n".join(map(str, range(20)))),
        )
        s.transcript.select_block("c")
        assert [row.removeprefix("▎").strip() for row in non_blank_rows(await s.press("enter"))][1:] == [
            "seq 20",
            "echo",
            *map(str, range(20)),
        ]
        assert len(non_blank_rows(await s.press("enter"))) == 8


async def test_unfolding_all_and_folding_all(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 40) as s:
        await s.feed(
            *(
                message
                for n in "ab"
                for message in (build_call("X", '{"p": 1}', n), build_result(n, output=f"out {n}"))
            )
        )
        assert "out" not in s.text()
        await s.press("z")
        assert "out a" in s.text()
        assert "out b" in s.text()
        await s.press("z")
        assert "out" not in s.text()


async def test_a_click_on_the_line_unfolds_it(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(build_call("X", '{"p": 1}'), build_result(output="inside"))
        await s.driver.click(s.transcript, offset=(6, 1))
        await s.driver.pause()
        assert "inside" in s.text()


async def test_a_diff_shows_numbers_signs_and_counts(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 24) as s:
        old = "\n".join(f"line {n}" for n in range(1, 31))
        new = old.replace("line 15", "line fifteen").replace("line 30", "line 30\nline 31")
        rows = await s.feed(
            build_call("EditFile", '{"path": "a.txt"}'), build_result(display=(DiffBlock("a.txt", old, new),))
        )
        assert non_blank_rows(rows) == [
            "✔ EditFile a.txt  +2 −1",
            "12   line 12",
            "13   line 13",
            "14   line 14",
            "15 − line 15",
            "15 + line fifteen",
            "16   line 16",
            "17   line 17",
            "18   line 18",
            "⋯",
            "28   line 28",
            "29   line 29",
            "30   line 30",
            "31 + line 31",
        ]


async def test_hunks_of_one_file_are_shown_and_counted_together(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(60, 24) as s:
        hunks = (DiffBlock("a", "1\n2", "1\nx", 1, 1), DiffBlock("a", "98\n99", "98\ny\nz", 98, 98))
        rows = await s.feed(
            build_call("EditFile", '{"path": "a"}'), build_result(display=(*hunks, DiffBlock("b", "", "new")))
        )
        assert non_blank_rows(rows) == [
            "✔ EditFile a  +3 −2  +1 −0",
            "a",
            "1   1",
            "2 − 2",
            "2 + x",
            "⋯",
            "98   98",
            "99 − 99",
            "99 + y",
            "100 + z",
            "b",
            "1 + new",
        ]


async def test_a_redundant_brief_is_left_out(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript() as s:
        diff = DiffBlock("a", "x", "y")
        rows = await s.feed(
            build_call("EditFile", "{}", "1"), build_result("1", display=(BriefBlock("+1 −1"), diff))
        )
        assert non_blank_rows(rows)[0] == "✔ EditFile  +1 −1"
        message = "There is no file a."
        rows = await s.feed(
            build_call("Read", "{}", "2"),
            build_result("2", error=True, message=message, display=(BriefBlock(message),)),
        )
        assert non_blank_rows(rows)[-2:] == ["✗ Read", message]
        rows = await s.feed(
            build_call("Bash", "{}", "3"),
            build_result("3", error=True, output="out", display=(BriefBlock("exit code 1"),)),
        )
        assert non_blank_rows(rows)[-2:] == ["✗ Bash  exit code 1", "out"]


async def test_a_long_diff_is_cut_and_unfolds(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 60) as s:
        new = "\n".join(f"line {n}" for n in range(30))
        rows = await s.feed(
            build_call("WriteFile", '{"path": "a"}'), build_result(display=(DiffBlock("a", "", new),))
        )
        assert non_blank_rows(rows)[-1] == "⋯ 14 more lines"
        s.transcript.select_block("c")
        assert len(non_blank_rows(await s.press("enter"))) == 31


async def test_changed_words_are_marked(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 10) as s:
        await s.feed(
            build_call("EditFile"),
            build_result(display=(DiffBlock("a", "retry = 3 times", "retry = 5 times"),)),
        )
        backgrounds = {
            segment.text: segment.style.bgcolor
            for y in (2, 3)
            for segment in s.transcript.render_line(y)
            if segment.style
        }
        assert backgrounds["3"] != backgrounds["5"]
        assert backgrounds["3"] not in (backgrounds["retry = "], None)


async def test_todos_shells_tasks_and_unknown_blocks(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 24) as s:
        todos = TodoBlock((TodoItem("a", "done"), TodoItem("b", "in_progress"), TodoItem("c")))
        rows = await s.feed(
            build_call("SetTodoList", "{}", "1"),
            build_result("1", display=(todos,)),
            build_call("Bash", '{"command": "rm -rf /"}', "2"),
            build_result("2", display=(ShellBlock("rm -rf /", danger="deletes everything"),)),
            build_call("Task", '{"description": "d"}', "3"),
            build_result("3", display=(BackgroundTaskBlock("t1", "bash", "running", "make all"),)),
            build_call("New", "{}", "4"),
            build_result("4", display=(UnknownBlock({"type": "chart", "text": "a chart"}),)),
        )
        assert non_blank_rows(rows) == [
            "✔ SetTodoList  1/3  ▸ b",
            "✔ Bash rm -rf /  ⚠ deletes everything",
            "✔ Task d",
            "t1 · running  make all",
            "✔ New",
            "a chart",
        ]


async def test_an_update_of_the_todo_list_is_one_line_and_unfolds(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(60, 30) as s:
        todos = [TodoItem(f"part {index}", "done") for index in range(20)]
        todos += [
            TodoItem("part 20", "in_progress"),
            *(TodoItem(f"part {index}") for index in range(21, 300)),
        ]
        rows = await s.feed(
            build_call("SetTodoList", "{}", "1"), build_result("1", display=(TodoBlock(tuple(todos)),))
        )
        assert non_blank_rows(rows) == ["✔ SetTodoList  20/300  ▸ part 20"]
        await s.press("alt+up")
        unfolded = non_blank_rows(await s.press("enter"))
        assert "⋯" not in "".join(unfolded)
        assert unfolded[1].endswith("✔ part 0")


async def test_open_calls_are_canceled_when_the_turn_ends(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        rows = await s.feed(
            TurnBegin("go"), build_call("Bash", '{"command": "sleep 9"}'), TurnEnd("cancelled")
        )
        assert non_blank_rows(rows)[2:] == ["⊘ Bash sleep 9", "⚠ Interrupted."]


async def test_a_sub_agent_shows_its_latest_call_and_unfolds(open_transcript: OpenTranscript) -> None:
    def inner(message: object) -> SubagentEvent:
        return SubagentEvent(envelope(message), "c", "a1", "coder")  # type: ignore[arg-type]

    async with open_transcript(60, 24) as s:
        await s.feed(
            build_call("Task", '{"description": "fix it"}'),
            inner(build_call("Grep", '{"pattern": "x"}', "g")),
        )
        rows = await s.feed(inner(build_result("g")), inner(build_call("Bash", '{"command": "make"}', "b")))
        assert non_blank_rows(rows) == ["⟳ Task fix it", "└ 2 tool calls  Bash make"]
        s.transcript.select_block("c")
        rows = await s.press("enter")
        assert [row.removeprefix("▎").strip() for row in non_blank_rows(rows)][-2:] == [
            "│ ✔ Grep x",
            "│ ⟳ Bash make",
        ]
        rows = await s.feed(inner(build_result("b", output="made")), build_result())
        assert "│   made" in s.text()


async def test_the_turns_of_a_sub_agent_leave_the_call_that_started_it_open(
    open_transcript: OpenTranscript,
) -> None:
    def inner(message: object) -> SubagentEvent:
        return SubagentEvent(envelope(message), "c", "a1", "coder")  # type: ignore[arg-type]

    async with open_transcript(60, 24) as s:
        await s.feed(build_call("Task", '{"description": "fix it"}'), inner(TurnBegin("task")))
        await s.feed(inner(build_call("Bash", '{"command": "make"}', "b")), inner(TurnEnd("cancelled")))
        assert non_blank_rows(s.rows())[0] == "⟳ Task fix it"
        s.transcript.select_block("c")
        assert "│ ⊘ Bash make" in "\n".join(await s.press("enter"))
        assert "you" not in s.text()
        await s.feed(build_result())
        assert "✔ Task fix it" in s.rows()[1]


async def test_there_is_no_gap_between_adjacent_calls(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        rows = await s.feed(build_call("A", "{}", "1"), build_call("B", "{}", "2"))
        assert rows[:4] == ["", "  ⟳ A", "  ⟳ B", ""]


def test_the_argument_summary_is_found_while_the_json_streams() -> None:
    json_text = '{"content": "say \\"path\\": \\"no\\" \\u4f60", "edits": [{"old": "a"}], "path": "src/a.py"}'
    arguments = PartialToolArguments()
    for character in json_text:
        arguments.feed(character)
        arguments.summary()
    assert arguments.summary() == "src/a.py"
    assert PartialToolArguments('{"command": "echo \\"hi').summary() == 'echo "hi'
    assert PartialToolArguments('{"command": "a\\u4f').summary() == "a"
    assert PartialToolArguments('{"limit": 5}').summary() == ""
    assert PartialToolArguments('{"todos": [{"title": "one"}]}').summary() == ""
    assert PartialToolArguments("not json").summary() == ""
