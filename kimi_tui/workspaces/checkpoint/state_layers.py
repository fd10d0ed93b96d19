"""Layers with the differences of states: views of the same state share one, and the next state reuses it."""

from collections.abc import Sequence
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.workspaces.checkpoint.state_layer import Contents, StateLayer, StatePlans
from kimi_tui.workspaces.checkpoint.state_plan import plan_state
from kimi_tui.workspaces.open_record import OpenRecords
from kimi_tui.workspaces.overlay.layer import layer_folder, layer_parents


@frozen
class PreparedState:
    """A layer for a state, and the paths that it can't have."""

    layer: StateLayer | None
    """None if nothing differs from the real files, or if the layer can't show the paths in `failed`."""
    failed: tuple[str, ...] = ()


class StateLayers:
    """The layers for one set of roots. The methods block, and only one may run at a time.

    A layer is in use while its `users` aren't zero. They only grow while no method runs.
    """

    def __init__(self, folder: Path, records: OpenRecords, roots: Sequence[str]) -> None:
        """Create it. `folder` is that of the `records`, and the first choice for layers."""
        self._folder = folder
        self._records = records
        self._roots = tuple(roots)
        self._layers: list[StateLayer] = []

    def prepare(self, changes: Changes, contents: Contents, *, work_dir: Path) -> PreparedState:
        """Return a layer in which `changes` apply to the current files.

        Without one for equal changes, an unused layer is changed. Raises OSError.
        """
        plans, failed = self._plan(changes, str(work_dir.resolve()))
        if failed or not any(plans.values()):
            return PreparedState(None, tuple(sorted(failed)))
        layer = next((each for each in self._layers if each.plans == plans), None)
        if layer is None:
            layer = next((each for each in self._layers if not each.users), None) or self._create()
            try:
                layer.write(plans, contents)
            except BaseException:
                self._remove(layer)
                raise
        self.remove_unused(keep=layer)
        return PreparedState(layer)

    def remove_unused(self, *, keep: StateLayer | None = None) -> None:
        """Remove what no view uses, except for `keep`."""
        for layer in [each for each in self._layers if not each.users and each is not keep]:
            self._remove(layer)

    def close(self) -> None:
        """Remove all layers."""
        for layer in list(self._layers):
            self._remove(layer)

    def _plan(self, changes: Changes, work_dir: str) -> tuple[StatePlans, list[str]]:
        """Return what the layer of each root needs, and the changed paths that it can't have."""
        failed: list[str] = []
        by_root: dict[str, dict[str, str]] = {root: {} for root in self._roots}
        for path in changes:
            start, _, within = path.partition("//") if path.startswith("/") else (work_dir, "", path)
            full = f"{start}/{within}"
            root = max((each for each in self._roots if full.startswith(f"{each}/")), key=len, default=None)
            if root is None:
                failed.append(path)
            else:
                by_root[root][full[len(root) + 1 :]] = path
        plans = {}
        for root, paths in by_root.items():
            plans[root], rejected = plan_state(
                {within: changes[path] for within, path in paths.items()}, root
            )
            failed += [paths[within] for within in rejected]
        return plans, failed

    def _create(self) -> StateLayer:
        parent = layer_parents(self._folder, self._roots)[0]
        record = self._records.create_folder()
        layer = StateLayer(str(layer_folder(parent, record.name)), record, self._roots)
        self._layers.append(layer)
        layer.create()
        return layer

    def _remove(self, layer: StateLayer) -> None:
        if layer in self._layers:
            self._layers.remove(layer)
            layer.remove()
            self._records.remove_folder(layer.record)
