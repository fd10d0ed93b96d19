"""Questions of the model and plans to approve: by a form, or by choices where the client knows no forms."""

from dataclasses import dataclass, field
from typing import Any

from acp.schema import AcceptElicitationResponse, DeclineElicitationResponse

from tests.acp.editor import Desk, Editor, at_desk
from tests.engine.front import Home, call

ASK = call(
    "q1",
    "AskUserQuestion",
    questions=[
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [{"label": "red", "description": "like fire"}, {"label": "blue", "description": ""}],
        }
    ],
)
PLAN = call("p1", "ExitPlanMode", plan="# First this, then that")


@dataclass(eq=False)
class WithForms(Editor):
    """An editor that shows forms."""

    forms: list[Any] = field(default_factory=list)
    answer: dict[str, Any] | None = None

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.forms.append((message, mode))
        if self.answer is None:
            return DeclineElicitationResponse(action="decline")
        return AcceptElicitationResponse(action="accept", content=self.answer)


async def asked(desk: Desk, home: Home) -> str:
    session: str = await desk.editor.new(home.work_dir)
    await desk.editor.prompt(session, "ask")
    return home.journal


async def test_a_form_asks_for_a_choice_or_something_else(home: Home) -> None:
    home.script(ASK, "text: done")
    async with at_desk(home, editor=WithForms(answer={"answer0": "red"})) as desk:
        await desk.editor.initialize(elicitation={"form": {}})
        assert 'Which colour?\\": \\"red\\"' in (await asked(desk, home)).replace("\\\\", "\\")
        [(message, form)] = desk.editor.forms
        assert message == "Which colour?"
        properties = form.requested_schema.properties
        assert [it.const for it in properties["answer0"].one_of] == ["red", "blue"]


async def test_a_form_that_is_declined_is_no_answer(home: Home) -> None:
    home.script(ASK, "text: done")
    async with at_desk(home, editor=WithForms()) as desk:
        await desk.editor.initialize(elicitation={"form": {}})
        assert "closed the questions without answering" in await asked(desk, home)


async def test_without_forms_the_answers_are_choices(home: Home) -> None:
    home.script(ASK, "text: done")
    async with at_desk(home) as desk:
        session = await desk.editor.new(home.work_dir)
        turn = desk.editor.begin(session, "ask")
        request = await desk.editor.permission()
        assert [option.name for option in request.options] == ["red", "blue", "Don't answer"]
        assert "red: like fire" in str(request.call.content)
        assert request.call.tool_call_id == desk.editor.call(session).tool_call_id
        request.choose("allow_once")
        await turn
        assert desk.editor.call(session).status == "completed"
    assert "red" in home.journal.split("Which colour?")[-1]


async def test_a_plan_is_shown_and_approved(home: Home) -> None:
    home.script(PLAN, "text: carried out")
    async with at_desk(home, plan=True) as desk:
        editor = desk.editor
        created = await editor.connection.new_session(str(home.work_dir))
        session = created.session_id
        assert created.modes.current_mode_id == "plan"
        turn = editor.begin(session, "plan it")
        request = await editor.permission()
        assert "# First this, then that" in editor.said(session)
        assert [option.kind for option in request.options] == ["allow_once", "allow_once", "reject_once"]
        request.choose("allow_once")
        await turn
        assert editor.said(session).endswith("carried out")
        assert [it.current_mode_id for it in editor.of(session, "current_mode_update")][-1] == "accept_edits"


async def test_plan_mode_is_set_and_left_by_the_client(home: Home) -> None:
    home.script(call("w1", "WriteFile", path="a.txt", content="A"), "text: not yet")
    async with at_desk(home) as desk:
        editor = desk.editor
        session = await editor.new(home.work_dir)
        await editor.connection.set_session_mode(session, "plan")
        await editor.prompt(session, "write")
        assert not home.file("a.txt").exists()
        await editor.connection.set_session_mode(session, "accept_edits")
        await editor.connection.set_session_mode(session, "default")
        modes = [it.current_mode_id for it in editor.of(session, "current_mode_update")]
        assert modes[0] == "plan"
        assert modes[-1] == "default"
