"""Agents dialog, and the display of the context usage."""

from dataclasses import replace

from kimi_tui.tui.dialogs.agents import AgentsDialog
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.wire.agent_list import AgentList, AgentListItem, SubagentListItem
from kimi_tui.wire.commands import RunSlash
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.test_sessions import SessionServer

DEFAULT = AgentListItem(
    "default",
    "bundled",
    "Works on the code.",
    tools=("ReadFile", "Bash"),
    subagents=(SubagentListItem("explore", "Finds things out."),),
)
BROKEN = AgentListItem("odd", "project", problem="agent.yaml, line 3: unknown tool \x1b[2JNonsense")
GARDENER = AgentListItem("gardener", "user", "Looks after the garden. 照看花园", model="kimi-k2")
AGENT_LIST = AgentList((DEFAULT, GARDENER, BROKEN), "default")


async def open_agents_dialog(harness: AppHarness, line: str = "/agents") -> AgentsDialog:
    await harness.type_text(line)
    await harness.driver.press("enter")
    await harness.wait_until(lambda: isinstance(harness.app.screen, AgentsDialog))
    await harness.wait_until(lambda: RunSlash("agents") in harness.commands_of(RunSlash))
    harness.engine.send(AGENT_LIST)
    await harness.wait_until(lambda: "Works on the code." in harness.unwrapped_text())
    assert isinstance(harness.app.screen, AgentsDialog)
    return harness.app.screen


async def test_the_details_of_the_highlighted_agent_are_shown_and_enter_starts_a_session(open_app):
    session_server = SessionServer()
    async with open_app(serve_session=session_server, size=(80, 24)) as harness:
        await open_agents_dialog(harness)
        assert "explore  Finds things out." in harness.screen_text()
        assert "in use" in harness.screen_text()
        await harness.driver.press("down")
        await harness.wait_until(lambda: "kimi-k2" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_server.requests == [SessionRequest(agent="gardener")])


async def test_the_named_agent_is_highlighted_and_a_broken_one_starts_no_session(open_app):
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        await open_agents_dialog(harness, "/agents odd")
        await harness.wait_until(lambda: "unknown tool Nonsense" in harness.unwrapped_text())
        await harness.driver.press("enter")
        await harness.driver.pause()
        assert isinstance(harness.app.screen, AgentsDialog)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, AgentsDialog))
        assert session_server.requests == []


async def test_an_unknown_name_highlights_the_current_agent(open_app):
    async with open_app() as harness:
        dialog = await open_agents_dialog(harness, "/agents gardner")
        assert dialog.highlighted_agent == DEFAULT
        harness.engine.send(AgentList((GARDENER, DEFAULT), "default"))
        await harness.wait_until(lambda: dialog.choices.highlighted == 1)
        assert dialog.highlighted_agent == DEFAULT


async def test_a_double_click_starts_a_session(open_app):
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        dialog = await open_agents_dialog(harness)
        await harness.driver.click(dialog.choices, offset=(2, 1), times=2)
        await harness.wait_until(lambda: session_server.requests == [SessionRequest(agent="gardener")])


async def test_the_header_names_an_agent_other_than_the_default(open_app):
    async with open_app() as harness:
        assert "default" not in harness.screen_text()
        await harness.send(replace(SESSION, agent="gardener"))
        await harness.wait_until(lambda: "gardener" in harness.screen_text())
