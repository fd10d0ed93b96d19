"""Model picker: choose a model and its thinking level."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import getters
from textual.app import ComposeResult

from kimi_tui.base.frozen import frozen
from kimi_tui.base.thinking_effort import ThinkingEffort, nearest_effort
from kimi_tui.frontend.text.models import level_name, model_columns
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.dialogs.filter_dialog import FilterDialog
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import MODEL_PICKER_KEYS
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.session import ModelDetails, SessionInfo


@frozen
class ModelChoice:
    """A chosen model, and the thinking level if the user changed it."""

    name: str
    effort: ThinkingEffort | None = None


class ModelPicker(FilterDialog[ModelChoice]):
    """Returns the chosen model and thinking level, or None if the user closed the dialog."""

    BINDINGS = bindings(MODEL_PICKER_KEYS)

    level_row = getters.query_one("#model-levels", KeyHints)

    def __init__(self, session: SessionInfo, *, key_labels: KeyLabels) -> None:
        models = session.model_details or _details_without_engine(session)
        self._models = {model.name: model for model in models}
        self._initial_effort = session.thinking_effort
        self._effort = session.thinking_effort
        super().__init__(tr("Model"), model_choices(models, session.model), key_labels=key_labels)

    def compose_details(self) -> ComposeResult:
        """Yield the thinking levels of the highlighted model."""
        yield KeyHints(max_lines=1, id_="model-levels")

    def on_mount(self) -> None:
        """Show the levels of the highlighted model."""
        self.watch(self.choices, "highlighted", self._show_levels, init=False)
        self.call_after_refresh(self._show_levels)

    def show_choices(self, choices: Sequence[Choice]) -> None:
        """Show `choices`, and the levels of the first one."""
        super().show_choices(choices)
        self._show_levels()

    @property
    def _levels(self) -> tuple[ThinkingEffort, ...]:
        choice = self.choices.choice
        return self._models[choice.value].thinking_levels if choice is not None else ()

    def _show_levels(self) -> None:
        levels = self._levels
        if not levels:
            self.level_row.show([KeyHint("", tr("This model doesn't support thinking."), "")])
            return
        used = nearest_effort(self._effort, levels)
        keys = f"{self._key_labels.first_key('models.less')} {self._key_labels.first_key('models.more')}"
        self.level_row.show(
            [
                KeyHint(keys, tr("thinking:"), "change_level(1)"),
                *(
                    KeyHint(
                        "●" if it == used else "○",
                        level_name(it, levels),
                        f"use_level('{it}')",
                        style="bold $foreground" if it == used else "",
                    )
                    for it in levels
                ),
            ]
        )

    def action_change_level(self, steps: int) -> None:
        """Use the next or previous level of the highlighted model."""
        if levels := self._levels:
            index = levels.index(nearest_effort(self._effort, levels)) + steps
            self.action_use_level(levels[max(0, min(index, len(levels) - 1))])

    def action_use_level(self, effort: ThinkingEffort) -> None:
        """Use this level."""
        self._effort = effort
        self._show_levels()

    def result_for(self, choice: Choice) -> ModelChoice:
        """Return the model, and the thinking level if the user changed it."""
        return ModelChoice(choice.value, self._effort if self._effort != self._initial_effort else None)


def _details_without_engine(session: SessionInfo) -> tuple[ModelDetails, ...]:
    """Return details that contain only the names, for an engine that sends no details."""
    return tuple(
        ModelDetails(name=name, model=name, provider="", max_context_size=0) for name in session.models
    )


def model_choices(models: Sequence[ModelDetails], current: str) -> list[Choice]:
    """Return a line for each model, with the details in columns."""
    rows = [model_columns(model) for model in models]
    widths = [max((cell_len(row[column]) for row in rows), default=0) for column in range(3)]
    return [
        Choice(
            value=model.name,
            label=model.label,
            detail="  ".join(
                (_pad(row[0], widths[0]), row[1].rjust(widths[1]), row[2].ljust(widths[2]), row[3])
            ).rstrip(),
            note=tr("in use") if model.name == current else "",
            is_current=model.name == current,
        )
        for model, row in zip(models, rows, strict=True)
    ]


def _pad(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
