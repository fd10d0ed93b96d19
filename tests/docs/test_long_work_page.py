"""docs/long-work.md: its examples load and do what the page says."""

from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.config.settings import Settings
from kimi_tui.engine.toolbox import BUILTIN_TOOLS
from kimi_tui.wire.background import TasksUpdate
from kimi_tui.wire.commands import RunSlash
from tests.docs.pages import examples
from tests.engine.front import Home, call, script

PAGE = "long-work.md"


def test_the_limits_are_those_that_hold_by_default() -> None:
    (limits,) = examples(PAGE, language="toml")
    assert Settings.model_validate(limits.toml).subagents == Settings().subagents


async def test_the_agents_of_the_page_give_work_on(home: Home) -> None:
    for example in examples(PAGE, language="yaml"):
        example.put_into(home.work_dir)
    folder = home.work_dir / ".kimi-tui" / "agents" / "team"
    team, writer, reader = (
        load_agent_spec(folder / name, known_tools=BUILTIN_TOOLS)
        for name in ("agent.yaml", "writer.yaml", "reader.yaml")
    )
    assert [list(it.subagents) for it in (team, writer)] == [["writer"], ["reader"]]
    assert [it.names_subagents for it in (team, writer, reader)] == [True, True, False]

    def task(call_id: str, kind: str, prompt: str) -> str:
        return call(call_id, "Task", description=prompt, prompt=prompt, subagent_type=kind)

    home.script(
        script("for: look", "text: a comma is missing"),
        script("for: change", task("t2", "reader", "look at it")),
        script("for: change", "text: changed and reviewed"),
        script("for: begin", task("t1", "writer", "change it")),
        script("for: begin", "text: done"),
    )
    async with home.opened(agent="team") as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert front.results["t1"].return_value.output == "changed and reviewed"


async def test_the_commands_of_the_page_list_and_stop_a_task(home: Home) -> None:
    (commands,) = examples(PAGE, language="text")
    home.script(script(call("c1", "Bash", command="sleep 60", run_in_background=True)), "text: started")
    async with home.opened(yolo=True) as front:
        await front.turn("begin")
        listing, stopping = commands.lines
        front.give(RunSlash(listing.removeprefix("/")))
        assert "bash-1 (sleep 60): running" in (await front.told()).body
        front.give(RunSlash(stopping.removeprefix("/")))
        await front.until(TasksUpdate, where=lambda it: it.tasks[0].status == "stopped")
