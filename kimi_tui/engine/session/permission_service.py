"""Lists the session's permission rules with their sources, and changes them."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from kimi_tui.base.errors import ConfigError, KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.config.configured_rules import ConfiguredRule, list_configured_rules
from kimi_tui.engine.build.initial_rules import check_rule
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import Session
from kimi_tui.permission.rule import Rule, parse_rule
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.permission.wide_rules import find_wide_reach
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.permissions import (
    ChangePermission,
    ConfirmGrants,
    PermissionChanged,
    PermissionList,
    PermissionRule,
    RuleList,
)

_LISTS: tuple[RuleList, ...] = ("deny", "ask", "allow")
_NOT_IN_EFFECT = msg("not in effect until the session is reopened")


class RuleHolder(Protocol):
    """Applies a rule set."""

    @property
    def rules(self) -> RuleSet:
        """The rules in effect."""
        ...

    def use_rules(self, rules: RuleSet) -> None:
        """Apply `rules`, also to open requests."""
        ...


class PermissionService:
    """Rules of the config files, of the options and of the session, in effect and awaiting confirmation."""

    def __init__(
        self,
        *,
        options: EngineOptions,
        session: Session,
        holder: RuleHolder,
        runtime_settings: RuntimeSettings,
        sender: EventSender,
    ) -> None:
        self._options = options
        self._session = session
        self._holder = holder
        self._runtime_settings = runtime_settings
        self._sender = sender
        self._lock = asyncio.Lock()
        """Serializes changes, because each one extends the previous rules."""

    async def send_list(self) -> None:
        """Send the rules. Raises ConfigError if a config file can't be read."""
        self._sender.send(PermissionList(await self.list_rules()))

    def send_unconfirmed_grants(self) -> None:
        """Send the rules if grants of an earlier run of the session need confirmation."""
        if self._unconfirmed_grants():
            rules = self._session_rules()
            self._sender.send(
                PermissionList(tuple(rule for rule in rules if rule.needs_confirmation), is_question=True)
            )

    async def list_rules(self) -> tuple[PermissionRule, ...]:
        """Return all rules: deny, ask, then allow. Raises ConfigError if a config file can't be read."""
        configured = await asyncio.to_thread(self._read_configured_rules)
        named = [
            *self._mode_rules(),
            *self._session_rules(),
            *self._option_rules(configured),
            *(self._describe(rule) for rule in configured),
        ]
        return tuple(rule for name in _LISTS for rule in named if rule.list == name)

    async def change(self, command: ChangePermission) -> None:
        """Revoke or replace a rule, and send the outcome and the rules. Raises ConfigError."""
        await self._send_outcome(command.rule, self.change_rule(command))

    async def confirm(self, command: ConfirmGrants) -> None:
        """Decide about grants of an earlier run, and send the outcome and the rules. Raises ConfigError."""
        await self._send_outcome("", self.confirm_grants(keep=command.keep, only=command.rules))

    async def change_rule(self, command: ChangePermission) -> None:
        """Revoke or replace a rule. Raises KimiTuiError."""
        async with self._lock:
            old = next((rule for rule in await self.list_rules() if _is_target(rule, command)), None)
            if old is None or not old.is_editable:
                raise ConfigError(
                    msg("The rule {rule} can't be changed here.", rule=command.rule),
                    hint="Change the permission mode or the file that sets the rule.",
                )
            if command.new_rule is not None:
                check_rule(command.list, command.new_rule)
            new_rule = None if command.new_rule is None else str(parse_rule(command.new_rule))
            if old.source == "session":
                await self._replace_grant(old.rule, new_rule)
            elif old.source != "option":
                from kimi_tui.config.toml_edit import replace_project_rule  # imports tomlkit

                await asyncio.to_thread(
                    replace_project_rule,
                    Path(old.place),
                    old.list,
                    old.rule,
                    new_rule,
                    data_dir=self._options.data_dir,
                )
            await self._apply(old, new_rule)

    async def confirm_grants(self, *, keep: bool, only: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Apply or revoke grants of an earlier run. Return these grants. Raises KimiTuiError."""
        async with self._lock:
            grants = [text for text in self._unconfirmed_grants() if only is None or text in only]
            if keep:
                rules = [rule for text in grants if (rule := _parse_grant(text)) is not None]
                self._holder.use_rules(self._holder.rules.with_allowed(*rules))
            else:
                for text in grants:
                    await self._replace_grant(text, None)
            return tuple(grants)

    async def _send_outcome(self, rule: str, change: Awaitable[object]) -> None:
        try:
            await change
        except KimiTuiError as error:
            self._sender.send(PermissionChanged(rule, problem=str(error)))
        else:
            self._sender.send(PermissionChanged(rule))
        await self.send_list()

    def _unconfirmed_grants(self) -> tuple[str, ...]:
        in_effect = self._holder.rules.allow
        return tuple(
            text
            for text in self._session.state.grants
            if (rule := _parse_grant(text)) is not None and rule not in in_effect
        )

    async def _replace_grant(self, rule: str, new_rule: str | None) -> None:
        grants = [new_rule if text == rule else text for text in self._session.state.grants]
        dates = dict(self._session.state.grant_dates)
        date = dates.pop(rule, "")
        if new_rule is not None and date:
            dates[new_rule] = date
        kept = dict.fromkeys(text for text in grants if text is not None)
        await self._session.update_state(grants=tuple(kept), grant_dates=dates)

    async def _apply(self, old: PermissionRule, new_rule: str | None) -> None:
        """Apply the change of a rule to the rules in effect.

        The old rule stays if another source contains it.
        """
        rules = self._holder.rules
        still_listed = {
            rule.rule
            for rule in await self.list_rules()
            if rule.list == old.list and rule.source not in ("option", "mode") and not rule.needs_confirmation
        }
        kept = tuple(
            rule for rule in _rules_in(rules, old.list) if str(rule) != old.rule or old.rule in still_listed
        )
        added = () if new_rule is None else (parse_rule(new_rule),)
        changed = tuple(dict.fromkeys((*kept, *added)))
        match old.list:
            case "allow":
                self._holder.use_rules(replace(rules, allow=changed))
            case "ask":
                self._holder.use_rules(replace(rules, ask=changed))
            case "deny":
                self._holder.use_rules(replace(rules, deny=changed))

    # the list

    def _read_configured_rules(self) -> tuple[ConfiguredRule, ...]:
        return list_configured_rules(
            self._options.reread_config(), data_dir=self._options.data_dir, work_dir=self._session.work_dir
        )

    def _describe(self, rule: ConfiguredRule) -> PermissionRule:
        is_in_effect = rule.rule in {str(each) for each in _rules_in(self._holder.rules, rule.list)}
        return PermissionRule(
            list=rule.list,
            rule=rule.rule,
            source=rule.source,
            place=rule.place,
            line=rule.line,
            added=rule.added,
            file_changed=rule.file_changed,
            is_editable=rule.path is not None and rule.path.suffix.lower() == ".toml",
            note=_find_reach(rule.list, rule.rule) if is_in_effect else _NOT_IN_EFFECT,
        )

    def _session_rules(self) -> tuple[PermissionRule, ...]:
        state, unconfirmed = self._session.state, self._unconfirmed_grants()
        return tuple(
            PermissionRule(
                list="allow",
                rule=text,
                source="session",
                added=state.grant_dates.get(text, ""),
                needs_confirmation=text in unconfirmed,
                note=_find_reach("allow", text),
            )
            for text in state.grants
            if _parse_grant(text) is not None
        )

    def _option_rules(self, configured: tuple[ConfiguredRule, ...]) -> tuple[PermissionRule, ...]:
        """Return the rules in effect that no file and no grant of the session contains."""
        known = {(rule.list, _normalize(rule.rule)) for rule in configured}
        known |= {("allow", _normalize(text)) for text in self._session.state.grants}
        return tuple(
            PermissionRule(list=name, rule=str(rule), source="option", note=_find_reach(name, str(rule)))
            for name in _LISTS
            for rule in _rules_in(self._holder.rules, name)
            if (name, str(rule)) not in known
        )

    def _mode_rules(self) -> tuple[PermissionRule, ...]:
        settings = self._runtime_settings
        reads = msg("Reading in the working directory, added directories, system directories and toolchains")
        rules = [_mode_rule("allow", reads, msg("built in"))]
        if settings.accept_edits:
            rules.append(
                _mode_rule("allow", msg("Changing files in the working directory"), msg("accept edits"))
            )
        if settings.yolo:
            rules.append(_mode_rule("allow", msg("Everything without an ask or deny rule"), msg("yolo")))
        if settings.plan_mode.is_on:
            rules.append(_mode_rule("deny", msg("Changing anything before you approve a plan"), msg("plan")))
        return tuple(rules)


def _mode_rule(name: RuleList, text: str, mode: str) -> PermissionRule:
    return PermissionRule(list=name, rule=text, source="mode", place=mode, is_editable=False)


def _rules_in(rules: RuleSet, name: RuleList) -> tuple[Rule, ...]:
    match name:
        case "allow":
            return rules.allow
        case "ask":
            return rules.ask
        case "deny":
            return rules.deny


def _is_target(rule: PermissionRule, command: ChangePermission) -> bool:
    wanted = (command.list, command.rule, command.source, command.place)
    return (rule.list, rule.rule, rule.source, rule.place) == wanted


def _parse_grant(text: str) -> Rule | None:
    try:
        check_rule("allow", text)
        return parse_rule(text)
    except ConfigError:
        return None


def _normalize(text: str) -> str:
    rule = _parse_grant(text)
    return text if rule is None else str(rule)


def _find_reach(name: RuleList, text: str) -> str:
    if name != "allow":
        return ""
    rule = _parse_grant(text)
    return "" if rule is None else find_wide_reach(rule) or ""
