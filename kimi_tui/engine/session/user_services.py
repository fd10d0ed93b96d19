"""Services for the user that don't involve the model: shell, sessions, models, settings, permissions."""

from kimi_tui.base.frozen import frozen
from kimi_tui.engine.build.core import SessionCore
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.models.model_setup import ModelSetup
from kimi_tui.engine.session.browser import SessionBrowser
from kimi_tui.engine.session.message_search import MessageSearch
from kimi_tui.engine.session.pending_notes import PendingNotes
from kimi_tui.engine.session.permission_service import PermissionService
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.settings_service import SettingsService
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.user_shell import UserShell
from kimi_tui.history.session import SessionStore
from kimi_tui.tools.shell.captured_output import OutputFolder


@frozen(kw_only=True)
class UserServices:
    """Services whose commands don't wait for turns."""

    shell: UserShell
    session_browser: SessionBrowser
    message_search: MessageSearch
    model_setup: ModelSetup
    settings_service: SettingsService
    permissions: PermissionService


def build_user_services(
    core: SessionCore,
    *,
    title: SessionTitle,
    publisher: SessionPublisher,
    pending_notes: PendingNotes,
    files: SessionFiles,
    output_folder: OutputFolder,
) -> UserServices:
    """Return the user services of a session. Starts nothing."""
    session, options, wire = core.session, core.options, core.wire
    return UserServices(
        shell=UserShell(
            work_dir=session.work_dir,
            output_folder=output_folder,
            sender=wire,
            files=files,
            notes=pending_notes if options.settings.shell.tell_model else None,
        ),
        session_browser=SessionBrowser(
            store=SessionStore(options.data_dir),
            session=session,
            title=title,
            sender=wire,
            info=publisher,
        ),
        message_search=MessageSearch(data_dir=options.data_dir, sender=wire),
        model_setup=ModelSetup(options=options, models=core.models, wire=wire),
        settings_service=SettingsService(options=options, models=core.models, sender=wire),
        permissions=PermissionService(
            options=options,
            session=session,
            holder=core.approval,
            runtime_settings=core.runtime_settings,
            sender=wire,
        ),
    )
