"""The settings: searched, looked at, and changed in the user's config file."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Unpack, assert_never

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.language.width import cells, padded
from kimi_tui.tui.buttons import ActionButton
from kimi_tui.tui.choices import Choice, Choices
from kimi_tui.tui.dialogs.following import Followed, FollowingDialog
from kimi_tui.tui.dialogs.picker import Picker, filtered
from kimi_tui.tui.key_tables import SETTINGS_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.live_settings import When, when_it_counts
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.settings import ChangeSetting, ListSettings, Setting, SettingChanged, SettingsList


class SettingsDialog(FollowingDialog[tuple[str, ...]]):
    """Answers with the keys of what was changed and counts from the next session on only."""

    BINDINGS = bindings(SETTINGS_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(Choices)
    field = getters.query_one("#settings-field", Input)
    title_line = getters.query_one("#settings-title", Static)
    details = getters.query_one("#settings-details", Static)

    def __init__(
        self,
        *,
        changed: Callable[[Setting], str],
        completed: Callable[[Sequence[Setting]], tuple[Setting, ...]],
        **followed: Unpack[Followed],
    ) -> None:
        """`changed` makes a new value count here, and says what is odd about it; `completed` adds what the
        engine knows nothing of."""
        super().__init__(**followed)
        self._changed = changed
        self._completed = completed
        self._listed: SettingsList | None = None
        self._settings: tuple[Setting, ...] = ()
        self._answer = self._state().replies.setting_changed
        self._editing: Setting | None = None
        self._asked: tuple[str, str | None] | None = None
        """What the engine was told to write and has not answered yet: key and value."""
        self._query = ""
        self._waiting: list[str] = []

    def compose(self) -> ComposeResult:
        """Title, what to look for or the new value, the list, what is known of the marked one."""
        name = self._names.first
        with Vertical(id="settings", classes="dialog"):
            yield Static(say("Settings"), id="settings-title", classes="dialog-title", markup=False)
            field = Input(id="settings-field")
            field.cursor_blink = False
            yield field
            yield Choices()
            yield Static(id="settings-details", markup=False)
            with Horizontal(id="settings-buttons"):
                yield ActionButton("enter", say("change it"), "take")
                yield ActionButton(name("settings.reset"), say("back to the default"), "reset")
                yield ActionButton(name("settings.close"), say("close"), "close")

    def on_mount(self) -> None:
        """Ask for them, and follow what comes."""
        self.field.placeholder = say("type to filter")
        self.watch(self._owner, "state", self._follow, init=False)
        self.watch(self.choices, "marked", self._tell_of_marked, init=False)
        self._follow(self._state())
        self._command(ListSettings())

    # from the engine

    def _follow(self, state: ScreenState) -> None:
        if state.replies.setting_changed is not self._answer:
            self._answer = state.replies.setting_changed
            if self._answer is not None:
                self._learn(self._answer)
        if state.replies.settings is not self._listed and state.replies.settings is not None:
            self._listed = state.replies.settings
            self._settings = self._completed(state.replies.settings.settings)
            self.title_line.update(say("Settings") + f"   {plain_line(state.replies.settings.file)}")
            self._show()

    def _learn(self, answer: SettingChanged) -> None:
        if self._asked is None or self._asked[0] != answer.key:
            return
        (key, value), self._asked = self._asked, None
        if answer.problem:
            self._tell(retell(plain_line(answer.problem)), failed=True)
            return
        self._stop_editing()
        if answer.overruled_by:
            self._tell(
                say("It is written, but {place} goes before it here.", place=plain_line(answer.overruled_by)),
                failed=True,
            )
            return
        old = next((it for it in self._settings if it.key == key), None)
        if old is None:
            return
        odd = self._changed(replace(old, value=old.default if value is None else value))
        if when_it_counts(key) == "session" and key not in self._waiting:
            self._waiting.append(key)
        self._tell(odd or say("Written.") + " " + _counts(when_it_counts(key)), failed=bool(odd))

    # the list

    def _show(self) -> None:
        marked = self.choices.choice.value if self.choices.choice is not None else ""
        lines = filtered(_lines(self._settings), self._query) if self._query else self._grouped()
        self.choices.show(lines)
        places = [index for index, line in enumerate(lines) if line.value == marked and marked]
        first = next((index for index, line in enumerate(lines) if line.value), 0)
        self.choices.marked = places[0] if places else first
        if self._editing is None and not self.details.has_class("-said"):
            self._tell_of_marked()

    def _grouped(self) -> list[Choice]:
        lines: list[Choice] = []
        group: str | None = None
        for setting, line in zip(self._settings, _lines(self._settings), strict=True):
            if setting.group != group:
                group = setting.group
                heading = f"[{group}]" if group else say("in general")
                lines.append(Choice(value="", label=heading, is_heading=True))
            lines.append(replace(line, label=setting.key.removeprefix(f"{group}."), indent=2))
        return lines

    @property
    def _marked(self) -> Setting | None:
        choice = self.choices.choice
        return next((it for it in self._settings if choice is not None and it.key == choice.value), None)

    def _tell_of_marked(self) -> None:
        setting = self._marked
        if setting is None:
            self._tell("")
            return
        facts = [
            _origin(setting),
            say("default: {value}", value=setting.default) if setting.default else "",
            _counts(when_it_counts(setting.key)),
        ]
        meaning = say(plain_line(setting.meaning))
        self.details.remove_class("-failed", "-said")
        self.details.update("\n".join((meaning, " · ".join(plain_line(it) for it in facts if it))))

    def _tell(self, words: str, *, failed: bool = False) -> None:
        self.details.set_class(failed, "-failed")
        self.details.set_class(bool(words), "-said")
        self.details.update(words)

    # changing

    def _change(self, setting: Setting, text: str | None) -> None:
        self._asked = (setting.key, text)
        self._command(ChangeSetting(setting.key, text))

    def _edit(self, setting: Setting) -> None:
        self._editing = setting
        self.field.value = setting.value
        self.field.placeholder = say("the new value")
        self.field.cursor_position = len(setting.value)
        hint = say('enter writes it · esc leaves it · a list like ["a", "b"]')
        self._tell(f"{setting.key}: {say(plain_line(setting.meaning))}\n{hint}")
        self.field.focus()

    def _stop_editing(self) -> None:
        if self._editing is not None:
            self._editing = None
            self.field.placeholder = say("type to filter")
            self.field.value = self._query

    def _choose(self, setting: Setting) -> None:
        choices = [
            Choice(value=it, label=it, note=say("in use") if it == setting.value else "")
            for it in setting.choices
        ]

        def chosen(value: str | None) -> None:
            if value is not None:
                self._change(setting, value)

        self.app.push_screen(
            Picker(setting.key, choices, names=self._names, hint=say(plain_line(setting.meaning))), chosen
        )

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        if self._editing is None and event.value != self._query:
            self._query = event.value
            self.details.remove_class("-said")
            self._show()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        event.stop()
        self._stop_editing()
        if event.choice.value:
            self.action_take()

    def action_take(self) -> None:
        """Change the marked one, in the way that it is changed; write what was typed."""
        if self._editing is not None:
            self._change(self._editing, self.field.value)
            return
        setting = self._marked
        if setting is None:
            return
        match setting.kind:
            case "switch":
                self._change(setting, "false" if setting.value == "true" else "true")
            case "choice":
                self._choose(setting)
            case "integer" | "number" | "text" | "list":
                self._edit(setting)
            case "secret":
                self._tell(say("Keys are not shown or typed here: use /login or `kimi-tui login`."))
            case "table":
                self._tell(say("That is changed in the file: `kimi-tui config edit`."))
            case _:
                assert_never(setting.kind)

    def action_reset(self) -> None:
        """Take the marked one out of the user's file."""
        setting = self._marked
        if setting is not None and setting.in_user_file and self._editing is None:
            self._change(setting, None)

    def action_move(self, lines: int) -> None:
        """Move the mark, past headings."""
        if self._editing is not None:
            return
        self.details.remove_class("-said")
        self.choices.move(lines)
        for _ in self.choices.choices:
            if self.choices.choice is None or self.choices.choice.value:
                break
            self.choices.move(1 if lines > 0 else -1)
        self._tell_of_marked()

    def action_close(self) -> None:
        """Leave the value that is being typed, else the dialog."""
        if self._editing is not None:
            self._stop_editing()
            self._tell_of_marked()
        else:
            self.dismiss(tuple(self._waiting))


