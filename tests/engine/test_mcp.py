"""MCP servers in a session: tools, consent, prompts, resources and questions."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.tools.mcp.sources import McpWish
from kimi_tui.wire.commands import Prompt, RunSlash, SetYolo
from kimi_tui.wire.completion import ArgumentChoices, CompleteArgument
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import (
    MCPLoadingBegin,
    MCPLoadingEnd,
    Notification,
    SessionInfo,
    StatusUpdate,
    ToolOutput,
    TurnEnd,
)
from kimi_tui.wire.mcp import McpResource, McpStatus
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse
from tests.engine.front import Front, Home, call, script
from tests.mcp.odd import entry


def wish(**entries: object) -> McpWish:
    return McpWish((json.dumps({"mcpServers": entries}),))


def output(front: Front, call_id: str) -> str:
    return str(front.results[call_id].return_value.output)


async def loaded(front: Front, *, connected: int) -> McpStatus:
    """The status once every server has answered or failed, and that many are connected."""
    update = await front.until(
        StatusUpdate,
        where=lambda it: (
            it.mcp_status is not None and not it.mcp_status.loading and it.mcp_status.connected == connected
        ),
    )
    assert update.mcp_status is not None
    return update.mcp_status


async def status_that_tells(front: Front, text: str) -> None:
    """Wait for a status that tells `text`, unless one was sent already."""
    if not any(text in str(it.mcp_status) for it in front.of(StatusUpdate)):
        await front.until(StatusUpdate, where=lambda it: text in str(it.mcp_status))


async def approving(front: Front, prompt: str) -> TurnEnd:
    """A turn in which everything is approved."""
    front.give(SetYolo(True))
    return await front.turn(prompt)


async def test_a_session_without_servers_says_nothing_of_them(home: Home) -> None:
    home.script("text: hello")
    async with home.opened() as front:
        await front.turn("hi")
    assert not front.of(MCPLoadingBegin, MCPLoadingEnd)
    assert not [event for event in front.of(StatusUpdate) if event.mcp_status is not None]


async def test_a_tool_asks_for_consent_and_a_grant_covers_that_tool_alone(home: Home) -> None:
    home.script(
        script(call("c1", "echo", text="one")),
        script(call("c2", "echo", text="two"), call("c3", "fail")),
        "text: done",
    )
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        front.give(Prompt("go"))
        first = await front.asked()
        assert (first.action, first.description) == ("call MCP tool", "odd: echo")
        assert first.rule == "MCP(odd:echo)"
        (shown,) = first.display
        assert isinstance(shown, BriefBlock)
        assert shown.text.startswith("odd: echo\n{")
        front.answer(first, "approve_for_session")
        second = await front.asked()
        assert second.description == "odd: fail"
        front.answer(second, "approve")
        await front.until(TurnEnd)
    assert output(front, "c1") == "You said: one"
    assert output(front, "c2") == "You said: two"
    assert front.results["c3"].return_value.is_error
    assert home.state["grants"] == ["MCP(odd:echo)"]


async def test_one_server_that_fails_and_one_that_hangs_cost_their_own_tools_only(home: Home) -> None:
    home.script(script(call("c1", "echo", text="hi")), "text: done")
    servers = wish(
        good=entry(),
        gone={"command": "no-such-program"},
        hanging={**entry("hangs_at_start"), "startupTimeout": 60_000},
        nonsense={"args": []},
        off={**entry(), "disabled": True},
    )
    async with home.opened(mcp=servers) as front:
        await front.until(
            StatusUpdate, where=lambda it: it.mcp_status is not None and it.mcp_status.connected == 1
        )
        assert (await approving(front, "go")).outcome == "finished"
    assert output(front, "c1") == "You said: hi"
    status = front.of(StatusUpdate)
    last = next(event.mcp_status for event in reversed(status) if event.mcp_status is not None)
    assert {it.name: it.status for it in last.servers} == {
        "good": "connected",
        "gone": "failed",
        "hanging": "connecting",
        "nonsense": "failed",
    }
    told = {event.title: event.body for event in front.of(Notification)}
    assert "no-such-program is not there" in told["The MCP server gone is not connected"]
    assert "has no command" in told["The MCP server nonsense can't be used"]


async def test_tools_that_clash_get_their_servers_name_and_a_built_in_stays_what_it_is(home: Home) -> None:
    home.file("a.txt").write_text("from the disk\n")
    home.script(
        script(call("c1", "ReadFile", path="a.txt"), call("c2", "two__echo", text="hi")), "text: done"
    )
    async with home.opened(mcp=wish(one=entry("clash"), two=entry())) as front:
        status = await loaded(front, connected=2)
        assert status.servers[0].tools == ("one__ReadFile", "one__echo", "with_space____mlaut")
        assert "two__echo" in status.servers[1].tools
        assert "look" in status.servers[1].tools
        await approving(front, "go")
    assert "from the disk" in output(front, "c1")
    assert output(front, "c2") == "You said: hi"
    assert not [info for info in front.of(SessionInfo) if "one__echo" in info.tools]


async def test_tools_that_can_not_be_used_are_left_out_and_named(home: Home) -> None:
    home.script("text: fine")
    async with home.opened(mcp=wish(odd=entry("bad_schema"), task=entry("task", "taskless"))) as front:
        status = await loaded(front, connected=2)
        odd, task = status.servers
        assert odd.tools == ("odd__echo", "free")
        assert "bad (its schema is of the type string, not object)" in odd.error
        assert "worse (its schema has properties that are no table)" in odd.error
        assert task.tools == ("task__echo",)
        assert "slow (it only runs as a task" in task.error
        assert (await front.turn("hi")).outcome == "finished"


async def test_an_answer_keeps_pictures_links_and_files(home: Home) -> None:
    home.script(script(call("c1", "media")), "text: done")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        await approving(front, "go")
    parts = front.results["c1"].return_value.output
    assert [part.type for part in parts] == ["image_url", "text"]
    assert parts[0].image_url.url.startswith("data:image/png;base64,")
    text = parts[1].text
    assert "[A resource: memo://one (memo). It can be read by its URI.]" in text
    assert "\ntwo\n" in text
    assert "came damaged" in text
    sound = Path(text.partition(" is kept in ")[2].partition(".]")[0])
    assert sound.suffix == ".wav"
    assert sound.read_bytes() == b"RIFF\0\0"
    assert sound.stat().st_mode & 0o777 == 0o600


async def test_a_long_answer_is_cut_and_whole_on_disk(home: Home) -> None:
    home.script(script(call("c1", "big", megabytes=1)), "text: done")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        await approving(front, "go")
    text = output(front, "c1")
    assert len(text) <= 100_000
    whole = Path(text.partition("the whole is in ")[2].partition(": read")[0])
    assert whole.stat().st_size == 1024 * 1024


async def test_progress_is_shown_as_output(home: Home) -> None:
    home.script(script(call("c1", "progress")), "text: done")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        await approving(front, "go")
    shown = "".join(event.text for event in front.of(ToolOutput))
    assert shown.splitlines()[0] == "1 of 3  step 0"
    assert output(front, "c1") == "all three"


async def test_a_prompt_is_a_command_and_an_argument_that_is_missing_is_told(home: Home) -> None:
    home.script("text: reviewed")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        commands = {it.name: it for it in front.of(SessionInfo)[-1].slash_commands}
        assert commands["mcp:odd:review"].description == "Reviews. (Type /mcp:odd:review file [how])"
        front.give(RunSlash("mcp:odd:review"))
        end = await front.until(TurnEnd)
        assert end.failure is not None
        assert end.failure.what == "/mcp:odd:review wants to know file."
        front.give(RunSlash('mcp:odd:review "a b.py" with care'))
        assert (await front.until(TurnEnd)).outcome == "finished"
    assert "Review a b.py with care" in home.journal


async def test_a_resource_that_is_mentioned_is_read_for_the_model(home: Home) -> None:
    home.script("text: I see", "text: still")
    async with home.opened(mcp=wish(odd=entry())) as front:
        status = await loaded(front, connected=1)
        assert status.servers[0].resources == (McpResource("memo://one", "The first memo"),)
        await front.turn("what is in @odd:memo://one, and in @nobody:memo://one?")
        await front.turn("and now?")
    assert home.journal.count("What memo://one says.") == 1
    assert home.journal.count("Use echo with care.") == 1, "what the server says of its tools is told once"


async def test_the_model_lists_and_reads_resources(home: Home) -> None:
    read = call("c2", "ReadMcpResource", server="odd", uri="memo://other")
    home.script(script(call("c1", "ListMcpResources"), read), "text: done")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        front.give(Prompt("go"))
        request = await front.asked()
        assert request.rule == "MCP(odd:resources/read)"
        front.answer(request, "approve")
        await front.until(TurnEnd)
    assert output(front, "c1") == "odd  memo://one  The first memo · text/plain\nodd  memo://{name}  memos"
    assert output(front, "c2") == "What memo://other says."


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2},
        "age": {"type": "integer", "maximum": 150},
        "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["red", "green"]},
        "subscribe": {"type": "boolean"},
        "note": {"type": "string"},
    },
    "required": ["name", "age", "colour", "subscribe"],
}


async def test_a_server_may_ask_the_user_and_a_bad_answer_is_asked_for_again(home: Home) -> None:
    home.script(script(call("c1", "elicit", schema=SCHEMA)), "text: done")
    answers = {"Name": "Ada", "age": "200", "colour": "green", "subscribe": "Yes", "note": "Leave it out"}
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        front.give(SetYolo(True))
        front.give(Prompt("go"))
        while len(answers) > 0:
            request = await front.until(QuestionRequest)
            assert request.tool_call_id == "c1"
            given = {}
            for question in request.questions:
                field = question.question.rpartition("\n")[2]
                given[question.question] = answers.pop(field)
                if "beyond" not in question.question and field == "age":
                    answers["age"] = "36"
            front.wire.answer(QuestionResponse(request.id, given))
        await front.until(TurnEnd)
    assert json.loads(output(front, "c1")) == {
        "action": "accept",
        "content": {"name": "Ada", "age": 36, "colour": "g", "subscribe": True},
    }


@pytest.mark.parametrize(("answer", "action"), [("Decline", "decline"), (None, "cancel")])
async def test_the_user_may_decline_or_dismiss(home: Home, answer: str | None, action: str) -> None:
    home.script(script(call("c1", "elicit", schema={"type": "object", "properties": {}})), "text: done")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        front.give(SetYolo(True))
        front.give(Prompt("go"))
        request = await front.until(QuestionRequest)
        given = {} if answer is None else {request.questions[0].question: answer}
        front.wire.answer(QuestionResponse(request.id, given))
        await front.until(TurnEnd)
    assert json.loads(output(front, "c1"))["action"] == action


async def test_a_link_is_opened_by_nobody_but_the_user(home: Home) -> None:
    home.script(script(call("c1", "elicit", url="https://example.org/sign")), "text: done")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        front.give(SetYolo(True))
        front.give(Prompt("go"))
        request = await front.until(QuestionRequest)
        (question,) = request.questions
        assert question.question == "Sign here\nhttps://example.org/sign"
        front.wire.answer(QuestionResponse(request.id, {question.question: "I have opened it myself"}))
        await front.until(TurnEnd)
    assert json.loads(output(front, "c1"))["action"] == "accept"


async def test_a_server_asks_the_model_only_with_consent(home: Home) -> None:
    home.script(script(call("c1", "sample"), call("c2", "sample")), "text: 4", "text: done")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        front.give(Prompt("go"))
        for answer in ("approve", "approve", "approve", "reject"):
            request = await front.asked()
            if request.action == "use the model":
                assert request.rule == "MCP(odd:sampling/createMessage)"
                assert "What is 2 + 2?" in str(request.display)
                front.answer(
                    request, answer if answer != "approve" else "approve", "no" * (answer == "reject")
                )
            else:
                front.answer(request, "approve")
        await front.until(TurnEnd)
    assert json.loads(output(front, "c1"))["content"]["text"] == "4"
    assert "The user does not allow it" in output(front, "c2")


async def test_tools_that_come_and_a_server_that_is_connected_anew_are_told(home: Home) -> None:
    home.script(script(call("c1", "grow")), "text: grown", script(call("c2", "die")), "text: dead")
    async with home.opened(mcp=wish(odd=entry())) as front:
        await loaded(front, connected=1)
        await approving(front, "grow")
        await status_that_tells(front, "grown")
        await front.turn("die")
        await status_that_tells(front, "I can't go on")
        front.give(RunSlash("mcp reconnect odd"))
        await loaded(front, connected=1)
        front.give(RunSlash("mcp reconnect nobody"))
        assert (await front.told()).title == "There is no MCP server nobody."
        front.give(RunSlash("mcp"))
        listing = await front.told()
        assert listing.title == "MCP servers"
        assert listing.body.startswith("odd: connected, ")


async def test_an_agent_does_not_get_what_it_excludes_and_brings_servers_of_its_own(home: Home) -> None:
    folder = home.path / "agent"
    folder.mkdir()
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"own": entry()}}))
    (folder / "prompt.md").write_text("Be good.")
    (folder / "agent.yaml").write_text(
        "name: a\nsystem_prompt: prompt.md\ntools: [Think]\nmcp: mcp.json\nmcp_exclude: [die, 'own:hang']\n"
    )
    async with home.opened(agent_file=folder / "agent.yaml") as front:
        status = await loaded(front, connected=1)
    assert status.servers[0].name == "own"
    assert "echo" in status.servers[0].tools
    assert {"die", "hang"}.isdisjoint(status.servers[0].tools)


async def test_a_config_of_the_command_line_that_can_not_be_read_ends_the_opening(home: Home) -> None:
    with pytest.raises(ConfigError, match="--mcp-config, line 1"):
        async with home.opened(mcp=McpWish(("{",))):
            pass


async def test_a_server_completes_the_arguments_of_its_prompts(home: Home) -> None:
    home.script("text: unused")
    async with home.opened(mcp=wish(odd=entry("completes"), mute=entry())) as front:
        await loaded(front, connected=2)
        told = {it.name: it.completes for it in front.of(SessionInfo)[-1].slash_commands}
        assert (told["mcp:odd:review"], told["mcp:mute:review"]) == (True, False)
        for text, choices in (
            ("src/", ("src/a.py", "'src/b c.py'")),
            ("src/a.py ", ("src/a.py like src/a.py", "src/a.py in two words")),
            ("nothing", ()),
        ):
            front.give(CompleteArgument("mcp:odd:review", text))
            assert await front.until(ArgumentChoices) == ArgumentChoices("mcp:odd:review", text, choices)
        front.give(CompleteArgument("title", "x"))
        assert (await front.until(ArgumentChoices)).choices == ()
    assert "ArgumentChoices" not in (home.session_dir / "wire.jsonl").read_text()
