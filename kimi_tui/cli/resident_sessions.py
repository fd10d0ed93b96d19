"""Sessions of the resident engine: opened with the options of a client's command line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.cli.bootstrap import EngineSetup, allow_missing_model, read_config_for
from kimi_tui.cli.resident_options import parse_options, parse_traits
from kimi_tui.cli.run_paths import resolve_paths
from kimi_tui.engine.options import EngineOptions
from kimi_tui.resident.editor_link import EditorLink
from kimi_tui.wire.channel import Wire


class ResidentSessions:
    """Opens sessions for the clients of the resident engine."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def find(self, options: dict[str, Any]) -> str | None:
        """Return the id of the existing session that `options` name; None for a new one or a fork.

        Blocks. Raises KimiTuiError.
        """
        from kimi_tui.history.session import SessionStore

        cli_options = parse_options(options)
        store = SessionStore(self._data_dir)
        if cli_options.fork:
            return None
        if cli_options.session:
            return store.find(cli_options.session).id
        if cli_options.continue_last:
            latest = store.latest(resolve_paths(cli_options).work_dir)
            return latest.id if latest is not None else None
        return None

    async def serve(self, wire: Wire, options: dict[str, Any], editor: EditorLink) -> None:
        """Open an engine behind `wire` and serve it until Shutdown. Raises KimiTuiError."""
        cli_options, traits = parse_options(options), parse_traits(options)
        paths = resolve_paths(cli_options)
        setup = EngineSetup(
            cli_options=cli_options,
            paths=paths,
            config=read_config_for(cli_options, paths),
            interactive=traits.interactive,
            runs_checks=traits.runs_checks,
        )

        def adapt(engine_options: EngineOptions) -> EngineOptions:
            if traits.allows_no_model:
                engine_options = allow_missing_model(engine_options)
            mcp = replace(engine_options.mcp, servers=traits.mcp_servers)
            return replace(engine_options, mcp=mcp, editor=editor, terminals=editor)

        await setup.serve(wire, adapt=adapt)
