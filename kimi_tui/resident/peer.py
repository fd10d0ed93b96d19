"""The user at the other end of a Unix socket, as the operating system reports it."""

import socket
import struct

_LOCAL_PEERCRED = 1  # sys/un.h of macOS and FreeBSD
_XUCRED_BYTES = 76


def peer_uid(connection: socket.socket) -> int | None:
    """Return the user id of the process at the other end; None if the system doesn't report it."""
    try:
        if (option := getattr(socket, "SO_PEERCRED", None)) is not None:  # Linux
            credentials = connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[1])
        credentials = connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES)
        return int(struct.unpack_from("=2I", credentials)[1])
    except (OSError, struct.error):
        return None
