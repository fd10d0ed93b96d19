"""Permissions dialog: lists rules and grants with their sources, to revoke, edit or confirm them."""

from collections.abc import Sequence
from typing import Literal, Unpack, assert_never

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.dialogs.filter_dialog import filter_choices
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog, StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import PERMISSIONS_KEYS
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.permissions import (
    ChangePermission,
    ConfirmGrants,
    ListPermissions,
    PermissionChanged,
    PermissionList,
    PermissionRule,
    RuleList,
)

_InputMode = Literal["filter", "edit", "revoke"]


class PermissionsDialog(StateBoundDialog[None]):
    """Shows all rules, or only the grants of earlier runs that need confirmation."""

    BINDINGS = bindings(PERMISSIONS_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(ChoiceList)
    field = getters.query_one("#permissions-field", Input)
    title_line = getters.query_one("#permissions-title", Static)
    details = getters.query_one("#permissions-details", Static)
    hints = getters.query_one(KeyHints)

    def __init__(self, *, only_unconfirmed: bool = False, **source: Unpack[StateSource]) -> None:
        super().__init__(**source)
        self._only_unconfirmed = only_unconfirmed
        self._shown_list: PermissionList | None = None
        self._shown_change = self._host.state.replies.permission_changed
        self._rules: tuple[PermissionRule, ...] = ()
        self._input_mode: _InputMode = "filter"
        self._subject: PermissionRule | None = None
        self._query = ""

    def compose(self) -> ComposeResult:
        """Yield the title, the input field, the list, the details and the key hints."""
        with Vertical(id="permissions", classes="dialog"):
            yield Static(id="permissions-title", classes="dialog-title", markup=False)
            field = Input(placeholder=tr("type to filter"), id="permissions-field")
            field.cursor_blink = False
            yield field
            yield ChoiceList()
            yield Static(id="permissions-details", markup=False)
            yield KeyHints(max_lines=2)

    def on_mount(self) -> None:
        """Request the rules and watch for the engine's replies."""
        self.title_line.update(
            tr("Allowed earlier in this session. Allow again?")
            if self._only_unconfirmed
            else tr("Permissions")
        )
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self.watch(self.choices, "highlighted", self._show_rule_details, init=False)
        self._update_from_state(self._host.state)
        self._host.command(ListPermissions())
        self._show_hints()

    def on_resize(self) -> None:
        """Limit the height of the list so that the rest of the dialog fits."""
        self.choices.set_max_height(max(self.size.height - 14, 3))

    # from the engine

    def _update_from_state(self, state: SessionViewState) -> None:
        replies = state.replies
        if replies.permissions is not None and replies.permissions is not self._shown_list:
            self._shown_list = replies.permissions
            rules = replies.permissions.rules
            self._rules = tuple(
                rule for rule in rules if rule.needs_confirmation or not self._only_unconfirmed
            )
            self._show_rules()
        if replies.permission_changed is not self._shown_change:
            self._shown_change = replies.permission_changed
            if self._shown_change is not None:
                self._show_outcome(self._shown_change)

    def _show_outcome(self, change: PermissionChanged) -> None:
        if change.problem:
            self._show_message(sanitize_line(translate_message(change.problem)), failed=True)
        else:
            self._set_input_mode("filter", None)
            self._show_message(tr("Saved"))

    # the list

    def _show_rules(self) -> None:
        highlighted = self.choices.choice.value if self.choices.choice is not None else ""
        choices = (
            filter_choices([_rule_choice(index, rule) for index, rule in enumerate(self._rules)], self._query)
            if self._query
            else _grouped_choices(self._rules)
        )
        self.choices.show(choices)
        values = [choice.value for choice in choices]
        first = next((index for index, value in enumerate(values) if value), 0)
        self.choices.highlighted = (
            values.index(highlighted) if highlighted and highlighted in values else first
        )
        if not self.details.has_class("-message"):
            self._show_rule_details()
        self._show_hints()

    @property
    def _highlighted_rule(self) -> PermissionRule | None:
        choice = self.choices.choice
        index = int(choice.value) if choice is not None and choice.value else -1
        return self._rules[index] if 0 <= index < len(self._rules) else None

    @property
    def _unconfirmed_rules(self) -> tuple[str, ...]:
        """The rules that "allow again" applies to: all listed rules if only grants that need confirmation are
        listed, otherwise the highlighted rule.
        """
        rule = self._highlighted_rule
        candidates = self._rules if self._only_unconfirmed else (rule,) if rule is not None else ()
        return tuple(rule.rule for rule in candidates if rule.needs_confirmation)

    def _show_rule_details(self) -> None:
        rule = self._highlighted_rule
        if rule is None:
            self._show_message("" if self._rules else tr("No rules to confirm."))
            return
        self.details.remove_class("-failed", "-message")
        facts = (_source_text(rule), _date_text(rule))
        lines = (
            " · ".join(fact for fact in facts if fact),
            tr("Not in effect until you allow it again.") if rule.needs_confirmation else "",
            sanitize_line(translate_message(rule.note)),
        )
        self.details.update("\n".join(line for line in lines if line))
        self._show_hints()

    def _show_message(self, text: str, *, failed: bool = False) -> None:
        self.details.set_class(failed, "-failed")
        self.details.set_class(bool(text), "-message")
        self.details.update(text)

    def _show_hints(self) -> None:
        first = self._key_labels.first_key
        close = first("permissions.close")
        match self._input_mode:
            case "edit":
                hints = [
                    KeyHint("enter", tr("save"), "submit", "bold"),
                    KeyHint(close, tr("cancel"), "close"),
                ]
            case "revoke":
                hints = [KeyHint("y enter", tr("revoke"), "confirm"), KeyHint(close, tr("cancel"), "close")]
            case "filter":
                hints = self._list_hints()
            case _:
                assert_never(self._input_mode)
        self.hints.show(hints)

    def _list_hints(self) -> list[KeyHint]:
        first, rule = self._key_labels.first_key, self._highlighted_rule
        hints = []
        if self._unconfirmed_rules:
            hints.append(KeyHint(first("permissions.keep"), tr("allow again"), "keep", "bold"))
        if rule is not None and rule.is_editable:
            hints.append(KeyHint("enter", tr("edit"), "submit"))
            hints.append(KeyHint(first("permissions.revoke"), tr("revoke"), "revoke"))
        close = tr("decide later") if self._only_unconfirmed else tr("close")
        return [*hints, KeyHint(first("permissions.close"), close, "close")]

    # the input field

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        if self._input_mode == "filter" and event.value != self._query:
            self._query = event.value
            self.details.remove_class("-message")
            self._show_rules()

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_submit()

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        if self._input_mode != "filter":
            self._set_input_mode("filter", None)
        self.details.remove_class("-message")
        self._show_rule_details()

    def _set_input_mode(self, mode: _InputMode, subject: PermissionRule | None) -> None:
        self._input_mode, self._subject = mode, subject
        match mode:
            case "edit" if subject is not None:
                self.field.value = subject.rule
                self.field.cursor_position = len(subject.rule)
                self._show_message(tr("Change the rule, for example to a single directory or subcommand."))
            case "revoke":
                self.field.value = ""
                self.field.placeholder = tr("type y to revoke")
            case _:
                self.field.value = self._query
                self.field.placeholder = tr("type to filter")
        self._show_hints()
        self.field.focus()

    def _change(self, rule: PermissionRule, new_rule: str | None) -> None:
        self._host.command(ChangePermission(rule.list, rule.rule, rule.source, rule.place, new_rule))

    # keys

    def action_submit(self) -> None:
        """Edit the highlighted rule, or apply the typed text."""
        text, subject = self.field.value.strip(), self._subject
        match self._input_mode:
            case "edit" if subject is not None:
                if text == subject.rule:
                    self.action_close()
                elif text:
                    self._change(subject, text)
            case "revoke":
                if text.lower() in ("y", "yes"):
                    self.action_confirm()
                else:
                    self.action_close()
            case _:
                rule = self._highlighted_rule
                if rule is not None and rule.is_editable:
                    self._set_input_mode("edit", rule)

    def action_confirm(self) -> None:
        """Revoke the rule; runs when the hint is clicked."""
        if self._subject is not None:
            self._change(self._subject, None)

    def action_revoke(self) -> None:
        """Ask the user to confirm revoking the highlighted rule."""
        rule = self._highlighted_rule
        if self._input_mode == "filter" and rule is not None and rule.is_editable:
            self._set_input_mode("revoke", rule)
            effect = (
                tr("Revoke {rule}?", rule=sanitize_line(rule.rule))
                if rule.list == "allow"
                else tr("Revoke {rule}? Calls that it matches may then run.", rule=sanitize_line(rule.rule))
            )
            self._show_message(effect)

    def action_keep(self) -> None:
        """Allow grants of an earlier run again."""
        if self._input_mode == "filter" and (rules := self._unconfirmed_rules):
            self._host.command(ConfirmGrants(keep=True, rules=rules))
            if self._only_unconfirmed:
                self.dismiss(None)

    def action_move(self, lines: int) -> None:
        """Move the highlight, skipping headings."""
        if self._input_mode != "filter":
            return
        self.details.remove_class("-message")
        self.choices.move(lines)
        for _ in self.choices.choices:
            if self.choices.choice is None or self.choices.choice.value:
                break
            self.choices.move(1 if lines > 0 else -1)
        self._show_rule_details()

    def action_close(self) -> None:
        """Cancel editing or revoking. Otherwise, close the dialog."""
        if self._input_mode != "filter":
            self._set_input_mode("filter", None)
            self._show_rule_details()
        else:
            self.dismiss(None)


def _grouped_choices(rules: Sequence[PermissionRule]) -> list[Choice]:
    choices: list[Choice] = []
    shown: RuleList | None = None
    for index, rule in enumerate(rules):
        if rule.list != shown:
            shown = rule.list
            choices.append(Choice(value="", label=_list_heading(rule.list), is_heading=True))
        choices.append(_rule_choice(index, rule))
    return choices


def _rule_choice(index: int, rule: PermissionRule) -> Choice:
    text = sanitize_line(translate_message(rule.rule) if rule.source == "mode" else rule.rule)
    return Choice(value=str(index), label=text, note=_short_source(rule), indent=2)


def _list_heading(name: RuleList) -> str:
    match name:
        case "allow":
            return tr("Allowed")
        case "ask":
            return tr("Always asks")
        case "deny":
            return tr("Denied")
        case _:
            assert_never(name)


def _short_source(rule: PermissionRule) -> str:
    match rule.source:
        case "mode":
            return sanitize_line(translate_message(rule.place))
        case "session":
            return tr("session, to confirm") if rule.needs_confirmation else tr("session")
        case "option":
            return tr("this run")
        case "project":
            return tr("project")
        case "user":
            return tr("user")
        case _:
            assert_never(rule.source)


def _source_text(rule: PermissionRule) -> str:
    place = sanitize_line(rule.place)
    match rule.source:
        case "mode":
            return tr("Permission mode: {mode}", mode=sanitize_line(translate_message(rule.place)))
        case "session":
            return tr("Allowed for this session")
        case "option":
            return tr("Set for this run: {place}", place=place) if place else tr("Set for this run")
        case "project" | "user":
            return tr("{file}, line {line}", file=place, line=rule.line) if rule.line else place
        case _:
            assert_never(rule.source)


def _date_text(rule: PermissionRule) -> str:
    if rule.added:
        return tr("added {date}", date=rule.added)
    return tr("file changed {date}", date=rule.file_changed) if rule.file_changed else ""
