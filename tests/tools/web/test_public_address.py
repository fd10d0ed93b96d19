"""Addresses that pages may be fetched from."""

from ipaddress import ip_address

import pytest

from kimi_tui.tools.web.public_address import is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "198.18.0.1",
        "::1", "::", "fe80::1", "fe80::1%lo", "fd00:ec2::254", "fec0::1", "ff02::1", "::7f00:1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "2002:7f00:1::", "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1", "2001:db8::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)  # fmt: skip
def test_this_machine_its_network_and_its_cloud_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))
