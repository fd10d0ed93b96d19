import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kimi_tui.base.compacted import SUMMARY_REQUEST
from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart, system_note
from kimi_tui.base.message import FunctionCall, Message, ToolCall, ToolCallPart, user_message
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm.demo import DemoProvider
from kimi_tui.llm.provider import MessageStart, ProviderSettings, StreamPart, ToolSchema

SETTINGS = ProviderSettings(kind="demo", model="demo")
TOOLS = ("ReadFile", "WriteFile", "EditFile", "Bash", "Grep", "Glob", "LS", "Think", "SetTodoList")
KIMI_TOOLS = ("ReadFile", "WriteFile", "StrReplaceFile", "Shell", "Grep", "Glob", "SetTodoList")

Responder = Callable[[str, dict[str, Any]], str]
"""What a tool answers, as the model reads it."""


def did(name: str, arguments: dict[str, Any]) -> str:
    return f"<system>{name} went well.</system>\nfirst line\nsecond line"


def failing(*names: str, note: str = "ERROR: no such file") -> Responder:
    return lambda name, arguments: f"<system>{note}</system>" if name in names else did(name, arguments)


@dataclass
class Conversation:
    """Plays the soul: sends the history, runs every call with `respond`, until an answer has no calls."""

    provider: DemoProvider = field(default_factory=lambda: DemoProvider(SETTINGS, pace=0))
    tools: Sequence[str] = TOOLS
    respond: Responder = did
    history: list[Message] = field(default_factory=list)
    parts: list[StreamPart] = field(default_factory=list)

    async def say(self, *request: str) -> list[Message]:
        """The assistant's messages of the turn."""
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
        message = assembled(self.parts)
        self.history.append(message)
        for call in message.tool_calls or ():
            arguments = json.loads(call.function.arguments or "{}")
            result = self.respond(call.function.name, arguments)
            self.history.append(Message("tool", (TextPart(result),), tool_call_id=call.id))
        return message


def assembled(parts: Sequence[StreamPart]) -> Message:
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
async def test_each_verb_calls_its_tool_and_then_the_turn_ends_with_a_comment(
    request_text: str, call: tuple[str, dict[str, Any]]
) -> None:
    answers = await Conversation().say(request_text)
    assert calls_of(answers) == [[call], []]
    assert "That's all you asked for" in answers[-1].text
    assert "demo" in answers[-1].text


async def test_each_part_of_a_request_is_a_step_of_its_own_and_sees_the_result_before_it() -> None:
    conversation = Conversation(respond=lambda name, arguments: f"<system>fine</system>\noutput of {name}")
    answers = await conversation.say("read a.py then run ls then list")
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
    answers = await Conversation().say("read a.py b.py")
    assert calls_of(answers) == [[("ReadFile", {"path": "a.py"}), ("ReadFile", {"path": "b.py"})], []]


async def test_tools_under_the_names_of_kimi_cli_are_found() -> None:
    answers = await Conversation(tools=KIMI_TOOLS).say("edit a: x -> y then run ls then list src")
    assert calls_of(answers)[:3] == [
        [("StrReplaceFile", {"path": "a", "edit": {"old": "x", "new": "y"}})],
        [("Shell", {"command": "ls"})],
        [("Glob", {"pattern": "*", "directory": "src"})],
    ]
    assert "`a` is edited" in answers[1].text


async def test_a_part_without_its_tool_is_left_out_and_said_so() -> None:
    answers = await Conversation(tools=("ReadFile",)).say("run ls then read a.py then write b: c")
    assert [[name for name, _ in calls] for calls in calls_of(answers)] == [["ReadFile"], []]
    assert "no `Bash` tool" in answers[0].text
    assert "no `WriteFile` tool" in answers[1].text


async def test_without_any_tools_the_turn_ends_at_once() -> None:
    answers = await Conversation(tools=()).say("run ls then read a.py")
    assert len(answers) == 1
    assert "no `Bash` tool" in answers[0].text
    assert "no `ReadFile` tool" in answers[0].text
    assert "That's all you asked for" not in answers[0].text


async def test_a_question_goes_through_the_tool_for_questions_when_there_is_one() -> None:
    conversation = Conversation(tools=("AskUserQuestion",))
    question = calls_of(await conversation.say("ask Tabs? yes; no; maybe"))[0][0][1]["questions"][0]
    assert question["question"] == "Tabs?"
    assert [option["label"] for option in question["options"]] == ["yes", "no", "maybe"]
    offered = calls_of(await conversation.say("ask Sure?"))[0][0][1]["questions"][0]["options"]
    assert len(offered) == 2


async def test_a_question_is_asked_in_words_when_there_is_no_tool_for_it() -> None:
    (answer,) = await Conversation().say("ask Tabs? yes; no")
    assert "Tabs?" in answer.text
    assert "yes" in answer.text


