"""The slash command /permissions."""

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.session.permission_service import PermissionService
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.wire.permissions import ChangePermission, PermissionRule

_USAGE_HINT = "Use /permissions, /permissions revoke N, edit N RULE, confirm or forget."


class PermissionsCommand:
    """Lists and changes the rules in front ends without a dialog."""

    def __init__(self, service: PermissionService, publisher: SessionPublisher) -> None:
        self._service = service
        self._publisher = publisher

    @property
    def command(self) -> SlashCommand:
        """The command."""
        return SlashCommand(
            "permissions",
            "List and change permissions: /permissions [revoke N|edit N RULE|confirm|forget]",
            self._run,
            aliases=("allowed-tools",),
        )

    async def _run(self, argument: str) -> None:
        match argument.split(maxsplit=2):
            case []:
                await self._send_list()
            case ["revoke", number]:
                rule = await self._find(number)
                await self._service.change_rule(_change(rule))
                self._publisher.send_notice("Revoked", rule.rule, severity="info")
            case ["edit", number, text]:
                rule = await self._find(number)
                await self._service.change_rule(_change(rule, text))
                self._publisher.send_notice("Changed", f"{rule.rule} → {text}", severity="info")
            case ["confirm"] | ["forget"] as words:
                keep = words == ["confirm"]
                rules = await self._service.confirm_grants(keep=keep)
                title = "Allowed for this session" if keep else "Revoked"
                self._publisher.send_notice(title, "\n".join(rules) or "None.", severity="info")
            case _:
                raise UsageError("The arguments of /permissions aren't valid.", hint=_USAGE_HINT)

    async def _send_list(self) -> None:
        rules = await self._service.list_rules()
        lines = [f"{number}. {format_rule_line(rule)}" for number, rule in enumerate(rules, 1)]
        self._publisher.send_notice("Permissions", "\n".join(lines), severity="info")

    async def _find(self, number: str) -> PermissionRule:
        rules = await self._service.list_rules()
        if not number.isdecimal() or not 0 < int(number) <= len(rules):
            raise UsageError(
                msg("Rule {number} doesn't exist.", number=number), hint="Type /permissions to list them."
            )
        return rules[int(number) - 1]


def format_rule_line(rule: PermissionRule) -> str:
    """Return a rule with its list, source and date."""
    place = f"{rule.place}:{rule.line}" if rule.line else rule.place
    date = rule.added or (f"file changed {rule.file_changed}" if rule.file_changed else "")
    source = {"session": "session", "option": place or "this run"}.get(rule.source, place)
    facts = [source, date, "needs confirmation" if rule.needs_confirmation else "", rule.note]
    return f"{rule.list} {rule.rule} ({', '.join(fact for fact in facts if fact)})"


def _change(rule: PermissionRule, new_rule: str | None = None) -> ChangePermission:
    return ChangePermission(rule.list, rule.rule, rule.source, rule.place, new_rule)
