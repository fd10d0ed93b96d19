"""Review of a project's config files. A session uses only files that the user trusts."""

from pathlib import Path

from kimi_tui.base.errors import ConfigError, KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.project_files import ProjectFile
from kimi_tui.config.project_trust import ProjectTrust, ReviewedFile, untrusted_paths
from kimi_tui.engine.options import EngineOptions

_MAX_NAMED = 10


@frozen
class ProjectReview:
    """A project's files that configure kimi-tui, with the user's decisions when the session was opened."""

    files: tuple[ReviewedFile, ...]
    work_dir: Path

    @property
    def untrusted(self) -> frozenset[Path]:
        """Paths that the session must not use."""
        return untrusted_paths(self.files)

    @property
    def problems(self) -> tuple[KimiTuiError, ...]:
        """Error that lists the files that await the user's decision, except MCP files."""
        names = [
            self._name(each.file)
            for each in self.files
            if each.status in ("new", "changed") and each.file.kind != "mcp"
        ]
        if not names:
            return ()
        hidden = len(names) - _MAX_NAMED
        more = f" (+{hidden})" if hidden > 0 else ""
        ignored = msg(
            "Ignored, since you don't trust these files of the project yet: {files}.",
            files=", ".join(names[:_MAX_NAMED]) + more,
        )
        return (ConfigError(ignored, hint="Review them, then run `kimi-tui trust add`."),)

    def _name(self, file: ProjectFile) -> str:
        inside = file.path.is_relative_to(self.work_dir)
        return sanitize_line(str(file.path.relative_to(self.work_dir) if inside else file.path))


def review_project(options: EngineOptions, work_dir: Path) -> ProjectReview:
    """Compare the project's files with the user's decisions. Skips skills if `skills_dirs` is set."""
    reviewed = ProjectTrust(options.data_dir).review(
        work_dir,
        home=options.home_dir or Path.home(),
        extra_skill_dirs=options.settings.extra_skill_dirs,
    )
    used = (each for each in reviewed if not (options.skills_dirs and each.file.kind == "skill"))
    return ProjectReview(tuple(used), work_dir)
