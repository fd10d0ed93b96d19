"""docs/long-work.md: its examples load and do what the page says."""

import shlex

from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.parser import parse
from kimi_tui.config.settings import Settings
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS
from kimi_tui.wire.background import TasksUpdate
from kimi_tui.wire.commands import Prompt, RunSlash
from kimi_tui.wire.events import BtwEnd, PlanDisplay, TurnEnd
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse
from tests.docs.pages import examples
from tests.engine.fake_front_end import SessionEnv, call, script, write

PAGE = "long-work.md"


def test_the_page_shows_the_default_limits() -> None:
    tables = [Settings.model_validate(example.toml) for example in examples(PAGE, language="toml")]
    assert len(tables) == 2
    assert all(table == Settings() for table in tables)


async def test_the_nested_sub_agents_of_the_page_work(home: SessionEnv) -> None:
    for example in examples(PAGE, language="yaml"):
        example.put_into(home.work_dir)
    directory = home.work_dir / ".kimi-tui" / "agents" / "team"
    team, writer, reader = (
        load_agent_spec(directory / name, known_tools=BUILTIN_TOOLS)
        for name in ("agent.yaml", "writer.yaml", "reader.yaml")
    )
    assert [list(it.subagents) for it in (team, writer)] == [["writer"], ["reader"]]
    assert [it.declares_subagents for it in (team, writer, reader)] == [True, True, False]

    def task(call_id: str, kind: str, prompt: str) -> str:
        return call(call_id, "Task", description=prompt, prompt=prompt, subagent_type=kind)

    home.script(
        script("for: look", "text: a comma is missing"),
        script("for: change", task("t2", "reader", "look at it")),
        script("for: change", "text: changed and reviewed"),
        script("for: begin", task("t1", "writer", "change it")),
        script("for: begin", "text: done"),
    )
    async with home.open_session(agent="team") as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert front.results["t1"].return_value.output == "changed and reviewed"


async def test_the_commands_of_the_page_list_and_stop_a_task(home: SessionEnv) -> None:
    commands = next(it for it in examples(PAGE, language="text") if it.heading == "Background tasks")
    home.script(script(call("c1", "Bash", command="sleep 60", run_in_background=True)), "text: started")
    async with home.open_session(yolo=True) as front:
        await front.turn("begin")
        list_command, stop_command = commands.lines
        front.send(RunSlash(list_command.removeprefix("/")))
        assert "bash-1 (sleep 60): running" in (await front.next_notification()).body
        front.send(RunSlash(stop_command.removeprefix("/")))
        await front.wait_for(TasksUpdate, where=lambda it: it.tasks[0].status == "stopped")


async def test_the_side_question_of_the_page_is_answered(home: SessionEnv) -> None:
    (command,) = next(it for it in examples(PAGE, language="text") if it.heading == "Side questions").lines
    home.script("text: the second")
    async with home.open_session() as front:
        front.send(RunSlash(command.removeprefix("/")))
        assert (await front.wait_for(BtwEnd)).response == "the second"


def test_the_command_lines_of_the_page_parse() -> None:
    for example in examples(PAGE, language="sh"):
        for line in example.lines:
            command = parse(shlex.split(line)[1:])
            assert command is not None
            check_conflicts(command)


async def test_a_run_in_plan_mode_prints_a_plan_and_changes_nothing(home: SessionEnv) -> None:
    home.script(
        script(call("c1", "ExitPlanMode", plan="1. Split it"), write("c2", "a.txt")), "text: here is the plan"
    )
    async with home.open_session(plan=True) as front:
        front.send(Prompt("How would you split the settings module?"))
        request = await front.wait_for(QuestionRequest)
        front.wire.answer(QuestionResponse(request.id, {}, unanswerable=True))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert front.of(PlanDisplay)[0].content == "1. Split it\n"
    assert not home.file("a.txt").exists()