def _lines(settings: Sequence[Setting]) -> list[Choice]:
    notes = [_short_origin(it) for it in settings]
    room = max(map(cells, notes), default=0)  # as wide everywhere, so that the values stand below each other
    return [
        Choice(value=it.key, label=it.key, detail=_shown(it), note=padded(note, room) if room else "")
        for it, note in zip(settings, notes, strict=True)
    ]


def _shown(setting: Setting) -> str:
    if setting.kind == "secret":
        return say("set, not shown") if setting.value else ""
    return plain_line(setting.value)


def _short_origin(setting: Setting) -> str:
    match setting.origin:
        case "default":
            return ""
        case "user":
            return say("yours")
        case "project":
            return say("project")
        case "environment":
            return say("environment")
        case "option":
            return say("option")
        case _:
            assert_never(setting.origin)


def _origin(setting: Setting) -> str:
    match setting.origin:
        case "default":
            return say("nothing sets it")
        case "environment":
            return say("set by the environment or a stored key")
        case "user" | "project" | "option":
            return say("set by {place}", place=setting.place)
        case _:
            assert_never(setting.origin)


def _counts(when: When) -> str:
    match when:
        case "now":
            return say("counts at once")
        case "session":
            return say("counts from the next session on")
        case "restart":
            return say("counts from the next start on")
        case _:
            assert_never(when)
