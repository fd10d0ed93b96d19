"""Tests of questions and plan approval, with and without support for forms."""

from dataclasses import dataclass, field
from typing import Any

from acp.schema import AcceptElicitationResponse, DeclineElicitationResponse

from tests.acp.fake_editor import EditorHarness, FakeEditor, connect_editor
from tests.engine.fake_front_end import SessionEnv, call

ASK_QUESTION = call(
    "q1",
    "AskUserQuestion",
    questions=[
        {
            "question": "Which color?",
            "header": "Color",
            "options": [{"label": "red", "description": "like fire"}, {"label": "blue", "description": ""}],
        }
    ],
)
PLAN = call("p1", "ExitPlanMode", plan="# First this, then that")


@dataclass(eq=False)
class EditorWithForms(FakeEditor):
    """An editor that shows forms."""

    forms: list[Any] = field(default_factory=list)
    answer: dict[str, Any] | None = None

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.forms.append((message, mode))
        if self.answer is None:
            return DeclineElicitationResponse(action="decline")
        return AcceptElicitationResponse(action="accept", content=self.answer)


async def ask_question(harness: EditorHarness, home: SessionEnv) -> str:
    session: str = await harness.editor.new(home.work_dir)
    await harness.editor.prompt(session, "ask")
    return home.journal


async def test_a_form_has_a_selection_and_a_text_field(home: SessionEnv) -> None:
    home.script(ASK_QUESTION, "text: done")
    async with connect_editor(home, editor=EditorWithForms(answer={"answer0": "red"})) as harness:
        await harness.editor.initialize(elicitation={"form": {}})
        assert 'Which color?\\": \\"red\\"' in (await ask_question(harness, home)).replace("\\\\", "\\")
        [(message, form)] = harness.editor.forms
        assert message == "Which color?"
        properties = form.requested_schema.properties
        assert [it.const for it in properties["answer0"].one_of] == ["red", "blue"]


async def test_a_declined_form_leaves_the_questions_unanswered(home: SessionEnv) -> None:
    home.script(ASK_QUESTION, "text: done")
    async with connect_editor(home, editor=EditorWithForms()) as harness:
        await harness.editor.initialize(elicitation={"form": {}})
        assert "closed the questions without answering" in await ask_question(harness, home)


async def test_without_forms_the_answers_are_permission_options(home: SessionEnv) -> None:
    home.script(ASK_QUESTION, "text: done")
    async with connect_editor(home) as harness:
        session = await harness.editor.new(home.work_dir)
        turn = harness.editor.start_prompt(session, "ask")
        request = await harness.editor.next_permission_prompt()
        assert [option.name for option in request.options] == ["red", "blue", "Don't answer"]
        assert "red: like fire" in str(request.call.content)
        assert request.call.tool_call_id == harness.editor.call(session).tool_call_id
        request.choose("allow_once")
        await turn
        assert harness.editor.call(session).status == "completed"
    assert "red" in home.journal.split("Which color?")[-1]


async def test_a_plan_is_shown_and_approved(home: SessionEnv) -> None:
    home.script(PLAN, "text: plan executed")
    async with connect_editor(home, plan=True) as harness:
        editor = harness.editor
        created = await editor.connection.new_session(str(home.work_dir))
        session = created.session_id
        assert created.modes.current_mode_id == "plan"
        turn = editor.start_prompt(session, "plan it")
        request = await editor.next_permission_prompt()
        assert "# First this, then that" in editor.text_of(session)
        assert [option.kind for option in request.options] == ["allow_once", "allow_once", "reject_once"]
        request.choose("allow_once")
        await turn
        assert editor.text_of(session).endswith("plan executed")
        assert [it.current_mode_id for it in editor.updates_of(session, "current_mode_update")][
            -1
        ] == "accept_edits"


async def test_the_client_enters_and_leaves_plan_mode(home: SessionEnv) -> None:
    home.script(call("w1", "WriteFile", path="a.txt", content="A"), "text: not yet")
    async with connect_editor(home) as harness:
        editor = harness.editor
        session = await editor.new(home.work_dir)
        await editor.connection.set_session_mode(session, "plan")
        await editor.prompt(session, "write")
        assert not home.file("a.txt").exists()
        await editor.connection.set_session_mode(session, "accept_edits")
        await editor.connection.set_session_mode(session, "default")
        modes = [it.current_mode_id for it in editor.updates_of(session, "current_mode_update")]
        assert modes[0] == "plan"
        assert modes[-1] == "default"
