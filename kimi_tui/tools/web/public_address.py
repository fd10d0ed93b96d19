"""Network addresses: which ones pages may be fetched from, and the addresses of a host."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from kimi_tui.base.errors import WebProblem

Address = IPv4Address | IPv6Address

_BLOCKED_NETWORKS = tuple(
    ip_network(network)
    for network in (
        "100.64.0.0/10",  # carrier-grade NAT; some clouds have their metadata service there
        "168.63.129.16/32",  # Azure's internal services
        "192.0.0.0/24",
        "::/96",
        "64:ff9b:1::/48",
        "fec0::/10",
    )
)
_NAT64 = ip_network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Return whether `address` is reachable for anyone on the internet.

    That excludes this machine, its network, its cloud's metadata service, and IPv6 forms of their addresses.
    """
    if isinstance(address, IPv6Address):
        inner = _embedded_ipv4(address)
        if inner is not None:
            return is_public(inner)
    return (
        address.is_global
        and not address.is_multicast
        and not any(
            address.version == network.version and address in network for network in _BLOCKED_NETWORKS
        )
    )


async def resolve_host(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of `host`, best first. Raises WebProblem if it can't be resolved."""
    try:
        infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise WebProblem(
            f"The host {host} can't be found.",
            hint="Check the spelling. Without network access, use the local files.",
        ) from error
    return list(dict.fromkeys(ip_address(str(address[0])) for *_, address in infos))


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address embedded in `address`, if there is one."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


class AddressFilter:
    """Lets only public addresses through."""

    def may_reach(self, address: Address) -> bool:
        """Return whether requests to `address` are allowed."""
        return is_public(address)

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """Return the addresses of a host. Raises WebProblem."""
        return await resolve_host(host, port)


class AnyAddressFilter(AddressFilter):
    """Lets all addresses through, also those of this machine and its network."""

    def may_reach(self, address: Address) -> bool:
        """Return True."""
        return True
