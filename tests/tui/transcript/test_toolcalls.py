"""Tool calls: a line that says how they stand, and what came of them below it."""

from kimi_tui.base.call_arguments import Arguments
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.display import (
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
from tests.tui.transcript.conftest import OpenStage, Stage


def call(name: str, arguments: str | None = None, call_id: str = "c") -> ToolCall:
    return ToolCall(call_id, FunctionCall(name, arguments))


def result(call_id: str = "c", *, output: str = "", error: bool = False, **fields: object) -> ToolResult:
    return ToolResult(call_id, ToolReturn(is_error=error, output=output, **fields))  # type: ignore[arg-type]


def seen(rows: list[str]) -> list[str]:
    return [row.strip() for row in rows if row.strip()]


async def first_line(s: Stage, *messages: object) -> str:
    return seen(await s.feed(*messages))[0]


async def test_a_call_goes_from_writing_to_done(stage: OpenStage) -> None:
    async with stage() as s:
        assert await first_line(s, call("Bash")) == "⋯ Bash"
        assert await first_line(s, ToolCallPart('{"command": "pytest -')) == "⋯ Bash pytest -"
        assert await first_line(s, ToolCallPart('q"}')) == "⟳ Bash pytest -q"
        s.clock.now += 4
        assert await first_line(s, result(output="ok")) == "✔ Bash pytest -q  4.0 s"


async def test_a_call_that_was_written_runs_once_the_message_is_complete(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(call("LS"))
        assert await first_line(s, StatusUpdate()) == "⟳ LS"


async def test_fragments_belong_to_the_call_they_name_or_the_last_one(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(call("ReadFile", None, "a"), call("Grep", None, "b"))
        rows = await s.feed(ToolCallPart('{"path": "a.py"}', "a"), ToolCallPart('{"pattern": "x"}'))
        assert seen(rows) == ["⟳ ReadFile a.py", "⟳ Grep x"]


async def test_an_approval_stops_the_clock(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(call("Bash", '{"command": "rm x"}'))
        s.clock.now += 1
        assert "? Bash rm x  waits for you" in await first_line(
            s, ApprovalRequest("r", "c", "Bash", "run command", "")
        )
        s.clock.now += 100
        assert await first_line(s, ApprovalResponse("r", "approve")) == "⟳ Bash rm x  1 s"
        s.clock.now += 2
        assert await first_line(s, result()) == "✔ Bash rm x  3.0 s"


async def test_output_is_shown_as_it_comes_and_its_end_remains(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(call("Bash", '{"command": "make"}'))
        rows = await s.feed(ToolOutput("c", "\n".join(f"line {n}" for n in range(1, 11))))
        assert seen(rows)[1:] == ["⋯ 4 more lines above", *(f"line {n}" for n in range(5, 11))]
        rows = await s.feed(result(output="all\nof it"))
        assert seen(rows)[1:] == ["all", "of it"]


async def test_errors_are_shown_and_long_results_are_not(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(call("ReadFile", '{"path": "a.py"}', "a"), call("ReadFile", '{"path": "b.py"}', "b"))
        rows = await s.feed(
            result("a", output="x\n" * 500, display=(BriefBlock("500 lines"),)),
            result("b", error=True, message="There is no file b.py."),
        )
        assert seen(rows) == ["✔ ReadFile a.py  500 lines", "✗ ReadFile b.py", "There is no file b.py."]


async def test_unfolding_shows_arguments_and_all_output(stage: OpenStage) -> None:
    async with stage(60, 40) as s:
        await s.feed(
            call("Bash", '{"command": "seq 20\\necho"}'), result(output="\n".join(map(str, range(20))))
        )
        s.transcript.select_block("c")
        assert [row.removeprefix("▎").strip() for row in seen(await s.press("enter"))][1:] == [
            "seq 20",
            "echo",
            *map(str, range(20)),
        ]
        assert len(seen(await s.press("enter"))) == 8


async def test_unfolding_all_and_folding_all(stage: OpenStage) -> None:
    async with stage(60, 40) as s:
        await s.feed(
            *(message for n in "ab" for message in (call("X", '{"p": 1}', n), result(n, output=f"out {n}")))
        )
        assert "out" not in s.text()
        await s.press("z")
        assert "out a" in s.text()
        assert "out b" in s.text()
        await s.press("z")
        assert "out" not in s.text()


async def test_a_click_on_the_line_unfolds_it(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(call("X", '{"p": 1}'), result(output="inside"))
        await s.pilot.click(s.transcript, offset=(6, 1))
        await s.pilot.pause()
        assert "inside" in s.text()


async def test_a_diff_shows_numbers_signs_and_counts(stage: OpenStage) -> None:
    async with stage(60, 24) as s:
        old = "\n".join(f"line {n}" for n in range(1, 31))
        new = old.replace("line 15", "line fifteen").replace("line 30", "line 30\nline 31")
        rows = await s.feed(
            call("EditFile", '{"path": "a.txt"}'), result(display=(DiffBlock("a.txt", old, new),))
        )
        assert seen(rows) == [
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


async def test_hunks_of_one_file_stand_together_and_are_counted_together(stage: OpenStage) -> None:
    async with stage(60, 24) as s:
        hunks = (DiffBlock("a", "1\n2", "1\nx", 1, 1), DiffBlock("a", "98\n99", "98\ny\nz", 98, 98))
        rows = await s.feed(
            call("EditFile", '{"path": "a"}'), result(display=(*hunks, DiffBlock("b", "", "new")))
        )
        assert seen(rows) == [
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


async def test_a_brief_is_left_out_where_it_would_repeat_what_is_shown(stage: OpenStage) -> None:
    async with stage() as s:
        diff = DiffBlock("a", "x", "y")
        rows = await s.feed(call("EditFile", "{}", "1"), result("1", display=(BriefBlock("+1 −1"), diff)))
        assert seen(rows)[0] == "✔ EditFile  +1 −1"
        problem = "There is no file a."
        rows = await s.feed(
            call("Read", "{}", "2"), result("2", error=True, message=problem, display=(BriefBlock(problem),))
        )
        assert seen(rows)[-2:] == ["✗ Read", problem]
        rows = await s.feed(
            call("Bash", "{}", "3"),
            result("3", error=True, output="out", display=(BriefBlock("exit code 1"),)),
        )
        assert seen(rows)[-2:] == ["✗ Bash  exit code 1", "out"]


async def test_a_long_diff_is_cut_and_unfolds(stage: OpenStage) -> None:
    async with stage(60, 60) as s:
        new = "\n".join(f"line {n}" for n in range(30))
        rows = await s.feed(call("WriteFile", '{"path": "a"}'), result(display=(DiffBlock("a", "", new),)))
        assert seen(rows)[-1] == "⋯ 14 more lines"
        s.transcript.select_block("c")
        assert len(seen(await s.press("enter"))) == 31


async def test_changed_words_stand_out(stage: OpenStage) -> None:
    async with stage(60, 10) as s:
        await s.feed(
            call("EditFile"), result(display=(DiffBlock("a", "retry = 3 times", "retry = 5 times"),))
        )
        grounds = {
            segment.text: segment.style.bgcolor
            for y in (2, 3)
            for segment in s.transcript.render_line(y)
            if segment.style
        }
        assert grounds["3"] != grounds["5"]
        assert grounds["3"] not in (grounds["retry = "], None)


async def test_todos_shells_tasks_and_unknown_blocks(stage: OpenStage) -> None:
    async with stage(60, 24) as s:
        todos = TodoBlock((TodoItem("a", "done"), TodoItem("b", "in_progress"), TodoItem("c")))
        rows = await s.feed(
            call("SetTodoList", "{}", "1"),
            result("1", display=(todos,)),
            call("Bash", '{"command": "rm -rf /"}', "2"),
            result("2", display=(ShellBlock("rm -rf /", danger="deletes everything"),)),
            call("Task", '{"description": "d"}', "3"),
            result("3", display=(BackgroundTaskBlock("t1", "bash", "running", "make all"),)),
            call("New", "{}", "4"),
            result("4", display=(UnknownBlock({"type": "chart", "text": "a chart"}),)),
        )
        assert seen(rows) == [
            "✔ SetTodoList",
            "✔ a",
            "▸ b",
            "○ c",
            "✔ Bash rm -rf /  ⚠ deletes everything",
            "✔ Task d",
            "bash t1 · running  make all",
            "✔ New",
            "a chart",
        ]


async def test_of_a_long_todo_list_the_work_is_shown_and_all_of_it_unfolds(stage: OpenStage) -> None:
    async with stage(60, 30) as s:
        todos = [TodoItem(f"part {at}", "done") for at in range(20)]
        todos += [TodoItem("part 20", "in_progress"), *(TodoItem(f"part {at}") for at in range(21, 300))]
        rows = await s.feed(call("SetTodoList", "{}", "1"), result("1", display=(TodoBlock(tuple(todos)),)))
        around = [f"✔ part {at}" for at in (18, 19)] + [f"○ part {at}" for at in range(21, 34)]
        around.insert(2, "▸ part 20")
        assert seen(rows) == ["✔ SetTodoList  20/300", "⋯ 18 before", *around, "⋯ 266 after"]
        await s.press("alt+up")
        unfolded = seen(await s.press("enter"))
        assert "⋯" not in "".join(unfolded)
        assert unfolded[1].endswith("✔ part 0")


async def test_what_is_open_when_a_turn_ends_was_cancelled(stage: OpenStage) -> None:
    async with stage() as s:
        rows = await s.feed(TurnBegin("go"), call("Bash", '{"command": "sleep 9"}'), TurnEnd("cancelled"))
        assert seen(rows)[2:] == ["⊘ Bash sleep 9", "⚠ Interrupted."]


async def test_a_sub_agent_shows_the_last_thing_it_does_and_unfolds(stage: OpenStage) -> None:
    def inner(message: object) -> SubagentEvent:
        return SubagentEvent(envelope(message), "c", "a1", "coder")  # type: ignore[arg-type]

    async with stage(60, 24) as s:
        await s.feed(call("Task", '{"description": "fix it"}'), inner(call("Grep", '{"pattern": "x"}', "g")))
        rows = await s.feed(inner(result("g")), inner(call("Bash", '{"command": "make"}', "b")))
        assert seen(rows) == ["⟳ Task fix it", "└ 2 tool calls  Bash make"]
        s.transcript.select_block("c")
        rows = await s.press("enter")
        assert [row.removeprefix("▎").strip() for row in seen(rows)][-2:] == ["│ ✔ Grep x", "│ ⟳ Bash make"]
        rows = await s.feed(inner(result("b", output="made")), result())
        assert "│   made" in s.text()


async def test_the_turns_of_a_sub_agent_leave_the_call_that_started_it_open(stage: OpenStage) -> None:
    def inner(message: object) -> SubagentEvent:
        return SubagentEvent(envelope(message), "c", "a1", "coder")  # type: ignore[arg-type]

    async with stage(60, 24) as s:
        await s.feed(call("Task", '{"description": "fix it"}'), inner(TurnBegin("task")))
        await s.feed(inner(call("Bash", '{"command": "make"}', "b")), inner(TurnEnd("cancelled")))
        assert seen(s.rows())[0] == "⟳ Task fix it"
        s.transcript.select_block("c")
        assert "│ ⊘ Bash make" in "\n".join(await s.press("enter"))
        assert "you" not in s.text()
        await s.feed(result())
        assert "✔ Task fix it" in s.rows()[1]


async def test_calls_stand_together_and_answers_apart(stage: OpenStage) -> None:
    async with stage() as s:
        rows = await s.feed(call("A", "{}", "1"), call("B", "{}", "2"))
        assert rows[:4] == ["", "  ⟳ A", "  ⟳ B", ""]


def test_the_telling_argument_is_found_while_the_json_arrives() -> None:
    whole = '{"content": "say \\"path\\": \\"no\\" \\u4f60", "edits": [{"old": "a"}], "path": "src/a.py"}'
    arguments = Arguments()
    for character in whole:
        arguments.feed(character)
        arguments.telling()
    assert arguments.telling() == "src/a.py"
    assert Arguments('{"command": "echo \\"hi').telling() == 'echo "hi'
    assert Arguments('{"command": "a\\u4f').telling() == "a"
    assert Arguments('{"limit": 5}').telling() == ""
    assert Arguments('{"todos": [{"title": "one"}]}').telling() == ""
    assert Arguments("not json").telling() == ""
