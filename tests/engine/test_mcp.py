"""MCP servers in a session: tools, approval, prompts, resources and questions."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.mcp.config_discovery import McpSelection
from kimi_tui.wire.argument_completion import ArgumentChoices, CompleteArgument
from kimi_tui.wire.commands import Prompt, RunSlash, SetYolo
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import (
    MCPLoadingBegin,
    MCPLoadingEnd,
    Notification,
    SessionInfo,
    StatusUpdate,
    ToolOutput,
    TurnEnd,
)
from kimi_tui.wire.mcp_status import McpResource, McpStatus
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, call, script
from tests.mcp.odd_servers import config_entry


def mcp_selection(**entries: object) -> McpSelection:
    return McpSelection((json.dumps({"mcpServers": entries}),))


def output(front: FakeFrontEnd, call_id: str) -> str:
    return str(front.results[call_id].return_value.output)


async def wait_for_servers(front: FakeFrontEnd, *, connected: int) -> McpStatus:
    """Wait until all servers have answered or failed, `connected` of them successfully. Return the status."""
    update = await front.wait_for(
        StatusUpdate,
        where=lambda it: (
            it.mcp_status is not None and not it.mcp_status.loading and it.mcp_status.connected == connected
        ),
    )
    assert update.mcp_status is not None
    return update.mcp_status


async def wait_for_status_text(front: FakeFrontEnd, text: str) -> None:
    """Wait for a status that contains `text`, unless one was sent already."""
    if not any(text in str(it.mcp_status) for it in front.of(StatusUpdate)):
        await front.wait_for(StatusUpdate, where=lambda it: text in str(it.mcp_status))


async def run_and_approve(front: FakeFrontEnd, prompt: str) -> TurnEnd:
    """Run a turn in yolo mode."""
    front.send(SetYolo(True))
    return await front.turn(prompt)


async def test_a_session_without_servers_sends_no_status(home: SessionEnv) -> None:
    home.script("text: hello")
    async with home.open_session() as front:
        await front.turn("hi")
    assert not front.of(MCPLoadingBegin, MCPLoadingEnd)
    assert not [event for event in front.of(StatusUpdate) if event.mcp_status is not None]


async def test_a_tool_requests_approval_and_a_grant_covers_only_that_tool(home: SessionEnv) -> None:
    home.script(
        script(call("c1", "echo", text="one")),
        script(call("c2", "echo", text="two"), call("c3", "fail")),
        "text: done",
    )
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        front.send(Prompt("go"))
        first = await front.next_approval_request()
        assert (first.action, first.description) == ("call MCP tool", "odd: echo")
        assert first.rule == "MCP(odd:echo)"
        (display,) = first.display
        assert isinstance(display, BriefBlock)
        assert display.text.startswith("odd: echo\n{")
        front.answer(first, "approve_for_session")
        second = await front.next_approval_request()
        assert second.description == "odd: fail"
        front.answer(second, "approve")
        await front.wait_for(TurnEnd)
    assert output(front, "c1") == "You said: one"
    assert output(front, "c2") == "You said: two"
    assert front.results["c3"].return_value.is_error
    assert home.state["grants"] == ["MCP(odd:echo)"]


async def test_failing_and_hanging_servers_do_not_affect_others(home: SessionEnv) -> None:
    home.script(script(call("c1", "echo", text="hi")), "text: done")
    servers = mcp_selection(
        good=config_entry(),
        gone={"command": "no-such-program"},
        hanging={**config_entry("hangs_at_start"), "startupTimeout": 60_000},
        nonsense={"args": []},
        off={**config_entry(), "disabled": True},
    )
    async with home.open_session(mcp=servers) as front:
        await front.wait_for(
            StatusUpdate, where=lambda it: it.mcp_status is not None and it.mcp_status.connected == 1
        )
        assert (await run_and_approve(front, "go")).outcome == "finished"
    assert output(front, "c1") == "You said: hi"
    status = front.of(StatusUpdate)
    last = next(event.mcp_status for event in reversed(status) if event.mcp_status is not None)
    assert {it.name: it.status for it in last.servers} == {
        "good": "connected",
        "gone": "failed",
        "hanging": "connecting",
        "nonsense": "failed",
    }
    notices = {event.title: event.body for event in front.of(Notification)}
    assert "Can't find the program no-such-program" in notices["The MCP server gone is not connected"]
    assert "The command is missing" in notices["The MCP server nonsense can't be used"]


async def test_clashing_tool_names_get_the_servers_name_as_a_prefix(
    home: SessionEnv,
) -> None:
    home.file("a.txt").write_text("from the disk\n")
    home.script(
        script(call("c1", "ReadFile", path="a.txt"), call("c2", "two__echo", text="hi")), "text: done"
    )
    async with home.open_session(mcp=mcp_selection(one=config_entry("clash"), two=config_entry())) as front:
        status = await wait_for_servers(front, connected=2)
        assert status.servers[0].tools == ("one__ReadFile", "one__echo", "with_space____mlaut")
        assert "two__echo" in status.servers[1].tools
        assert "look" in status.servers[1].tools
        await run_and_approve(front, "go")
    assert "from the disk" in output(front, "c1")
    assert output(front, "c2") == "You said: hi"
    assert not [info for info in front.of(SessionInfo) if "one__echo" in info.tools]


async def test_unusable_tools_are_left_out_and_listed(home: SessionEnv) -> None:
    home.script("text: fine")
    async with home.open_session(
        mcp=mcp_selection(odd=config_entry("bad_schema"), task=config_entry("task", "taskless"))
    ) as front:
        status = await wait_for_servers(front, connected=2)
        odd, task = status.servers
        assert odd.tools == ("odd__echo", "free")
        assert "bad (its schema has the type string instead of object)" in odd.error
        assert "worse (in its schema, properties isn't an object)" in odd.error
        assert task.tools == ("task__echo",)
        assert "slow (it only runs as a task" in task.error
        assert (await front.turn("hi")).outcome == "finished"


async def test_a_result_can_have_images_links_and_files(home: SessionEnv) -> None:
    home.script(script(call("c1", "media")), "text: done")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        await run_and_approve(front, "go")
    parts = front.results["c1"].return_value.output
    assert [part.type for part in parts] == ["image_url", "text"]
    assert parts[0].image_url.url.startswith("data:image/png;base64,")
    text = parts[1].text
    assert "[Resource: memo://one (memo). Use its URI to read it.]" in text
    assert "\ntwo\n" in text
    assert "is damaged" in text
    sound = Path(text.partition(" was saved to ")[2].partition(".]")[0])
    assert sound.suffix == ".wav"
    assert sound.read_bytes() == b"RIFF\0\0"
    assert sound.stat().st_mode & 0o777 == 0o600


async def test_a_long_result_is_truncated_and_saved_to_a_file(home: SessionEnv) -> None:
    home.script(script(call("c1", "big", megabytes=1)), "text: done")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        await run_and_approve(front, "go")
    text = output(front, "c1")
    assert len(text) <= 100_000
    whole = Path(text.partition("the full output is in ")[2].partition(": read")[0])
    assert whole.stat().st_size == 1024 * 1024


async def test_progress_is_shown_as_output(home: SessionEnv) -> None:
    home.script(script(call("c1", "progress")), "text: done")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        await run_and_approve(front, "go")
    display = "".join(event.text for event in front.of(ToolOutput))
    assert display.splitlines()[0] == "1 of 3  step 0"
    assert output(front, "c1") == "all three"


async def test_a_prompt_is_a_slash_command_with_required_arguments(home: SessionEnv) -> None:
    home.script("text: reviewed")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        commands = {it.name: it for it in front.of(SessionInfo)[-1].slash_commands}
        assert commands["mcp:odd:review"].description == "Reviews. (Type /mcp:odd:review file [how])"
        front.send(RunSlash("mcp:odd:review"))
        end = await front.wait_for(TurnEnd)
        assert end.failure is not None
        assert end.failure.what == "Missing arguments for /mcp:odd:review: file."
        front.send(RunSlash('mcp:odd:review "a b.py" with care'))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
    assert "Review a b.py with care" in home.journal


async def test_a_mentioned_resource_is_read_for_the_model(home: SessionEnv) -> None:
    home.script("text: I see", "text: still")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        status = await wait_for_servers(front, connected=1)
        assert status.servers[0].resources == (McpResource("memo://one", "The first memo"),)
        await front.turn("what is in @odd:memo://one, and in @nobody:memo://one?")
        await front.turn("and now?")
    assert home.journal.count("What memo://one says.") == 1
    assert home.journal.count("Use echo with care.") == 1, "the instructions are added once"


async def test_the_model_can_list_and_read_resources(home: SessionEnv) -> None:
    read = call("c2", "ReadMcpResource", server="odd", uri="memo://other")
    home.script(script(call("c1", "ListMcpResources"), read), "text: done")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        assert request.rule == "MCP(odd:resources/read)"
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
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


async def test_a_server_can_ask_the_user_and_invalid_answers_are_asked_again(home: SessionEnv) -> None:
    home.script(script(call("c1", "elicit", schema=SCHEMA)), "text: done")
    answers = {"Name": "Ada", "age": "200", "colour": "green", "subscribe": "Yes", "note": "Skip"}
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        front.send(SetYolo(True))
        front.send(Prompt("go"))
        while len(answers) > 0:
            request = await front.wait_for(QuestionRequest)
            assert request.tool_call_id == "c1"
            given = {}
            for question in request.questions:
                field = question.question.rpartition("\n")[2]
                given[question.question] = answers.pop(field)
                if "above" not in question.question and field == "age":
                    answers["age"] = "36"
            front.wire.answer(QuestionResponse(request.id, given))
        await front.wait_for(TurnEnd)
    assert json.loads(output(front, "c1")) == {
        "action": "accept",
        "content": {"name": "Ada", "age": 36, "colour": "g", "subscribe": True},
    }


@pytest.mark.parametrize(("answer", "action"), [("Decline", "decline"), (None, "cancel")])
async def test_the_user_can_decline_or_dismiss_a_question(
    home: SessionEnv, answer: str | None, action: str
) -> None:
    home.script(script(call("c1", "elicit", schema={"type": "object", "properties": {}})), "text: done")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        front.send(SetYolo(True))
        front.send(Prompt("go"))
        request = await front.wait_for(QuestionRequest)
        given = {} if answer is None else {request.questions[0].question: answer}
        front.wire.answer(QuestionResponse(request.id, given))
        await front.wait_for(TurnEnd)
    assert json.loads(output(front, "c1"))["action"] == action


async def test_a_link_is_not_opened_without_the_user(home: SessionEnv) -> None:
    home.script(script(call("c1", "elicit", url="https://example.org/sign")), "text: done")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        front.send(SetYolo(True))
        front.send(Prompt("go"))
        request = await front.wait_for(QuestionRequest)
        (question,) = request.questions
        assert question.question == "Sign here\nhttps://example.org/sign"
        front.wire.answer(QuestionResponse(request.id, {question.question: "I've opened it myself"}))
        await front.wait_for(TurnEnd)
    assert json.loads(output(front, "c1"))["action"] == "accept"


async def test_sampling_requires_approval(home: SessionEnv) -> None:
    home.script(script(call("c1", "sample"), call("c2", "sample")), "text: 4", "text: done")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        front.send(Prompt("go"))
        for answer in ("approve", "approve", "approve", "reject"):
            request = await front.next_approval_request()
            if request.action == "use the model":
                assert request.rule == "MCP(odd:sampling/createMessage)"
                assert "What is 2 + 2?" in str(request.display)
                front.answer(
                    request, answer if answer != "approve" else "approve", "no" * (answer == "reject")
                )
            else:
                front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert json.loads(output(front, "c1"))["content"]["text"] == "4"
    assert "The user rejected the request" in output(front, "c2")


async def test_new_tools_and_reconnected_servers_are_reported(home: SessionEnv) -> None:
    home.script(script(call("c1", "grow")), "text: grown", script(call("c2", "die")), "text: dead")
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        await run_and_approve(front, "grow")
        await wait_for_status_text(front, "grown")
        await front.turn("die")
        await wait_for_status_text(front, "I can't go on")
        front.send(RunSlash("mcp reconnect odd"))
        await wait_for_servers(front, connected=1)
        front.send(RunSlash("mcp reconnect nobody"))
        assert (await front.next_notification()).title == "MCP server “nobody” doesn't exist."
        front.send(RunSlash("mcp"))
        listing = await front.next_notification()
        assert listing.title == "MCP servers"
        assert listing.body.startswith("odd: connected, ")


async def test_an_agent_can_exclude_tools_and_define_servers(home: SessionEnv) -> None:
    folder = home.path / "agent"
    folder.mkdir()
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"own": config_entry()}}))
    (folder / "prompt.md").write_text("Be good.")
    (folder / "agent.yaml").write_text(
        "name: a\nsystem_prompt: prompt.md\ntools: [Think]\nmcp: mcp.json\nmcp_exclude: [die, 'own:hang']\n"
    )
    async with home.open_session(agent_file=folder / "agent.yaml") as front:
        status = await wait_for_servers(front, connected=1)
    assert status.servers[0].name == "own"
    assert "echo" in status.servers[0].tools
    assert {"die", "hang"}.isdisjoint(status.servers[0].tools)


async def test_an_invalid_config_on_the_command_line_is_an_error(home: SessionEnv) -> None:
    with pytest.raises(ConfigError, match="--mcp-config, line 1"):
        async with home.open_session(mcp=McpSelection(("{",))):
            pass


async def test_a_server_completes_arguments_of_its_prompts(home: SessionEnv) -> None:
    home.script("text: unused")
    async with home.open_session(
        mcp=mcp_selection(odd=config_entry("completes"), mute=config_entry())
    ) as front:
        await wait_for_servers(front, connected=2)
        completes = {it.name: it.completes for it in front.of(SessionInfo)[-1].slash_commands}
        assert (completes["mcp:odd:review"], completes["mcp:mute:review"]) == (True, False)
        for text, choices in (
            ("src/", ("src/a.py", "'src/b c.py'")),
            ("src/a.py ", ("src/a.py like src/a.py", "src/a.py in two words")),
            ("nothing", ()),
        ):
            front.send(CompleteArgument("mcp:odd:review", text))
            assert await front.wait_for(ArgumentChoices) == ArgumentChoices("mcp:odd:review", text, choices)
        front.send(CompleteArgument("title", "x"))
        assert (await front.wait_for(ArgumentChoices)).choices == ()
    assert "ArgumentChoices" not in (home.session_dir / "wire.jsonl").read_text()


@pytest.mark.parametrize("is_trusted", [False, True])
async def test_a_read_only_hint_counts_in_plan_mode_only_if_the_user_trusts_it(
    home: SessionEnv, is_trusted: bool
) -> None:
    home.script(script(call("c1", "look")), "text: done")
    settings = home.settings(mcp={"trust_read_only_hints": ["one"] if is_trusted else []})
    async with home.open_session(
        mcp=mcp_selection(one=config_entry()), plan=True, yolo=True, settings=settings
    ) as front:
        await wait_for_servers(front, connected=1)
        await front.turn("go")
        assert front.results["c1"].return_value.is_error != is_trusted


async def test_servers_of_other_programs_are_offered_once_and_imported_after_a_yes(home: SessionEnv) -> None:
    user = home.path / "home"
    user.mkdir(exist_ok=True)
    odd = {"command": "odd", "args": ["\u202eserver"]}
    (user / ".claude.json").write_text(json.dumps({"mcpServers": {"odd": odd, "other": {"command": "x"}}}))
    async with home.open_session() as front:
        offer = await front.wait_for(Notification, where=lambda it: it.category == "mcp")
        assert offer.title == "MCP servers found: Claude Code"
        assert "doesn't use odd, other." in offer.body
        front.send(RunSlash("mcp import"))
        request = await front.wait_for(QuestionRequest)
        first, second = (question.question for question in request.questions)
        assert first == "Import the MCP server odd from Claude Code? odd ⟨U+202E⟩server"
        front.wire.answer(QuestionResponse(request.id, {first: "Import", second: "Skip"}))
        done = await front.wait_for(Notification, where=lambda it: "Imported" in it.title)
        assert done.title == "Imported MCP servers: odd"
        assert not front.of(MCPLoadingBegin)
    assert json.loads((home.data_dir / "mcp.json").read_text()) == {"mcpServers": {"odd": odd}}

    async with home.open_session() as front:
        await front.wait_for(MCPLoadingEnd)  # the imported one is used now
        front.send(RunSlash("mcp import"))
        request = await front.wait_for(QuestionRequest)
        assert len(request.questions) == 1
        front.wire.answer(QuestionResponse(request.id, {}))
        await front.wait_for(Notification, where=lambda it: it.title == "No MCP servers imported")
        assert not [it for it in front.of(Notification) if "found" in it.title]
    assert list(json.loads((home.data_dir / "mcp.json").read_text())["mcpServers"]) == ["odd"]


async def test_a_command_that_arrives_before_the_servers_start_is_not_lost(home: SessionEnv) -> None:
    (home.path / "home").mkdir(exist_ok=True)
    (home.path / "home" / ".claude.json").write_text(json.dumps({"mcpServers": {"a": {"command": "a"}}}))
    async with home.open_session(early_command=RunSlash("mcp import")) as front:
        request = await front.wait_for(QuestionRequest)
        assert request.questions[0].header == "a"
        front.wire.answer(QuestionResponse(request.id, {}))
        await front.wait_for(Notification, where=lambda it: it.title == "No MCP servers imported")
