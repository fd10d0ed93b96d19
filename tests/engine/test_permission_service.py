"""/permissions: the list of rules with sources and dates, changes of rules, and grants of an earlier run."""

from pathlib import Path

import pytest

from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.wire.commands import Prompt, RunSlash, SetAcceptEdits
from kimi_tui.wire.events import ApprovalResponse, Notification, SessionInfo, TurnEnd
from kimi_tui.wire.permissions import (
    ChangePermission,
    ConfirmGrants,
    ListPermissions,
    PermissionChanged,
    PermissionList,
    PermissionRule,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, script, write

USER_CONFIG = """\
[permissions]
# what the agent may do
allow = [
    "Bash(git log *)", # 2026-01-31
    "Edit(docs/**)",
]
deny = ["Bash(git push *)"]
"""


@pytest.fixture
def configured(home: SessionEnv) -> SessionEnv:
    """A session whose rules come from the user's config file."""
    home.data_dir.mkdir(parents=True, exist_ok=True)
    config_file(home).write_text(USER_CONFIG)
    apply_config(home)
    return home


def config_file(home: SessionEnv) -> Path:
    return home.data_dir / "config.toml"


def apply_config(home: SessionEnv) -> None:
    config = read_config(data_dir=home.data_dir, work_dir=home.work_dir)
    home.permissions = settings_of(config).permissions.model_dump() | {"run_first": home.runs_first}


async def list_rules(front: FakeFrontEnd) -> dict[str, PermissionRule]:
    front.send(ListPermissions())
    event = await front.wait_for(PermissionList, where=lambda it: not it.is_question)
    return {rule.rule: rule for rule in event.rules}


async def change(front: FakeFrontEnd, rule: PermissionRule, new_rule: str | None) -> PermissionChanged:
    front.send(ChangePermission(rule.list, rule.rule, rule.source, rule.place, new_rule))
    return await front.wait_for(PermissionChanged)


async def grant_for_session(home: SessionEnv, command: str = "git diff a") -> None:
    home.script(script("text: looking", bash("c1", command)), "text: done")
    async with home.open_session() as front:
        front.send(Prompt("go"))
        front.answer(await front.next_approval_request(), "approve_for_session")
        await front.wait_for(TurnEnd)


async def asks_about_next_call(front: FakeFrontEnd) -> bool:
    """Run a turn of the script, reject its call if it asks, and return whether it asked."""
    front.send(Prompt("go"))
    n_before, asked = len(front.of(TurnEnd)), False
    while len(front.of(TurnEnd)) == n_before:
        event = await front.wait_for(object, where=lambda it: isinstance(it, ApprovalRequest | TurnEnd))
        if isinstance(event, ApprovalRequest):
            asked = True
            front.answer(event, "reject")
        else:
            break
    return asked


async def test_each_rule_is_listed_with_its_source_line_and_date(configured: SessionEnv) -> None:
    async with configured.open_session() as front:
        rules = await list_rules(front)
    log, docs, push = rules["Bash(git log *)"], rules["Edit(docs/**)"], rules["Bash(git push *)"]
    assert (log.list, log.source, log.line, log.added) == ("allow", "user", 4, "2026-01-31")
    assert (docs.line, docs.added, bool(docs.file_changed)) == (5, "", True)
    assert (push.list, push.place) == ("deny", str(config_file(configured)))
    assert [rule.list for rule in rules.values()] == sorted(
        (rule.list for rule in rules.values()), key=["deny", "ask", "allow"].index
    )
    assert any(rule.source == "mode" and not rule.is_editable for rule in rules.values())


async def test_a_revoked_rule_is_removed_from_the_file_and_asks_immediately(configured: SessionEnv) -> None:
    configured.script(
        script("text: a", bash("c1", "git log -1")),
        "text: b",
        script("text: c", bash("c2", "git log -1")),
        "text: d",
    )
    async with configured.open_session() as front:
        assert not await asks_about_next_call(front)
        outcome = await change(front, (await list_rules(front))["Bash(git log *)"], None)
        assert outcome.problem == ""
        assert "Bash(git log *)" not in await list_rules(front)
        assert await asks_about_next_call(front)
    text = config_file(configured).read_text()
    assert "git log" not in text
    assert "# what the agent may do" in text
    assert "Edit(docs/**)" in text


async def test_a_narrowed_rule_replaces_the_wide_one(configured: SessionEnv) -> None:
    configured.script(
        script("text: a", bash("c1", "git log -1")),
        "text: b",
        script("text: c", bash("c2", "git log --oneline")),
        "text: d",
    )
    async with configured.open_session() as front:
        rule = (await list_rules(front))["Bash(git log *)"]
        assert (await change(front, rule, "Bash(git log --oneline *)")).problem == ""
        assert await asks_about_next_call(front)
        assert not await asks_about_next_call(front)
        (narrowed,) = [it for it in (await list_rules(front)).values() if "--oneline" in it.rule]
        assert (narrowed.source, narrowed.line) == ("user", 4)


async def test_a_revoked_deny_rule_no_longer_denies(configured: SessionEnv) -> None:
    configured.script(script("text: a", bash("c1", "git push origin x")), "text: b")
    async with configured.open_session() as front:
        await change(front, (await list_rules(front))["Bash(git push *)"], None)
        assert await asks_about_next_call(front)


@pytest.mark.parametrize("new_rule", ["Bash(", "nonsense", "Bash(*)", "Edit(../x)"])
async def test_an_invalid_rule_changes_nothing_and_says_why(configured: SessionEnv, new_rule: str) -> None:
    async with configured.open_session() as front:
        rule = (await list_rules(front))["Bash(git log *)"]
        assert (await change(front, rule, new_rule)).problem
        assert "Bash(git log *)" in await list_rules(front)
    assert config_file(configured).read_text() == USER_CONFIG


async def test_a_client_cannot_change_other_files(configured: SessionEnv) -> None:
    other = configured.path / "other.toml"
    other.write_text(USER_CONFIG)
    async with configured.open_session() as front:
        command = ChangePermission("allow", "Bash(git log *)", "user", str(other), None)
        front.send(command)
        assert (await front.wait_for(PermissionChanged)).problem
    assert other.read_text() == USER_CONFIG


async def test_a_rule_that_another_file_contains_stays_in_effect(configured: SessionEnv) -> None:
    project = configured.work_dir / ".kimi-tui" / "config.toml"
    project.parent.mkdir()
    project.write_text('[permissions]\nallow = ["Bash(git log *)"]\n')
    configured.script(script("text: a", bash("c1", "git log -1")), "text: b")
    async with configured.open_session() as front:
        front.send(ListPermissions())
        rules = (await front.wait_for(PermissionList)).rules
        user = next(it for it in rules if it.rule == "Bash(git log *)" and it.source == "user")
        assert any(it.rule == "Bash(git log *)" and it.source == "project" for it in rules)
        await change(front, user, None)
        assert not await asks_about_next_call(front)


async def test_changing_a_projects_rule_keeps_its_file_trusted(configured: SessionEnv) -> None:
    project = configured.work_dir / ".kimi-tui" / "config.toml"
    project.parent.mkdir()
    project.write_text('[permissions]\nallow = ["Bash(git show *)"]\n')
    async with configured.open_session() as front:
        rule = (await list_rules(front))["Bash(git show *)"]
        assert (await change(front, rule, "Bash(git show --stat *)")).problem == ""
    config = read_config(data_dir=configured.data_dir, work_dir=configured.work_dir)
    assert config.untrusted_source is None
    assert "Bash(git show --stat *)" in settings_of(config).permissions.allow


async def test_always_allow_writes_the_date(home: SessionEnv) -> None:
    home.script(script("text: looking", bash("c1", "git diff a")), "text: done")
    async with home.open_session() as front:
        front.send(Prompt("go"))
        front.answer(await front.next_approval_request(), "approve_always")
        await front.wait_for(TurnEnd)
        rule = (await list_rules(front))["Bash(git diff *)"]
        assert rule.source == "project"
        assert len(rule.added) == len("2026-01-31")


async def test_grants_of_an_earlier_run_are_listed_and_ask_until_confirmed(home: SessionEnv) -> None:
    await grant_for_session(home)
    home.script(
        script("text: a", bash("c1", "git diff b")),
        "text: b",
        script("text: c", bash("c2", "git diff b")),
        "text: d",
    )
    async with home.open_session(continue_last=True) as front:
        (question,) = [it for it in front.of(PermissionList) if it.is_question]
        assert [(it.rule, it.needs_confirmation) for it in question.rules] == [("Bash(git diff *)", True)]
        assert question.rules[0].added
        assert await asks_about_next_call(front)
        front.send(ConfirmGrants(keep=True))
        assert (await front.wait_for(PermissionChanged)).problem == ""
        assert not (await list_rules(front))["Bash(git diff *)"].needs_confirmation
        assert not await asks_about_next_call(front)
    assert home.state["grants"] == ["Bash(git diff *)"]


async def test_grants_that_are_not_wanted_any_longer_are_forgotten(home: SessionEnv) -> None:
    await grant_for_session(home)
    home.script("text: hi")
    async with home.open_session(continue_last=True) as front:
        front.send(ConfirmGrants(keep=False))
        await front.wait_for(PermissionChanged)
    assert home.state["grants"] == []
    async with home.open_session(continue_last=True) as front:
        assert not front.of(PermissionList)


async def test_only_the_chosen_grants_are_confirmed(home: SessionEnv) -> None:
    await grant_for_session(home, "git diff a && git log a")
    home.script("text: hi")
    async with home.open_session(continue_last=True) as front:
        front.send(ConfirmGrants(keep=True, rules=("Bash(git log *)", "Bash(rm *)")))
        await front.wait_for(PermissionChanged)
        rules = await list_rules(front)
        assert not rules["Bash(git log *)"].needs_confirmation
        assert rules["Bash(git diff *)"].needs_confirmation
        assert "Bash(rm *)" not in rules


async def test_a_session_without_grants_asks_nothing_on_resume(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        await front.turn("hello")
    async with home.open_session(continue_last=True) as front:
        assert not front.of(PermissionList)


async def test_a_session_grant_is_revoked(home: SessionEnv) -> None:
    home.script(
        script("text: a", bash("c1", "git diff a")),
        "text: b",
        script("text: c", bash("c2", "git diff a")),
        "text: d",
    )
    async with home.open_session() as front:
        front.send(Prompt("go"))
        front.answer(await front.next_approval_request(), "approve_for_session")
        await front.wait_for(TurnEnd)
        rule = (await list_rules(front))["Bash(git diff *)"]
        assert rule.source == "session"
        await change(front, rule, None)
        assert await asks_about_next_call(front)
    assert home.state["grants"] == []


async def test_the_user_narrows_a_rule_before_it_is_written(home: SessionEnv) -> None:
    home.script(
        script("text: a", bash("c1", "git diff --stat")),
        "text: b",
        script("text: c", bash("c2", "git diff a")),
        "text: d",
    )
    async with home.open_session() as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        front.wire.answer(ApprovalResponse(request.id, "approve_always", rule="Bash(git diff --stat *)"))
        await front.wait_for(TurnEnd)
        assert await asks_about_next_call(front)
    text = (home.work_dir / ".kimi-tui" / "config.toml").read_text()
    assert "Bash(git diff --stat *)" in text
    assert "Bash(git diff *)" not in text


@pytest.mark.parametrize("rule", ["Bash(", "Bash(*)", "Bash(git diff *) and Bash(rm *)"])
async def test_an_invalid_edit_of_a_rule_allows_once_and_adds_nothing(home: SessionEnv, rule: str) -> None:
    home.script(script("text: a", bash("c1", "git --version")), "text: b")
    async with home.open_session() as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        front.wire.answer(ApprovalResponse(request.id, "approve_for_session", rule=rule))
        await front.wait_for(TurnEnd)
        assert not front.results["c1"].return_value.is_error
        assert any("not added" in it.title for it in front.of(Notification))
        assert not any(it.source == "session" for it in (await list_rules(front)).values())


async def test_the_next_file_in_a_folder_is_offered_with_the_folder(home: SessionEnv) -> None:
    calls = (write(f"c{at}", name) for at, name in enumerate(("src/a.py", "src/b.py", "src/sub/c.py")))
    home.script(*(script("text: x", each) for each in calls), "text: done")
    offered = []
    async with home.open_session() as front:
        front.send(Prompt("go"))
        for answer in ("approve_for_session", "approve_for_session"):
            request = await front.next_approval_request()
            offered.append(request.rule)
            front.answer(request, answer)
        await front.wait_for(TurnEnd)
    assert offered == ["Edit(./src/a.py)", "Edit(src/**)"]


async def test_the_permission_mode_is_listed(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(SetAcceptEdits(True))
        await front.wait_for(SessionInfo, where=lambda info: info.accept_edits)
        rules = await list_rules(front)
    assert any(rule.place == "accept edits" for rule in rules.values())


async def run_slash(front: FakeFrontEnd, line: str) -> Notification:
    front.send(RunSlash(line))
    return await front.next_notification()


async def test_front_ends_without_a_dialog_list_and_change_rules(configured: SessionEnv) -> None:
    async with configured.open_session() as front:
        lines = (await run_slash(front, "permissions")).body.splitlines()
        (line,) = [it for it in lines if "git log" in it]
        number, _, text = line.partition(". ")
        assert text == f"allow Bash(git log *) ({config_file(configured)}:4, 2026-01-31)"
        await run_slash(front, f"permissions edit {number} Bash(git log -5 *)")
        assert "Bash(git log -5 *)" in (await run_slash(front, "permissions")).body
        assert (await run_slash(front, f"permissions revoke {number}")).body == "Bash(git log -5 *)"
        assert (await run_slash(front, "permissions revoke 99")).severity == "error"
        assert (await run_slash(front, "permissions what")).severity == "error"
    assert "git log" not in config_file(configured).read_text()


async def test_front_ends_without_a_dialog_confirm_grants(home: SessionEnv) -> None:
    await grant_for_session(home)
    home.script(script("text: a", bash("c1", "git diff b")), "text: b")
    async with home.open_session(continue_last=True) as front:
        assert (await run_slash(front, "permissions confirm")).body == "Bash(git diff *)"
        assert not await asks_about_next_call(front)