async def test_a_failure_is_told_honestly_and_what_does_not_rest_on_it_goes_on() -> None:
    conversation = Conversation(respond=failing("ReadFile"))
    answers = await conversation.say("read gone.py then run ls")
    assert "failed: no such file" in answers[1].text
    assert "That's all you asked for" not in answers[-1].text
    assert calls_of(answers)[1] == [("Bash", {"command": "ls"})]


async def test_a_failed_change_stops_the_rest_and_names_it() -> None:
    conversation = Conversation(respond=failing("EditFile", note="ERROR: “x” is not in a.py."))
    answers = await conversation.say("edit a.py: x -> y then run pytest")
    assert calls_of(answers)[1:] == [[]]
    assert "“x” is not in a.py." in answers[1].text
    assert "Not done" in answers[1].text
    assert "run pytest" in answers[1].text
    assert "That's all you asked for" not in answers[1].text


async def test_a_rejected_call_stops_the_rest_with_what_the_user_said() -> None:
    conversation = Conversation(respond=failing("Bash", note="ERROR: The call was rejected: use make"))
    answers = await conversation.say("run pytest then read a.py")
    assert calls_of(answers)[1:] == [[]]
    assert "was not allowed" in answers[1].text
    assert "use make" in answers[1].text


async def test_permission_denied_by_the_disk_is_a_failure_and_no_refusal() -> None:
    conversation = Conversation(respond=failing("ReadFile", note="ERROR: Permission denied: a.py"))
    answers = await conversation.say("read a.py then list")
    assert "failed: Permission denied" in answers[1].text
    assert calls_of(answers)[1] == [("LS", {"path": "."})]


async def test_output_can_not_break_out_of_its_code_block() -> None:
    conversation = Conversation(
        respond=lambda name, arguments: "<system>ok</system>\n```\n# a heading\n\x1b[31m"
    )
    answers = await conversation.say("run cat x")
    assert "````\n```\n# a heading\n" in answers[-1].text
    assert "\x1b" not in answers[-1].text


async def test_long_output_is_shown_by_its_first_lines() -> None:
    conversation = Conversation(respond=lambda name, arguments: "\n".join(f"line {n}" for n in range(50)))
    answers = await conversation.say("run seq")
    assert "line 7\n… +42" in answers[-1].text
    assert "line 8" not in answers[-1].text


async def test_an_empty_output_is_said_to_be_empty() -> None:
    conversation = Conversation(respond=lambda name, arguments: "<system>Done.</system>")
    assert "(nothing)" in (await conversation.say("run true"))[-1].text


@pytest.mark.parametrize(
    "request_text", ["what is the meaning of life?", "fix the bug in login.py", "help", ""]
)
async def test_what_it_does_not_know_is_answered_with_what_to_type_and_how_to_reach_a_model(
    request_text: str,
) -> None:
    (answer,) = await Conversation().say(request_text)
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
    assert ("than I can answer" in answer.text) == (request_text not in ("help", ""))


async def test_the_lines_that_the_guide_offers_are_lines_that_it_understands() -> None:
    for question in ("what?", "什么？"):
        (guide,) = await Conversation().say(question)
        offered = [line.split("`")[1] for line in guide.text.split("\n") if line.startswith("- `")]
        assert len(offered) == 4
        for line in offered:
            assert calls_of(await Conversation().say(line))[0], line


@pytest.mark.parametrize("request_text", ["hello", "Hi!", " hey ", "hello there."])
async def test_a_greeting_is_returned_with_a_hint_of_the_tour(request_text: str) -> None:
    (answer,) = await Conversation().say(request_text)
    assert answer.text.startswith("Hello!")
    assert "demo" in answer.text
    assert "`tour`" in answer.text


@pytest.mark.parametrize(
    ("request_text", "expected"), [("你好", "你好"), ("帮我修复登录", "答不上来"), ("列出 src", "src")]
)
async def test_chinese_is_answered_in_chinese(request_text: str, expected: str) -> None:
    answers = await Conversation().say(request_text)
    text = "".join(answer.text for answer in answers)
    assert expected in text
    assert "演示" in text


async def test_a_conversation_without_a_word_gets_the_guide() -> None:
    assert "KIMI_API_KEY" in (await Conversation().step()).text


async def test_a_picture_is_said_to_be_out_of_reach() -> None:
    picture = ImageURLPart(MediaURL("data:image/png;base64,AAAA"))
    conversation = Conversation(history=[user_message((picture,))])
    assert "can't see pictures" in (await conversation.step()).text


async def test_the_notes_of_the_program_are_not_taken_for_requests() -> None:
    conversation = Conversation()
    answers = await conversation.say("read a.py", "<system>CHECKPOINT 1</system>")
    assert calls_of(answers) == [[("ReadFile", {"path": "a.py"})], []]
    mixed = user_message((system_note("a.py changed"), TextPart("list")))
    conversation.history.append(mixed)
    assert calls_of([await conversation.step()]) == [[("LS", {"path": "."})]]


async def test_a_new_request_is_answered_whatever_was_done_before() -> None:
    conversation = Conversation()
    await conversation.say("read a.py then run ls")
    assert calls_of(await conversation.say("list")) == [[("LS", {"path": "."})], []]


