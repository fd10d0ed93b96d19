"""The agents: what each one is for, and a new session with one. What fills the model's window."""

from dataclasses import replace

from kimi_tui.tui.dialogs.agents import AgentsDialog
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.wire.agents import AgentList, ListedAgent, ListedSubagent
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.window import WindowFilling, WindowPart
from tests.tui.conftest import SESSION, Desk
from tests.tui.test_sessions import Reopening

DEFAULT = ListedAgent(
    "default",
    "bundled",
    "Works on the code.",
    tools=("ReadFile", "Bash"),
    subagents=(ListedSubagent("explore", "Finds things out."),),
)
BROKEN = ListedAgent("odd", "project", problem="agent.yaml, line 3: there is no tool \x1b[2JNonsense")
GARDENER = ListedAgent("gardener", "user", "Looks after the garden. 照看花园", model="kimi-k2")
LISTED = AgentList((DEFAULT, GARDENER, BROKEN), "default")


async def listed(desk: Desk, line: str = "/agents") -> AgentsDialog:
    await desk.write(line)
    await desk.pilot.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, AgentsDialog))
    await desk.until(lambda: RunSlash("agents") in desk.told(RunSlash))
    desk.engine.say(LISTED)
    await desk.until(lambda: "Works on the code." in desk.words())
    assert isinstance(desk.app.screen, AgentsDialog)
    return desk.app.screen


async def test_the_marked_agent_is_told_of_and_begins_a_new_session(open_desk):
    reopening = Reopening()
    async with open_desk(reopen=reopening, size=(80, 24)) as desk:
        await listed(desk)
        assert "explore  Finds things out." in desk.shown()
        assert "in use" in desk.shown()
        await desk.pilot.press("down")
        await desk.until(lambda: "kimi-k2" in desk.shown())
        await desk.pilot.press("enter")
        await desk.until(lambda: reopening.wishes == [SessionWish(agent="gardener")])


async def test_an_agent_that_is_named_is_marked_and_a_broken_one_begins_nothing(open_desk):
    reopening = Reopening()
    async with open_desk(reopen=reopening) as desk:
        await listed(desk, "/agents odd")
        await desk.until(lambda: "there is no tool Nonsense" in desk.words())
        await desk.pilot.press("enter")
        await desk.pilot.pause()
        assert isinstance(desk.app.screen, AgentsDialog)
        await desk.pilot.press("escape")
        await desk.until(lambda: not isinstance(desk.app.screen, AgentsDialog))
        assert reopening.wishes == []


async def test_a_name_that_no_agent_has_marks_the_one_in_use(open_desk):
    async with open_desk() as desk:
        dialog = await listed(desk, "/agents gardner")
        assert dialog.marked == DEFAULT
        desk.engine.say(AgentList((GARDENER, DEFAULT), "default"))
        await desk.until(lambda: dialog.choices.marked == 1)
        assert dialog.marked == DEFAULT


async def test_a_double_click_begins_a_session_too(open_desk):
    reopening = Reopening()
    async with open_desk(reopen=reopening) as desk:
        dialog = await listed(desk)
        await desk.pilot.click(dialog.choices, offset=(2, 1), times=2)
        await desk.until(lambda: reopening.wishes == [SessionWish(agent="gardener")])


async def test_the_header_names_an_agent_that_is_not_the_usual_one(open_desk):
    async with open_desk() as desk:
        assert "default" not in desk.shown()
        await desk.say(replace(SESSION, agent="gardener"))
        await desk.until(lambda: "gardener" in desk.shown())


async def test_the_window_is_told_by_kind_with_what_is_free(open_desk):
    async with open_desk() as desk:
        parts = (WindowPart("system prompt", 1_000, 1), WindowPart("tool results", 49_000, 12))
        desk.engine.say(WindowFilling(parts, 50_000, 200_000, 150_000, is_measured=True))
        await desk.until(lambda: "The context takes 50,000 of 200,000 tokens (25%)." in desk.shown())
        assert "results of tools (12)           49,000  24.5%  ████▉" in desk.shown()
        assert "free                           150,000  75.0%  ███████████████" in desk.shown()
        assert "From 150,000 tokens on the conversation is compacted." in desk.shown()
