"""The plan dialog: what going to a checkpoint would do, before anything is done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say, say_many
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import PLAN_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.timeline.files import FileList, Line, Remark, planned
from kimi_tui.tui.timeline.files_dialog import FilesDialog, command_lines
from kimi_tui.wire.timeline import PlannedFile, RevertPlan, RevertScope

_SCOPES: dict[RevertScope, str] = {
    "both": later("conversation + files"),
    "conversation": later("conversation"),
    "files": later("files"),
    "turn": later("this turn only"),
}
_LEFT_OUT: dict[RevertScope, str] = {
    "both": "",
    "conversation": later("The files stay as they are."),
    "files": later("The conversation stays as it is."),
    "turn": later("The conversation stays, and so does what was done to files since."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the user wants done."""

    scope: RevertScope
    paths: tuple[str, ...] | None
    """The files to change; None for those that the plan ticks."""
    note: str = ""


class PlanDialog(FilesDialog[Decision | None]):
    """Shows a plan once it has come; None when the user would not."""

    BINDINGS = bindings(PLAN_KEYS)

    def __init__(
        self,
        *,
        title: str,
        act: str,
        scopes: Sequence[RevertScope],
        scope: RevertScope,
        writes_note: bool = False,
        may_note: bool = False,
        only: str | None = None,
        way_back: str = "",
        plan: Callable[[RevertScope], None],
        is_working: Callable[[], bool],
        in_background: Callable[[], int],
        names: KeyNames,
        copy: Callable[[str], None],
    ) -> None:
        """`act` names what enter does; `plan` asks for the plan of a scope, which `show_plan` gets.

        With `only` no other file than that one is ticked at first. `way_back` says how it is taken back.
        `is_working` tells whether a turn runs, which has to be stopped first; `in_background`
        how many tasks go on.
        """
        super().__init__(title=title, names=names, copy=copy)
        self._act = act
        self._scopes = tuple(scopes)
        self._scope = scope
        self._writes_note = writes_note
        self._may_note = may_note
        self._only = only
        self._way_back = way_back or say("undo brings it back")
        self._ask_plan = plan
        self._is_working = is_working
        self._in_background = in_background
        self._plans: dict[bool, RevertPlan] = {}
        """By whether it is for one turn only."""
        self._shown: RevertPlan | None = None

    def above(self) -> Sequence[Widget]:
        """What goes back, and the note."""
        widgets: list[Widget] = []
        if len(self._scopes) > 1:
            widgets.append(Hints(self._scope_hints(), most_lines=2))
            widgets[0].id = "plan-scopes"
        field = Input(placeholder=say("a note that the model reads there"), id="plan-note")
        field.cursor_blink = False
        field.display = self._writes_note
        return [*widgets, field]

    def on_mount(self) -> None:
        """Ask for the plan; the note, if one is wanted, comes first."""
        self._ask_plan(self._scope)
        if self._writes_note:
            self.query_one("#plan-note", Input).focus()

    # the plan

    def show_plan(self, plan: RevertPlan) -> None:
        """The plan has come."""
        self._plans[plan.scope == "turn"] = plan
        if self._shown is None or plan.scope == "turn" or self._shown.scope == "turn":
            self._show()

    def follow_turn(self) -> None:
        """A turn has begun or ended."""
        self._sum_up()

    def show_problem(self, text: str) -> None:
        """There is no plan, for this reason."""
        self.summarize(Content.styled(plain_line(retell(text)), "$warning"))

    def _show(self) -> None:
        plan = self._plans.get(self._scope == "turn")
        if plan is None:
            self._shown = None
            self.show_lines([], set())
            self.summarize(Content(say("Looking at the files …")))
            self._ask_plan(self._scope)
            return
        if plan is not self._shown:
            self._shown = plan
            lines: list[Line] = [planned(file, plan.reason) for file in sorted(plan.files, key=_is_left)]
            if plan.note:
                note = retell(plan.note)
                lines.append(Remark(f"◔ {note}", "$warning", note))
            lines += command_lines(plan.commands)
            self.show_lines(lines, self._ticked_at_first(plan))
            if self._only is not None:
                self.files.mark(self._only)
        self.files.dim(self._scope == "conversation")
        self._sum_up()

    def _ticked_at_first(self, plan: RevertPlan) -> set[str]:
        if self._only is None:
            return _suggested(plan)
        return {file.path for file in plan.files if file.path == self._only and file.action != "not covered"}

    @on(FileList.Ticked)
    def _sum_up(self) -> None:
        plan = self._shown
        if plan is None:
            return
        ticks = self.files.ticks
        doing = [file for file in plan.files if file.path in ticks] if self._scope != "conversation" else []
        conflicts = sum(file.action == "conflict" for file in plan.files)
        parts: list[Content] = []
        if self._is_working():
            parts.append(Content.styled(say("the agent is at work and is stopped first"), "bold $warning"))
        if self._scope == "conversation":
            parts.append(Content(say("no file changes")))
        elif plan.files:
            parts.append(
                Content.assemble(
                    (say("{count} of {total} files", count=len(doing), total=len(plan.files)) + " ", ""),
                    (f"+{sum(file.added for file in doing)} ", "$success"),
                    (f"−{sum(file.removed for file in doing)}", "$error"),
                )
            )
        elif not plan.note:
            parts.append(Content(say("no file differs")))
        if conflicts and self._scope != "conversation":
            words = say_many("{count} conflict", "{count} conflicts", conflicts)
            parts.append(Content.styled(words, "bold $warning"))
        parts.append(Content.styled(self._way_back, "$text-muted"))
        if plan.turns and self._scope in ("both", "conversation"):
            words = say_many(
                "{count} message stays on a branch", "{count} messages stay on a branch", plan.turns
            )
            parts.append(Content(words))
        if plan.commands:
            words = say_many(
                "{count} shell command since", "{count} shell commands since", len(plan.commands)
            )
            parts.append(Content.styled(words, "$warning"))
        if tasks := self._in_background():
            words = say_many("{count} background task goes on", "{count} background tasks go on", tasks)
            parts.append(Content.styled(words, "$warning"))
        if _LEFT_OUT[self._scope] and not plan.commands:
            parts.append(Content.styled(say(_LEFT_OUT[self._scope]), "$text-muted"))
        self.summarize(Content(" · ").join(parts))
        self._show_hints()

    # what one can do

    def hints(self) -> list[Hint]:
        """What one can do."""
        hints = [Hint(self.names.first("files.close"), say("change nothing"), "close")]
        if self._shown is not None:
            hints.insert(0, Hint(self.names.first("plan.go"), self._act, "go", "bold"))
        if self._shown is not None and self.files.tickable and self._scope != "conversation":
            hints += [
                Hint(self.names.first("plan.tick"), say("tick"), "tick"),
                Hint(self.names.first("plan.tick_all"), say("all or none"), "tick_all"),
            ]
        if self._may_note:
            hints.append(Hint(self.names.first("plan.note"), say("note"), "write_note"))
        return [*hints, *self.list_hints()]

    def _scope_hints(self) -> list[Hint]:
        return [
            Hint(
                f"{'●' if scope == self._scope else '○'} {self.names.first(f'plan.{scope}')}",
                say(_SCOPES[scope]),
                f"use('{scope}')",
                "bold" if scope == self._scope else "",
            )
            for scope in self._scopes
        ]

    def _show_hints(self) -> None:
        if len(self._scopes) > 1:
            self.query_one("#plan-scopes", Hints).show(self._scope_hints())
        self.show_hints()

    def action_use(self, scope: RevertScope) -> None:
        """Choose what goes back."""
        if scope in self._scopes:
            self._scope = scope
            self._show_hints()
            self._show()

    def action_tick(self) -> None:
        """Do the marked file, or leave it as it is."""
        self.files.tick()

    def action_tick_all(self) -> None:
        """Do all files, or none."""
        self.files.tick_all()

    def action_write_note(self) -> None:
        """Write a note, or leave it out."""
        if not self._may_note:
            return
        field = self.query_one("#plan-note", Input)
        field.display = not field.display
        (field if field.display else self.files).focus()

    @on(Input.Submitted)
    def _note_written(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_go()

    def action_go(self) -> None:
        """Do it."""
        plan = self._shown
        if plan is None:
            return
        ticks = self.files.ticks
        if self._scope in ("files", "turn") and not ticks:
            self.show_problem(say("Nothing is ticked, so nothing would change."))
            return
        paths = None if ticks == _suggested(plan) else tuple(sorted(ticks))
        field = self.query_one("#plan-note", Input)
        note = field.value.strip() if field.display else ""
        self.dismiss(
            Decision(scope=self._scope, paths=None if self._scope == "conversation" else paths, note=note)
        )


def _is_left(file: PlannedFile) -> bool:
    """Whether a file is none of the agent's business: a checkout by the user changes hundreds of them."""
    return file.action in ("keep", "not covered")


def _suggested(plan: RevertPlan) -> set[str]:
    """The files that are changed unless the user says otherwise."""
    return {file.path for file in plan.files if file.ticked and file.action != "not covered"}
