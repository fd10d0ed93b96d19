"""A session served by an engine in this process, or by the resident engine that has it open."""

from kimi_tui.base.errors import SessionInUse
from kimi_tui.cli.bootstrap import EngineSetup, allow_missing_model
from kimi_tui.wire.channel import Wire


async def serve_here_or_resident(setup: EngineSetup, wire: Wire, *, is_app: bool = True) -> None:
    """Serve `wire` by an engine in this process, or by the resident engine if the session is open there.

    `is_app`: whether the front end is the app, which shows a session before its engine is ready and offers to
    connect a model. Raises KimiTuiError.
    """
    try:
        if is_app:
            await setup.serve(wire, adapt=allow_missing_model, show_first=True)
        else:
            await setup.serve(wire)
    except SessionInUse as error:
        from kimi_tui.cli.resident_client import serve_in_use  # rarely needed, and not before the first frame

        if not await serve_in_use(setup, wire, error.session_id):
            raise
