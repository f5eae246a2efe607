"""Which addresses are anybody's to speak to, by IANA's registries of those that are not.

The tables are our own: what Python calls global has changed between its versions.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",
            "100.64.0.0/10",  # behind a carrier; some clouds' metadata
            "127.0.0.0/8",
            "169.254.0.0/16",  # link-local; most clouds' metadata
            "168.63.129.16/32",  # a cloud's own services, though the address looks public
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments; a cloud's metadata
            "192.0.2.0/24",
            "192.88.99.0/24",  # relays to IPv6
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments; Teredo, which carries an IPv4 address within
            "2001:db8::/32",
            "2002::/16",  # 6to4, which does so too
            "3fff::/20",
        ),
    )
)
_CARRIES_4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"IPv4 addresses as IPv6 writes them, and as a network without IPv4 reaches them: what is within decides."
_OF_THE_MACHINE_4 = tuple(
    map(IPv4Network, ("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "224.0.0.0/4"))
)
_OF_THE_MACHINE_6 = tuple(map(IPv6Network, ("fe80::/10", "fd00:ec2::/32", "ff00::/8")))


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """May anybody on the Internet be meant by it?"""
    address = _within(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)


def is_of_the_machine(address: IPv4Address | IPv6Address) -> bool:
    """Is it where a cloud tells its machines their secrets, or of the link alone? No name may lead there."""
    address = _within(address)
    if isinstance(address, IPv4Address):
        return any(address in network for network in _OF_THE_MACHINE_4)
    return any(address in network for network in _OF_THE_MACHINE_6)


def _within(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(address, IPv6Address) and any(address in network for network in _CARRIES_4):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
