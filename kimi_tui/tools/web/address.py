"""Network addresses: which ones a page may be fetched from, and what a host's name stands for."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from kimi_tui.base.errors import WebProblem

Address = IPv4Address | IPv6Address

_NEVER = tuple(
    ip_network(network)
    for network in (
        "100.64.0.0/10",  # shared by a carrier's customers; some clouds keep their metadata there
        "168.63.129.16/32",  # Azure's own services, as a machine in it sees them
        "192.0.0.0/24",
        "::/96",
        "64:ff9b:1::/48",
        "fec0::/10",
    )
)
_NAT64 = ip_network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could reach `address`: it is none of this machine, its network or
    its cloud's metadata service, nor an IPv6 form of such a one."""
    if isinstance(address, IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return is_public(inner)
    return (
        address.is_global
        and not address.is_multicast
        and not any(address.version == network.version and address in network for network in _NEVER)
    )


async def system_addresses(host: str, port: int) -> Sequence[Address]:
    """The addresses that the system finds for `host`, best first. Raises WebProblem when there are none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise WebProblem(
            f"The host {host} can't be found.",
            hint="Check its spelling; without a network, work with what is on this machine.",
        ) from error
    return list(dict.fromkeys(ip_address(str(place[0])) for *_, place in found))


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that `address` leads to, if it is such a form."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
