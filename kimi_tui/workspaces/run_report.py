"""What a bounded command did besides changing files."""

from collections.abc import Mapping
from pathlib import Path

from kimi_tui.base.frozen import frozen

_UNREACHABLE = ("IpOutNoRoutes", "Ip6OutNoRoutes")
"""Connections and datagrams to other machines."""
_UNANSWERED = ("UdpNoPorts", "Udp6NoPorts")
"""Datagrams to this machine that no program received, such as queries to a local name server."""
_REFUSED = ("TcpAttemptFails",)
"""Connections to this machine that no program accepted, such as those to a local database."""


@frozen(kw_only=True)
class RunReport:
    """Report of a command that ran in a bounded workspace."""

    n_network_attempts: int = 0
    """How often it tried to reach something outside of its private network."""
    opened: tuple[Path, ...] = ()
    """Which of the watched files it opened, or may have opened."""


def count_network_attempts(counters: Mapping[str, int], status: int) -> int:
    """Return how often a command tried to reach something outside of its network namespace.

    `counters` are those of the namespace (`proc_pid_net(5)`), `status` is the command's exit status. If it
    failed, connections to this machine that were refused count as well: the command may have needed a service
    that runs outside. If it succeeded, they don't: tests wait in this way for a server that they start.
    """
    names = (*_UNREACHABLE, *_UNANSWERED, *(_REFUSED if status else ()))
    return sum(counters.get(name, 0) for name in names)
