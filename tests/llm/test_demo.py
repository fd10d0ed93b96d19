import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kimi_tui.base.compaction_markers import SUMMARY_REQUEST
from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart, system_note
from kimi_tui.base.message import FunctionCall, Message, ToolCall, ToolCallPart, user_message
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.demo.provider import DemoProvider
from kimi_tui.llm.provider import MessageStart, ProviderSettings, StreamPart, ToolSchema

SETTINGS = ProviderSettings(kind="demo", model="demo")
TOOLS = ("ReadFile", "WriteFile", "EditFile", "Bash", "Grep", "Glob", "LS", "Think", "SetTodoList")
KIMI_TOOLS = ("ReadFile", "WriteFile", "StrReplaceFile", "Shell", "Grep", "Glob", "SetTodoList")

Responder = Callable[[str, dict[str, Any]], str]
"""Returns a tool's result, as the model sees it."""


def run_tool(name: str, arguments: dict[str, Any]) -> str:
    return f"<system>{name} went well.</system>\nfirst line\nsecond line"


def failing_tools(*names: str, note: str = "ERROR: no such file") -> Responder:
    return lambda name, arguments: f"<system>{note}</system>" if name in names else run_tool(name, arguments)


@dataclass
class FakeSoul:
    """Sends the history and runs every call with `respond`, until a response has no calls."""

    provider: DemoProvider = field(default_factory=lambda: DemoProvider(SETTINGS, pace=0))
    tools: Sequence[str] = TOOLS
    respond: Responder = run_tool
    history: list[Message] = field(default_factory=list)
    parts: list[StreamPart] = field(default_factory=list)

    async def ask(self, *request: str) -> list[Message]:
        """Return the assistant's messages of the turn."""
        self.history += [user_message(text) for text in request]
        answers: list[Message] = []
        while not answers or answers[-1].tool_calls:
            assert len(answers) < 20, "the demo never ends its turn"
            answers.append(await self.step())
        return answers

    async def step(self) -> Message:
        schemas = [ToolSchema(name, f"the tool {name}", {"type": "object"}) for name in self.tools]
        self.parts = [
            part async for part in self.provider.generate("system prompt", schemas, tuple(self.history))
        ]
        message = assemble_message(self.parts)
        self.history.append(message)
        for call in message.tool_calls or ():
            arguments = json.loads(call.function.arguments or "{}")
            result = self.respond(call.function.name, arguments)
            self.history.append(Message("tool", (TextPart(result),), tool_call_id=call.id))
        return message


