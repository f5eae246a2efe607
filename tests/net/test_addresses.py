"""Which URLs are read, and which addresses anybody may be sent to."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from penstock.net.addresses import is_of_the_machine, is_public
from penstock.net.url import read_url


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses_are_anybodys(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
        *("168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1"),
        *("192.88.99.1", "192.168.0.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.2.3"),
        *("240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "fc00::1", "fd00:ec2::254", "fe80::1"),
        *("fec0::1", "ff02::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "2001:0:4136:e378::1", "3fff::1"),
    ],
)
def test_all_other_addresses_are_not(address: str) -> None:
    assert not is_public(ip_address(address))


def test_where_a_cloud_tells_secrets_is_known() -> None:
    for address in ("169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "168.63.129.16", "fe80::1"):
        assert is_of_the_machine(ip_address(address))
    for address in ("127.0.0.1", "10.0.0.1", "fd12::1", "1.1.1.1"):
        assert not is_of_the_machine(ip_address(address))


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://Host.Example/a?b=c#d", ("https", "host.example", 443, "/a?b=c")),
        ("http://host", ("http", "host", 80, "/")),
        ("https://host:8443?x", ("https", "host", 8443, "/?x")),
        ("https://[::FFFF:127.0.0.1]/", ("https", "::ffff:7f00:1", 443, "/")),
        ("https://[0:0:0:0:0:0:0:1]:1/", ("https", "::1", 1, "/")),
        ("http://127.0.0.1:0/", ("http", "127.0.0.1", 0, "/")),
    ],
)
def test_a_url_is_read_in_one_way(url: str, read: tuple[str, str, int, str]) -> None:
    found = read_url(url)
    assert (found.scheme, found.host, found.port, found.target) == read
    assert read_url(str(found)) == found


@pytest.mark.parametrize(
    "url",
    [
        *("", "host", "//host/", "file:///etc/passwd", "ftp://host/", "gopher://host/", "javascript:alert(1)"),
        *("https://", "https:///path", "https://:443/", "https://host:port/", "https://host:99999/", "http://[::1/"),
        *("https://user@host/", "https://u:p@host/", "https://@host/", "https://good.example\\@evil.example/"),
        *("https://ho st/", "https://host/a b", "https://host/é", "https://hôst/", "https://host/\r\nX: 1"),
        *(" https://host/", "https://ho\tst/", "https://host\n/", "https://host/\x00", "https://host/\x7f"),
        *("http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/"),
        *("http://127.0.0.1./", "http://127.0.0.01/", "http://1.2.3.4.5/", "http://host.0x1/"),
        *("https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://%31/", "https://a..b/", "https://.a/"),
        *("https://-a/", f"https://{'a' * 64}.example/", f"https://{'a.' * 130}example/", f"https://host/{'a' * 9000}"),
    ],
)
def test_a_url_that_could_be_read_in_two_ways_is_refused_in_few_words(url: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_url(url)
    assert 0 < len(str(refused.value)) < 100
