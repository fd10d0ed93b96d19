"""docs/long-work.md: its examples load and do what the page says."""

import shlex

from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.parsing import parse
from kimi_tui.config.settings import Settings
from kimi_tui.engine.toolbox import BUILTIN_TOOLS
from kimi_tui.wire.background import TasksUpdate
from kimi_tui.wire.commands import Prompt, RunSlash
from kimi_tui.wire.events import BtwEnd, PlanDisplay, TurnEnd
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse
from tests.docs.pages import examples
from tests.engine.front import Home, call, script, write

PAGE = "long-work.md"


def test_the_limits_are_those_that_hold_by_default() -> None:
    tables = [Settings.model_validate(example.toml) for example in examples(PAGE, language="toml")]
    assert len(tables) == 2
    assert all(table == Settings() for table in tables)


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
    commands = next(it for it in examples(PAGE, language="text") if it.heading == "Background tasks")
    home.script(script(call("c1", "Bash", command="sleep 60", run_in_background=True)), "text: started")
    async with home.opened(yolo=True) as front:
        await front.turn("begin")
        listing, stopping = commands.lines
        front.give(RunSlash(listing.removeprefix("/")))
        assert "bash-1 (sleep 60): running" in (await front.told()).body
        front.give(RunSlash(stopping.removeprefix("/")))
        await front.until(TasksUpdate, where=lambda it: it.tasks[0].status == "stopped")


async def test_the_side_question_of_the_page_is_answered(home: Home) -> None:
    (asked,) = next(it for it in examples(PAGE, language="text") if it.heading == "By the way").lines
    home.script("text: the second")
    async with home.opened() as front:
        front.give(RunSlash(asked.removeprefix("/")))
        assert (await front.until(BtwEnd)).response == "the second"


def test_the_command_lines_of_the_page_are_understood() -> None:
    for example in examples(PAGE, language="sh"):
        for line in example.lines:
            command = parse(shlex.split(line)[1:])
            assert command is not None
            check_combination(command)


async def test_a_plan_is_all_that_a_run_of_the_page_leaves(home: Home) -> None:
    home.script(
        script(call("c1", "ExitPlanMode", plan="1. Split it"), write("c2", "a.txt")), "text: so I would"
    )
    async with home.opened(plan=True) as front:
        front.give(Prompt("How would you split the settings module?"))
        asked = await front.until(QuestionRequest)
        front.wire.answer(QuestionResponse(asked.id, {}, unanswerable=True))
        assert (await front.until(TurnEnd)).outcome == "finished"
        assert front.of(PlanDisplay)[0].content == "1. Split it\n"
    assert not home.file("a.txt").exists()