def assemble_message(parts: Sequence[StreamPart]) -> Message:
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    calls: list[ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        elif isinstance(part, ToolCallPart):
            last = calls[-1]
            arguments = (last.function.arguments or "") + (part.arguments_part or "")
            calls[-1] = ToolCall(last.id, FunctionCall(last.function.name, arguments))
    return Message("assistant", (TextPart(text),) if text else (), tuple(calls) or None)


def calls_of(answers: Sequence[Message]) -> list[list[tuple[str, dict[str, Any]]]]:
    return [
        [(call.function.name, json.loads(call.function.arguments or "")) for call in answer.tool_calls or ()]
        for answer in answers
    ]


@pytest.mark.parametrize(
    ("request_text", "call"),
    [
        ("read a.py", ("ReadFile", {"path": "a.py"})),
        ("edit a.py: x -> y", ("EditFile", {"path": "a.py", "edit": {"old": "x", "new": "y"}})),
        ("write a.py: x", ("WriteFile", {"path": "a.py", "content": "x\n"})),
        ("run ls -la", ("Bash", {"command": "ls -la"})),
        ("search TODO in src", ("Grep", {"pattern": "TODO", "output_mode": "content", "path": "src"})),
        ("list src", ("LS", {"path": "src"})),
        ("think hard", ("Think", {"thought": "hard"})),
        (
            "todo a; [x] b",
            (
                "SetTodoList",
                {"todos": [{"title": "a", "status": "pending"}, {"title": "b", "status": "done"}]},
            ),
        ),
    ],
)
async def test_each_verb_calls_its_tool_and_the_turn_ends_with_a_comment(
    request_text: str, call: tuple[str, dict[str, Any]]
) -> None:
    answers = await FakeSoul().ask(request_text)
    assert calls_of(answers) == [[call], []]
    assert "All done" in answers[-1].text
    assert "demo" in answers[-1].text


async def test_each_part_of_a_request_is_a_step_that_sees_the_previous_result() -> None:
    conversation = FakeSoul(respond=lambda name, arguments: f"<system>fine</system>\noutput of {name}")
    answers = await conversation.ask("read a.py then run ls then list")
    assert [[name for name, _ in calls] for calls in calls_of(answers)] == [
        ["ReadFile"],
        ["Bash"],
        ["LS"],
        [],
    ]
    assert "output of ReadFile" in answers[1].text
    assert "output of Bash" in answers[2].text
    assert "output of LS" in answers[3].text


async def test_several_files_are_read_in_parallel() -> None:
    answers = await FakeSoul().ask("read a.py b.py")
    assert calls_of(answers) == [[("ReadFile", {"path": "a.py"}), ("ReadFile", {"path": "b.py"})], []]


async def test_tools_under_the_names_of_kimi_cli_are_found() -> None:
    answers = await FakeSoul(tools=KIMI_TOOLS).ask("edit a: x -> y then run ls then list src")
    assert calls_of(answers)[:3] == [
        [("StrReplaceFile", {"path": "a", "edit": {"old": "x", "new": "y"}})],
        [("Shell", {"command": "ls"})],
        [("Glob", {"pattern": "*", "directory": "src"})],
    ]
    assert "I edited `a`" in answers[1].text


async def test_a_part_without_its_tool_is_skipped_with_a_note() -> None:
    answers = await FakeSoul(tools=("ReadFile",)).ask("run ls then read a.py then write b: c")
    assert [[name for name, _ in calls] for calls in calls_of(answers)] == [["ReadFile"], []]
    assert "no `Bash` tool" in answers[0].text
    assert "no `WriteFile` tool" in answers[1].text


async def test_without_any_tools_the_turn_ends_immediately() -> None:
    answers = await FakeSoul(tools=()).ask("run ls then read a.py")
    assert len(answers) == 1
    assert "no `Bash` tool" in answers[0].text
    assert "no `ReadFile` tool" in answers[0].text
    assert "All done" not in answers[0].text


async def test_a_question_uses_the_question_tool_if_there_is_one() -> None:
    conversation = FakeSoul(tools=("AskUserQuestion",))
    question = calls_of(await conversation.ask("ask Tabs? yes; no; maybe"))[0][0][1]["questions"][0]
    assert question["question"] == "Tabs?"
    assert [option["label"] for option in question["options"]] == ["yes", "no", "maybe"]
    offered = calls_of(await conversation.ask("ask Sure?"))[0][0][1]["questions"][0]["options"]
    assert len(offered) == 2


async def test_a_question_is_asked_as_text_if_there_is_no_tool_for_it() -> None:
    (answer,) = await FakeSoul().ask("ask Tabs? yes; no")
    assert "Tabs?" in answer.text
    assert "yes" in answer.text


async def test_a_failure_is_reported_and_independent_parts_continue() -> None:
    conversation = FakeSoul(respond=failing_tools("ReadFile"))
    answers = await conversation.ask("read gone.py then run ls")
    assert "failed: no such file" in answers[1].text
    assert "All done" not in answers[-1].text
    assert calls_of(answers)[1] == [("Bash", {"command": "ls"})]


async def test_a_failed_change_stops_the_rest_and_names_it() -> None:
    conversation = FakeSoul(respond=failing_tools("EditFile", note="ERROR: “x” is not in a.py."))
    answers = await conversation.ask("edit a.py: x -> y then run pytest")
    assert calls_of(answers)[1:] == [[]]
    assert "“x” is not in a.py." in answers[1].text
    assert "Not done" in answers[1].text
    assert "run pytest" in answers[1].text
    assert "All done" not in answers[1].text


async def test_a_rejected_call_stops_the_rest_and_quotes_the_feedback() -> None:
    conversation = FakeSoul(respond=failing_tools("Bash", note="ERROR: The call was rejected: use make"))
    answers = await conversation.ask("run pytest then read a.py")
    assert calls_of(answers)[1:] == [[]]
    assert "was rejected" in answers[1].text
    assert "use make" in answers[1].text


async def test_permission_denied_by_the_file_system_is_a_failure_not_a_rejection() -> None:
    conversation = FakeSoul(respond=failing_tools("ReadFile", note="ERROR: Permission denied: a.py"))
    answers = await conversation.ask("read a.py then list")
    assert "failed: Permission denied" in answers[1].text
    assert calls_of(answers)[1] == [("LS", {"path": "."})]


async def test_output_can_t_break_out_of_its_code_block() -> None:
    conversation = FakeSoul(respond=lambda name, arguments: "<system>ok</system>\n```\n# a heading\n\x1b[31m")
    answers = await conversation.ask("run cat x")
    assert "````\n```\n# a heading\n" in answers[-1].text
    assert "\x1b" not in answers[-1].text


async def test_long_output_is_cut_to_its_first_lines() -> None:
    conversation = FakeSoul(respond=lambda name, arguments: "\n".join(f"line {n}" for n in range(50)))
    answers = await conversation.ask("run seq")
    assert "line 7\n… +42" in answers[-1].text
    assert "line 8" not in answers[-1].text


async def test_empty_output_is_reported_as_empty() -> None:
    conversation = FakeSoul(respond=lambda name, arguments: "<system>Done.</system>")
    assert "(no output)" in (await conversation.ask("run true"))[-1].text


@pytest.mark.parametrize(
    "request_text", ["what is the meaning of life?", "fix the bug in login.py", "help", ""]
)
async def test_an_unknown_request_gets_the_guide_and_how_to_set_up_a_model(
    request_text: str,
) -> None:
    (answer,) = await FakeSoul().ask(request_text)
    for expected in (
        "demo",
        "`tour`",
        "`read README.md",
        "KIMI_API_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
    ):
        assert expected in answer.text
    assert "kimi-tui --help" in answer.text
    assert ("I can't answer that" in answer.text) == (request_text not in ("help", ""))


async def test_the_guide_s_examples_are_valid_requests() -> None:
    for question in ("what?", "什么？"):
        (guide,) = await FakeSoul().ask(question)
        examples = [line.split("`")[1] for line in guide.text.split("\n") if line.startswith("- `")]
        assert len(examples) == 4
        for example in examples:
            assert calls_of(await FakeSoul().ask(example))[0], example


@pytest.mark.parametrize("request_text", ["hello", "Hi!", " hey ", "hello there."])
async def test_a_greeting_is_returned_with_a_hint_at_the_tour(request_text: str) -> None:
    (answer,) = await FakeSoul().ask(request_text)
    assert answer.text.startswith("Hello!")
    assert "demo" in answer.text
    assert "`tour`" in answer.text


@pytest.mark.parametrize(
    ("request_text", "expected"), [("你好", "你好"), ("帮我修复登录", "无法回答"), ("列出 src", "src")]
)
async def test_chinese_requests_get_chinese_responses(request_text: str, expected: str) -> None:
    answers = await FakeSoul().ask(request_text)
    text = "".join(answer.text for answer in answers)
    assert expected in text
    assert "演示" in text


async def test_an_empty_conversation_gets_the_guide() -> None:
    assert "KIMI_API_KEY" in (await FakeSoul().step()).text


async def test_a_note_says_that_the_demo_can_t_see_images() -> None:
    image = ImageURLPart(MediaURL("data:image/png;base64,AAAA"))
    conversation = FakeSoul(history=[user_message((image,))])
    assert "can't see images" in (await conversation.step()).text


async def test_system_notes_are_not_requests() -> None:
    conversation = FakeSoul()
    answers = await conversation.ask("read a.py", "<system>CHECKPOINT 1</system>")
    assert calls_of(answers) == [[("ReadFile", {"path": "a.py"})], []]
    mixed = user_message((system_note("a.py changed"), TextPart("list")))
    conversation.history.append(mixed)
    assert calls_of([await conversation.step()]) == [[("LS", {"path": "."})]]


async def test_a_new_request_starts_a_new_turn() -> None:
    conversation = FakeSoul()
    await conversation.ask("read a.py then run ls")
    assert calls_of(await conversation.ask("list")) == [[("LS", {"path": "."})], []]


async def test_continue_resumes_an_interrupted_request() -> None:
    conversation = FakeSoul()
    conversation.history.append(user_message("read a.py then run ls then list"))
    await conversation.step()
    await conversation.step()
    answers = await conversation.ask("continue")
    assert calls_of(answers) == [[("LS", {"path": "."})], []]


async def test_it_thinks_only_if_thinking_is_on() -> None:
    without_thinking = FakeSoul()
    await without_thinking.ask("read a.py")
    assert not any(isinstance(part, ThinkPart) for part in without_thinking.parts)
    with_thinking = FakeSoul(provider=DemoProvider(SETTINGS, pace=0).with_thinking("high"))
    with_thinking.history.append(user_message("read a.py"))
    await with_thinking.step()
    thought = "".join(part.think for part in with_thinking.parts if isinstance(part, ThinkPart))
    assert "`ReadFile`" in thought
    kinds = [type(part) for part in with_thinking.parts]
    assert kinds.index(ThinkPart) < kinds.index(TextPart) < kinds.index(ToolCall)


async def test_it_streams_small_fragments_with_an_id_and_usage_like_a_model() -> None:
    conversation = FakeSoul()
    await conversation.ask("hello")
    first, *pieces, last = conversation.parts
    assert isinstance(first, MessageStart)
    assert isinstance(last, TokenUsage)
    assert last.input > 0
    assert last.output > 0
    texts = [part.text for part in pieces if isinstance(part, TextPart)]
    assert len(texts) > 20
    assert max(map(len, texts)) < 30


async def test_call_ids_are_unique_in_a_conversation() -> None:
    conversation = FakeSoul()
    await conversation.ask("read a.py b.py then list")
    await conversation.ask("list")
    ids = [call.id for message in conversation.history for call in message.tool_calls or ()]
    assert len(set(ids)) == len(ids) == 4


async def test_usage_grows_with_the_conversation() -> None:
    conversation = FakeSoul()
    await conversation.ask("hello")
    (before,) = (part for part in conversation.parts if isinstance(part, TokenUsage))
    await conversation.ask("read a.py")
    (after,) = (part for part in conversation.parts if isinstance(part, TokenUsage))
    assert after.input > before.total


class Folder:
    """Tools that work on files in memory, for the tour."""

    def __init__(self, *, reject: str = "", **files: str) -> None:
        self.files = {name.replace("_py", ".py"): text for name, text in files.items()}
        self.reject = reject
        self.todos: list[str] = []

    def __call__(self, name: str, arguments: dict[str, Any]) -> str:
        if name == self.reject:
            return "<system>ERROR: The call was rejected: not here</system>"
        match name:
            case "LS" | "Glob":
                return "<system>ok</system>\n" + "\n".join(sorted(self.files))
            case "WriteFile":
                self.files[arguments["path"]] = arguments["content"]
            case "EditFile" | "StrReplaceFile":
                edit, path = arguments["edit"], arguments["path"]
                assert self.files[path].count(edit["old"]) == 1
                self.files[path] = self.files[path].replace(edit["old"], edit["new"])
            case "SetTodoList":
                self.todos = [todo["status"] for todo in arguments["todos"]]
            case "Bash" | "Shell":
                return "<system>exit 0</system>\n" + self.files[arguments["command"].split()[1]]
        return "<system>ok</system>"


async def test_the_tour_plans_writes_edits_and_runs_a_file() -> None:
    folder = Folder()
    answers = await FakeSoul(respond=folder).ask("tour")
    assert [[name for name, _ in calls] for calls in calls_of(answers)] == [
        ["SetTodoList", "LS"],
        ["WriteFile"],
        ["SetTodoList", "EditFile"],
        ["SetTodoList", "Bash"],
        ["SetTodoList"],
        [],
    ]
    assert list(folder.files) == ["hello.py"]
    assert folder.todos == ["done"] * 3
    compile(folder.files["hello.py"], "hello.py", "exec")
    assert "demo tour" in answers[0].text
    assert folder.files["hello.py"].strip() in answers[-1].text
    assert "run rm hello.py" in answers[-1].text
    assert "`f3`" in answers[-1].text
    assert "KIMI_API_KEY" in answers[-1].text


@pytest.mark.parametrize("tools", [TOOLS, KIMI_TOOLS])
async def test_the_tour_never_changes_an_existing_file(tools: Sequence[str]) -> None:
    folder = Folder(hello_py="mine", hello_demo_py="mine too")
    await FakeSoul(respond=folder, tools=tools).ask("Tour!")
    assert folder.files["hello.py"] == "mine"
    assert folder.files["hello_demo.py"] == "mine too"
    assert "hello_demo_2.py" in folder.files


async def test_the_tour_ends_when_the_user_rejects_a_call() -> None:
    folder = Folder(reject="EditFile")
    answers = await FakeSoul(respond=folder).ask("tour")
    assert len(answers) == 4
    assert "not here" in answers[-1].text
    assert "run rm hello.py" in answers[-1].text
    answers_without_file = await FakeSoul(respond=Folder(reject="WriteFile")).ask("tour")
    assert "rm" not in answers_without_file[-1].text


async def test_the_tour_works_without_todo_and_listing_tools() -> None:
    answers = await FakeSoul(tools=("WriteFile", "EditFile", "Bash"), respond=Folder()).ask("tour")
    assert [[name for name, _ in calls] for calls in calls_of(answers)] == [
        ["WriteFile"],
        ["EditFile"],
        ["Bash"],
        [],
    ]


async def test_the_tour_names_the_missing_tools() -> None:
    (answer,) = await FakeSoul(tools=("ReadFile", "WriteFile")).ask("tour")
    assert "`EditFile` and `Bash`" in answer.text


async def test_the_summary_lists_the_user_s_requests() -> None:
    (answer,) = await FakeSoul().ask(
        f"{SUMMARY_REQUEST}\n\n<conversation>\n"
        "[earlier summary]\nSo far:\n- think\n\n[the user]\nread README.md\n\n"
        "[the assistant]\nI'll read it.\n- not this\n\n[the user]\nrun ls -l\n</conversation>"
    )
    assert answer.tool_calls is None
    assert answer.text.endswith("\n\n- think\n- read README.md\n- run ls -l")


async def test_a_summary_includes_the_previous_one() -> None:
    (answer,) = await FakeSoul().ask(
        f"{SUMMARY_REQUEST}\n\n<summary-so-far>\n要求：\n- 读 README.md\n</summary-so-far>\n\n"
        "<conversation>\n[the user]\n运行 ls -l\n</conversation>"
    )
    assert "- 读 README.md\n- 运行 ls -l" in answer.text
    assert "演示" in answer.text
