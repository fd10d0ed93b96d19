"""Policy of the sandbox: what a command may read, change and connect to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.redaction import looks_like_secret_name

Access = Literal["write", "read", "hidden", "absent"]
"""`read`: not writable. `hidden`: appears empty. `absent`: doesn't exist and can't be created."""

_PROTECTED_FILES = (
    ".git/config", ".git/config.worktree", ".git/hooks", ".kimi-tui", ".mcp.json", ".vscode/mcp.json",
)  # fmt: skip
"""Files that the user's git or kimi-tui itself execute or obey in a project. A command that could change them
could act outside of the sandbox later."""
_HIDDEN_IN_HOME = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".local/share/keyrings",
    ".config/gcloud", ".config/gh", ".config/op", ".config/git/credentials", ".config/github-copilot",
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
    ".codex", ".claude", ".claude.json", ".gemini", ".kimi",
    ".netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".vault-token", ".boto",
    ".s3cfg", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
    ".terraform.d/credentials.tfrc.json", ".bash_history", ".zsh_history", ".python_history",
    "Library/Keychains", "Library/Cookies", "Library/Safari", "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
)  # fmt: skip
_HIDDEN_ANYWHERE = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-")
"""Files that not even root's commands need."""
_PROFILES = (
    ".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".profile", ".zlogin",
    ".zprofile", ".zshenv", ".zshrc", ".gitconfig", ".config/autostart", ".config/fish", ".config/git",
    ".config/systemd", "Library/LaunchAgents",
)  # fmt: skip
"""Files that the user's next login obeys; relevant if the home directory itself is writable."""
_SOCKET_VARIABLES = (
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
)
"""Variables that give access to other programs of the user."""


@frozen(kw_only=True)
class SandboxPolicy:
    """Rules of a sandbox. Without a rule, everything can be read and nothing can be changed."""

    access: Mapping[Path, Access]
    """By absolute path with links resolved, outer directories first.

    A rule applies to everything below its path that has no rule of its own.
    """
    work_dir: Path
    temp: Path
    """Temporary directory that only the commands use."""
    network: bool = False
    environment: tuple[str, ...] = ()
    """Variables that commands may see although their names look like secrets."""
    is_reviewed: bool = False
    """Whether what commands write takes effect only after a review. Then git's settings are writable, too."""
    secrets: frozenset[str] = frozenset()
    """Values that commands may not see, whatever the variable's name is."""

    def filter_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return `environment` without secrets."""
        return {
            name: value
            for name, value in environment.items()
            if name in self.environment or not (_is_secret_variable(name) or value in self.secrets)
        }

    def access_to(self, path: Path) -> Access:
        """Return the access to `path` (absolute, links resolved): the innermost rule that applies to it."""
        return next((self.access[each] for each in (path, *path.parents) if each in self.access), "read")

    def with_roots(self, roots: Sequence[Path]) -> "SandboxPolicy":
        """Return the policy with further writable directories, except for the protected files in them."""
        access = dict(self.access)
        for root in roots:
            if access.get(root) != "write":
                rules = _protected_paths(root, protects_git=not self.is_reviewed)
                access |= {path: rule for path, rule in rules.items() if path not in access}
                access[root] = "write"
        return replace(self, access=sort_by_depth(access))

    def with_read_only_git(self) -> "SandboxPolicy":
        """Return the policy for a command that doesn't run git, and so needn't change git directories."""
        git_dirs = {path for path, rule in self.access.items() if path.name == ".git" and rule == "write"}
        return replace(
            self,
            access={
                path: "read" if path in git_dirs else rule
                for path, rule in self.access.items()
                if git_dirs.isdisjoint(path.parents)
            },
        )

    def effective_access(self) -> dict[Path, Access]:
        """Return the rules without those that repeat the rule of a parent that is hidden."""
        effective: dict[Path, Access] = {}
        for path, access in self.access.items():
            parent = next((effective[each] for each in path.parents if each in effective), "read")
            if not (access == "hidden" and parent == "hidden"):
                effective[path] = access
        return effective


def build_policy(
    *,
    work_dir: Path,
    additional_dirs: Sequence[Path],
    writable: Iterable[Path],
    readable: Iterable[Path],
    hidden: Iterable[Path],
    home: Path,
    temp: Path,
    network: bool,
    environment: tuple[str, ...],
    secrets: frozenset[str],
    is_reviewed: bool = False,
) -> SandboxPolicy:
    """Return the policy for these directories, as they are on disk now.

    The working directory and the added directories are writable, except for files in them that could act
    outside of the sandbox later. If a path is both writable and hidden, it is writable.
    """
    roots = [path.resolve() for path in (work_dir, *additional_dirs)]
    access: dict[Path, Access] = {}
    hidden_in_home = (home / name for name in _HIDDEN_IN_HOME)
    for path in (*map(Path, _HIDDEN_ANYWHERE), *hidden_in_home, *hidden):
        access[path.resolve()] = "hidden"
    home = home.resolve()
    for root in roots:
        if home.is_relative_to(root):
            access |= {home / name: "read" for name in _PROFILES}
    access |= dict.fromkeys((path.resolve() for path in readable), "read")
    for root in (*roots, *(path.resolve() for path in writable)):
        access[root] = "write"
        access |= _protected_paths(root, protects_git=not is_reviewed)
    return SandboxPolicy(
        access=sort_by_depth(access),
        work_dir=roots[0],
        temp=temp,
        network=network,
        environment=environment,
        secrets=secrets,
        is_reviewed=is_reviewed,
    )


def sort_by_depth(access: Mapping[Path, Access]) -> dict[Path, Access]:
    """Return rules with outer directories first."""
    return {path: access[path] for path in sorted(access, key=lambda path: len(path.parts))}


def _protected_paths(root: Path, *, protects_git: bool) -> dict[Path, Access]:
    rules: dict[Path, Access] = {}
    git = root / ".git"
    if not protects_git:
        pass
    elif git.is_dir() and not git.is_symlink():
        rules[git] = "write"  # has its own rule, so that it can't be moved away and replaced
    elif git.exists():
        rules[git] = "read"
    vscode = root / ".vscode"
    if (vscode / "mcp.json").exists() and not vscode.is_symlink():
        rules[vscode] = "write"  # likewise
    for name in _PROTECTED_FILES:
        path = root / name
        if name.startswith(".git/") and not protects_git:
            continue
        if path.exists() and not path.is_symlink() and path.parent in (root, *rules):
            rules[path] = "read"
        elif name == ".git/hooks" and rules.get(git) == "write":
            rules[path] = "absent"
    return rules


def _is_secret_variable(name: str) -> bool:
    return name in _SOCKET_VARIABLES or looks_like_secret_name(name)
