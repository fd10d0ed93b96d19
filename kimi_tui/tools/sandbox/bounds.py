"""What a command in the sandbox may see, change and reach."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from kimi_tui.base.secrets import sounds_secret
from kimi_tui.base.value import value

Access = Literal["write", "read", "hidden", "absent"]
"""`read`: not to be changed. `hidden`: empty for whoever looks. `absent`: not there, and not to be made."""

_OWN_FILES = (".git/config", ".git/config.worktree", ".git/hooks", ".kimi-tui", ".mcp.json")
"""What the user's own git, and we, run or obey in a project: a command that could change it would act later,
outside of the sandbox."""
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
"""What even root's commands have no business with."""
_PROFILES = (
    ".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".profile", ".zlogin",
    ".zprofile", ".zshenv", ".zshrc", ".gitconfig", ".config/autostart", ".config/fish", ".config/git",
    ".config/systemd", "Library/LaunchAgents",
)  # fmt: skip
"""What the user's next login obeys, should the home folder itself be worked in."""
_DOORS = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST")
"""Variables that name a way out to a program of the user's."""


@value(kw_only=True)
class Bounds:
    """Everything may be read but what is named here, and nothing changed."""

    access: Mapping[Path, Access]
    """By absolute path, links resolved, outer folders first: what is named holds for all below it that isn't
    named itself."""
    work_dir: Path
    temp: Path
    """A folder that is the commands' alone."""
    network: bool = False
    environment: tuple[str, ...] = ()
    """Variables that may be seen though they sound like secrets."""
    secrets: frozenset[str] = frozenset()
    """Values that no variable may hold, whatever it is called."""

    def visible(self, environment: Mapping[str, str]) -> dict[str, str]:
        """`environment` without what sounds like a secret."""
        return {
            name: value
            for name, value in environment.items()
            if name in self.environment or not (_sounds_secret(name) or value in self.secrets)
        }


def bounds_of(
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
) -> Bounds:
    """The bounds around these folders, as they are on disk now.

    The work dir and the added ones are worked in: there, what acts outside of the sandbox later may only be
    read. Where two of them name the same path, what is worked in wins over what is hidden.
    """
    roots = [path.resolve() for path in (work_dir, *additional_dirs)]
    access: dict[Path, Access] = {}
    own = (home / name for name in _HIDDEN_IN_HOME)
    for path in (*map(Path, _HIDDEN_ANYWHERE), *own, *hidden):
        access[path.resolve()] = "hidden"
    home = home.resolve()
    for root in roots:
        if home.is_relative_to(root):
            access |= {home / name: "read" for name in _PROFILES}
    access |= dict.fromkeys((path.resolve() for path in readable), "read")
    for root in (*roots, *(path.resolve() for path in writable)):
        access[root] = "write"
        access |= _own_files(root)
    return Bounds(
        access={path: access[path] for path in sorted(access, key=lambda path: len(path.parts))},
        work_dir=roots[0],
        temp=temp,
        network=network,
        environment=environment,
        secrets=secrets,
    )


def _own_files(root: Path) -> dict[Path, Access]:
    found: dict[Path, Access] = {}
    git = root / ".git"
    if git.is_dir() and not git.is_symlink():
        found[git] = "write"  # by itself, so that it can't be moved away and made anew
    elif git.exists():
        found[git] = "read"
    for name in _OWN_FILES:
        path = root / name
        if path.exists() and not path.is_symlink() and path.parent in (root, *found):
            found[path] = "read"
        elif name == ".git/hooks" and found.get(git) == "write":
            found[path] = "absent"
    return found


def _sounds_secret(name: str) -> bool:
    return name in _DOORS or sounds_secret(name)