async def test_continue_goes_on_where_an_interrupted_request_stopped() -> None:
    conversation = Conversation()
    conversation.history.append(user_message("read a.py then run ls then list"))
    await conversation.step()
    await conversation.step()
    answers = await conversation.say("continue")
    assert calls_of(answers) == [[("LS", {"path": "."})], []]


async def test_it_thinks_only_when_thinking_is_on() -> None:
    silent = Conversation()
    await silent.say("read a.py")
    assert not any(isinstance(part, ThinkPart) for part in silent.parts)
    thoughtful = Conversation(provider=DemoProvider(SETTINGS, pace=0).with_thinking("high"))
    thoughtful.history.append(user_message("read a.py"))
    await thoughtful.step()
    thought = "".join(part.think for part in thoughtful.parts if isinstance(part, ThinkPart))
    assert "`ReadFile`" in thought
    kinds = [type(part) for part in thoughtful.parts]
    assert kinds.index(ThinkPart) < kinds.index(TextPart) < kinds.index(ToolCall)


async def test_it_streams_like_a_model_in_small_pieces_with_an_id_and_usage() -> None:
    conversation = Conversation()
    await conversation.say("hello")
    first, *pieces, last = conversation.parts
    assert isinstance(first, MessageStart)
    assert isinstance(last, TokenUsage)
    assert last.input > 0
    assert last.output > 0
    texts = [part.text for part in pieces if isinstance(part, TextPart)]
    assert len(texts) > 20
    assert max(map(len, texts)) < 30


async def test_calls_of_a_conversation_never_share_an_id() -> None:
    conversation = Conversation()
    await conversation.say("read a.py b.py then list")
    await conversation.say("list")
    ids = [call.id for message in conversation.history for call in message.tool_calls or ()]
    assert len(set(ids)) == len(ids) == 4


async def test_usage_grows_with_the_conversation() -> None:
    conversation = Conversation()
    await conversation.say("hello")
    (before,) = (part for part in conversation.parts if isinstance(part, TokenUsage))
    await conversation.say("read a.py")
    (after,) = (part for part in conversation.parts if isinstance(part, TokenUsage))
    assert after.input > before.total


class Folder:
    """Tools over files in memory, for the tour."""

    def __init__(self, *, refuse: str = "", **files: str) -> None:
        self.files = {name.replace("_py", ".py"): text for name, text in files.items()}
        self.refuse = refuse
        self.todos: list[str] = []

    def __call__(self, name: str, arguments: dict[str, Any]) -> str:
        if name == self.refuse:
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
    answers = await Conversation(respond=folder).say("tour")
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
async def test_the_tour_never_touches_a_file_that_was_there(tools: Sequence[str]) -> None:
    folder = Folder(hello_py="mine", hello_demo_py="mine too")
    await Conversation(respond=folder, tools=tools).say("Tour!")
    assert folder.files["hello.py"] == "mine"
    assert folder.files["hello_demo.py"] == "mine too"
    assert "hello_demo_2.py" in folder.files


async def test_the_tour_ends_where_the_user_says_no() -> None:
    folder = Folder(refuse="EditFile")
    answers = await Conversation(respond=folder).say("tour")
    assert len(answers) == 4
    assert "not here" in answers[-1].text
    assert "run rm hello.py" in answers[-1].text
    refused_at_once = await Conversation(respond=Folder(refuse="WriteFile")).say("tour")
    assert "rm" not in refused_at_once[-1].text


async def test_the_tour_does_without_todos_and_globs() -> None:
    answers = await Conversation(tools=("WriteFile", "EditFile", "Bash"), respond=Folder()).say("tour")
    assert [[name for name, _ in calls] for calls in calls_of(answers)] == [
        ["WriteFile"],
        ["EditFile"],
        ["Bash"],
        [],
    ]


async def test_the_tour_says_which_tools_it_lacks() -> None:
    (answer,) = await Conversation(tools=("ReadFile", "WriteFile")).say("tour")
    assert "`EditFile` and `Bash`" in answer.text


async def test_a_conversation_is_summarised_by_what_the_user_asked_for() -> None:
    (answer,) = await Conversation().say(
        f"{SUMMARY_REQUEST}\n\n<conversation>\n"
        "[earlier summary]\nSo far:\n- think\n\n[the user]\nread README.md\n\n"
        "[the assistant]\nI'll read it.\n- not this\n\n[the user]\nrun ls -l\n</conversation>"
    )
    assert answer.tool_calls is None
    assert answer.text.endswith("\n\n- think\n- read README.md\n- run ls -l")


async def test_a_summary_goes_on_with_the_one_before_it() -> None:
    (answer,) = await Conversation().say(
        f"{SUMMARY_REQUEST}\n\n<summary-so-far>\n要求：\n- 读 README.md\n</summary-so-far>\n\n"
        "<conversation>\n[the user]\n运行 ls -l\n</conversation>"
    )
    assert "- 读 README.md\n- 运行 ls -l" in answer.text
    assert "演示" in answer.text
