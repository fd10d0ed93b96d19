"""Bundled agents performing scripted tasks."""

from kimi_tui.base.assets import asset_path
from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.events import Reverted, SessionInfo, TurnEnd
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script

YOLO = {"yolo": True}


async def run_task(front: FakeFrontEnd, request: str) -> dict[str, str]:
    """Run a turn in which every tool call succeeds. Return the output of each call."""
    assert (await front.turn(request)).outcome == "finished"
    failed = {key: it.return_value.message for key, it in front.results.items() if it.return_value.is_error}
    assert not failed
    return {key: str(it.return_value.output) for key, it in front.results.items()}


async def test_default_reads_edits_runs_commands_and_delegates(home: SessionEnv) -> None:
    home.file("a.py").write_text("x = 1\n")
    home.script(
        script("for: Where is x set?", call("e1", "Grep", pattern="x =", output_mode="content")),
        script("for: Where is x set?", "text: In a.py:1."),
        script(
            "for: fix x",
            call("c1", "ReadFile", path="a.py"),
            call("c2", "Task", description="find x", prompt="Where is x set?", subagent_type="explore"),
        ),
        script(
            "for: fix x",
            call("c3", "EditFile", path="a.py", edit={"old": "x = 1", "new": "x = 2"}),
            bash("c4", "cat a.py"),
        ),
        script("for: fix x", "text: x is 2 now."),
    )
    async with home.open_session(**YOLO) as front:
        results = await run_task(front, "fix x")
        assert "In a.py:1." in results["c2"]
        assert results["c4"].strip() == "x = 2"


async def test_a_coder_changes_files_for_default(home: SessionEnv) -> None:
    home.script(
        script("for: Write b.txt", call("w1", "WriteFile", path="b.txt", content="b\n")),
        script("for: Write b.txt", "text: b.txt is written."),
        script(
            "for: have it written",
            call("c1", "Task", description="b.txt", prompt="Write b.txt", subagent_type="coder"),
        ),
        script("for: have it written", "text: done"),
    )
    async with home.open_session(**YOLO) as front:
        await run_task(front, "have it written")
        assert home.file("b.txt").read_text() == "b\n"


async def test_a_planner_reads_for_default(home: SessionEnv) -> None:
    home.file("a.py").write_text("x = 1\n")
    home.script(
        script("for: Plan it", call("r1", "ReadFile", path="a.py"), call("r2", "Glob", pattern="*.py")),
        script("for: Plan it", "text: 1. Rename x."),
        script("for: large", call("c1", "Task", description="plan", prompt="Plan it", subagent_type="plan")),
        script("for: large", "text: done"),
    )
    async with home.open_session(**YOLO) as front:
        assert "1. Rename x." in (await run_task(front, "large"))["c1"]


async def test_okabe_sends_a_d_mail(home: SessionEnv) -> None:
    home.script(
        script("text: looking", call("c1", "LS", path=".")),
        call("c2", "SendDMail", message="there is nothing", checkpoint_id=1),
        "text: nothing there",
    )
    async with home.open_session(agent="okabe", **YOLO) as front:
        await run_task(front, "look")
        assert front.of(Reverted)[0].reason == "dmail"


async def test_kimi_uses_kimi_clis_tool_names_and_parameters(home: SessionEnv) -> None:
    home.file("a.txt").write_text("one two\n")
    home.script(
        script("for: Count", "text: two words"),
        script(
            "for: go",
            call("c1", "Shell", command="cat a.txt", timeout=20),
            call("c2", "StrReplaceFile", path="a.txt", edit=[{"old": "one", "new": "1"}]),
            call("c3", "Grep", pattern="two", output_mode="count_matches"),
            call("c4", "SetTodoList", todos=[{"title": "count", "status": "done"}]),
            call("c5", "Agent", description="count", prompt="Count", subagent_type="coder"),
        ),
        script("for: go", "text: done"),
    )
    async with home.open_session(agent="kimi", **YOLO) as front:
        results = await run_task(front, "go")
        assert home.file("a.txt").read_text() == "1 two\n"
        assert results["c3"].strip() == "a.txt:1"
        assert "two words" in results["c5"]
        assert "Bash" not in front.of(SessionInfo)[0].tools


async def test_security_requests_approval_for_commands_and_writes_its_report(home: SessionEnv) -> None:
    home.file("app.py").write_text("os.system('ping ' + host)\n")
    home.script(
        script("text: auditing", call("c1", "Grep", pattern=r"os\.system", output_mode="content")),
        bash("c2", "python -m pytest"),
        call("c3", "WriteFile", path="security-report.md", content="# Report\n"),
        "text: one finding, app.py:1",
    )
    async with home.open_session(agent="security") as front:
        front.send(Prompt("audit it"))
        request = await front.next_approval_request()
        assert request.sender == "Bash"
        front.answer(request, "reject", "not now")
        front.answer(await front.next_approval_request(), "approve")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert "app.py:1" in front.results["c1"].return_value.output
        assert home.file("security-report.md").read_text() == "# Report\n"


async def test_security_beta_searches_its_knowledge_base(home: SessionEnv) -> None:
    knowledge = asset_path("agents", "security_beta") / "knowledge"
    home.script(
        script(
            "text: looking it up",
            call("c1", "ReadFile", path=str(knowledge / "README.md")),
            call("c2", "Grep", pattern="pickle", path=str(knowledge)),
        ),
        "text: pickle is dangerous",
    )
    async with home.open_session(agent="security_beta") as front:
        results = await run_task(front, "is pickle safe?")
        assert "deserialization.md" in results["c1"]
        assert "deserialization.md" in results["c2"]
        assert front.open_requests() == []


async def test_ctfer_solves_a_challenge_in_the_working_directory(home: SessionEnv) -> None:
    home.file("challenge.txt").write_text("ZmxhZ3toZWxsb30=\n")
    home.script(
        script("text: base64, it seems", call("c1", "ReadFile", path="challenge.txt")),
        bash("c2", "base64 -d challenge.txt"),
        "text: flag{hello}",
    )
    async with home.open_session(agent="ctfer", **YOLO) as front:
        assert (await run_task(front, "find the flag"))["c2"].strip() == "flag{hello}"
