"""The settings command: opens the settings dialog and offers to reopen the session afterwards."""

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.dialogs.settings import SettingsDialog
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.screen.session_screen import SessionScreen
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.settings_applier import SettingsApplier
from kimi_tui.tui.widgets.choice_list import Choice


async def open_settings(
    host: CommandHost, *, screen: SessionScreen, key_labels: KeyLabels, options: TuiOptions
) -> None:
    """Let the user change settings. If some take effect only in a new session, offer to reopen this one."""
    applier = SettingsApplier(
        app=screen.app,
        key_labels=key_labels,
        host=host,
        data_dir=options.data_dir,
        background=options.background,
    )
    dialog = SettingsDialog(
        applier=applier, data_dir=options.data_dir, owner=screen, host=host, key_labels=key_labels
    )
    deferred_keys = await screen.app.push_screen_wait(dialog)
    info = host.state.session
    if not deferred_keys or info is None or host.state.turn is not None:
        return
    choices = (
        Choice(value="now", label=tr("reopen the session"), detail=tr("keeps the conversation")),
        Choice(value="later", label=tr("later"), detail=tr("with /new or the next start")),
    )
    title = tr("{keys}: not in effect in this session yet", keys=", ".join(deferred_keys))
    if await host.choose(title, choices) == "now":
        # A session without messages has no title and isn't on disk, so it can't be resumed.
        host.open_session(SessionRequest(session_id=info.session_id if info.title else None))
