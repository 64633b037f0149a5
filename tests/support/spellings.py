"""Spellings of places inside: addresses and names in every form that some program reads as one, drawn at random.

Shape: the authority of a URL, `host[:port]` with whatever an author may put around it.
"""

from __future__ import annotations

import ipaddress
import random
import re
from collections.abc import Callable, Sequence

INSIDE = (
    *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    *("100.64.0.0/10", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "198.18.0.0/15", "224.0.0.0/4"),
)
INSIDE_SIX = ("::1/128", "::/128", "fe80::/10", "fc00::/7", "fd00:ec2::254/128", "fd20:ce::254/128", "fec0::/10")
NAMES = (
    *("localhost", "localhost.localdomain", "localhost4.localdomain4", "ip6-localhost", "x.localhost", "_gateway"),
    *("kubernetes.default", "kubernetes.default.svc", "vllm.other.svc", "vllm.other.svc.cluster.local"),
    *("10-0-0-1.other.pod.cluster.local", "kubernetes.default.svc.corp.example", "x.kubernetes.default.svc"),
    *("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.com"),
    *(
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "ip-10-0-0-1.ec2.internal",
        "llama-0.other.modelplane.internal",
    ),
    *("host.docker.internal", "gateway.docker.internal", "router.lan", "nas.local", "intranet", "db.home.arpa"),
)
WILDCARDS = ("nip.io", "sslip.io", "xip.io", "traefik.me", "example.com", "dev.example.org", "plex.direct", "lvh.me")
_WIDE = {**{str(n): chr(0xFF10 + n) for n in range(10)}, ".": "\u3002", ":": "\uff1a"}
_CIRCLED = {str(n): chr(0x2460 + n - 1) if n else "\u24ea" for n in range(10)}
_ARABIC = {str(n): chr(0x0660 + n) for n in range(10)}


def inside(rng: random.Random) -> ipaddress.IPv4Address:
    """Return an address inside."""
    network = ipaddress.IPv4Network(rng.choice(INSIDE))
    return network[
        rng.choice([0, 1, network.num_addresses - 1, rng.randrange(network.num_addresses)]) % network.num_addresses
    ]


def authority(rng: random.Random) -> str:
    """Return one spelling."""
    kind = rng.choice([_four, _four, _six, _name, _spelled, _near])
    text = kind(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        text = rng.choice(_DISGUISES)(rng, text)
    return text


def spelled_inside(host: str) -> bool:
    """Return whether four numbers of a name, next to each other, are an address inside, as wildcard domains read it."""
    parts = re.split(r"[.-]", host)
    parts = [re.sub(r"^[^0-9]+", "", part) for part in parts]
    for window in zip(parts, parts[1:], parts[2:], parts[3:], strict=False):
        digits = [re.match(r"[0-9]+", part) for part in window]
        if all(digits) and all(one and len(one[0]) <= 3 and int(one[0]) < 256 for one in digits):
            four = ipaddress.IPv4Address(bytes(int(one[0]) for one in digits if one))
            if all(_whole(part) for part in window[:3]) and is_inside(four):
                return True
    return False


def _whole(part: str) -> bool:
    return part.isascii() and part.isdigit()


def is_inside(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether an address leads inside, by tables that are not those of the rules."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if any(one is not None and is_inside(one) for one in carried):
            return True
        is_given_out = any(address in ipaddress.IPv6Network(network) for network in ("2000::/3", "64:ff9b::/96"))
        return not is_given_out or any(address in ipaddress.IPv6Network(network) for network in INSIDE_SIX)
    return any(address in ipaddress.IPv4Network(network) for network in INSIDE)


# --- forms ------------------------------------------------------------------------------------------------------------


def _number(rng: random.Random, value: int) -> str:
    return rng.choice(
        [
            str(value), str(value), f"0{value:o}", f"0x{value:x}", f"0X{value:X}", f"{value:03}", f"00{value:o}",
            f"0x{value:08x}", f"0{value}", str(value + 256), str(value + 2**32),
        ]
    )  # fmt: skip


def _four(rng: random.Random) -> str:
    octets = inside(rng).packed
    parts = rng.choice([1, 2, 3, 4, 4, 4])
    values = [*octets[: parts - 1], int.from_bytes(octets[parts - 1 :])]
    if rng.random() < 0.4:
        return ".".join(map(str, values))
    return ".".join(_number(rng, value) for value in values)


def _six(rng: random.Random) -> str:
    four = int(inside(rng))
    prefixes = ["::ffff:0:0", "::", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::", "2001:db8:64::", "2001:db8::5efe:0:0"]
    prefixes += ["2001:db8::200:5efe:0:0", "fe80::5efe:0:0"]
    network = ipaddress.IPv6Network(rng.choice(INSIDE_SIX))
    found = [
        ipaddress.IPv6Address(int(ipaddress.IPv6Address(rng.choice(prefixes))) + four),
        ipaddress.IPv6Address(0x2002 << 112 | four << 80 | 1),
        ipaddress.IPv6Address(0x20010000 << 96 | rng.getrandbits(32) << 64 | four ^ 0xFFFFFFFF),
        network[rng.randrange(min(network.num_addresses, 2**64))],
    ]
    chosen = rng.choice(found)
    dotted = f"{ipaddress.IPv6Address(int(chosen) >> 32 << 32)}".removesuffix("0:0") + str(
        ipaddress.IPv4Address(int(chosen) & 0xFFFFFFFF)
    )
    text = rng.choice([str(chosen), chosen.exploded, str(chosen).upper(), dotted])
    return rng.choice([f"[{text}]", f"[{text}]", text, f"[{text}%25eth0]", f"[{text}%1]"])


def _name(rng: random.Random) -> str:
    return rng.choice(NAMES)


def _spelled(rng: random.Random) -> str:
    separator = rng.choice([".", "-"])
    octets = [str(octet) for octet in inside(rng).packed]
    around = [rng.choice(["a", "ec2", "app7", str(rng.randrange(300)), "x-1"]) for _ in range(rng.randint(0, 2))]
    after = [str(rng.randrange(300)) for _ in range(rng.choice([0, 0, 1]))]
    return separator.join([*around, *octets, *after]) + "." + rng.choice(WILDCARDS)


def _near(rng: random.Random) -> str:
    """Return a name that looks like an address and is none, as long as its last label is a word."""
    labels = ["0x7f", "127", "1", "0", "10", "017700000001", "7f000001", "2130706433", "0b1", "1e3", "a", "xn--1", "-"]
    last = ["com", "example.com", "app", "zip", "xn--p1ai", "0x7f", "1", "c0m", "127"]
    return ".".join([*(rng.choice(labels) for _ in range(rng.randint(1, 4))), rng.choice(last)])


# --- disguises --------------------------------------------------------------------------------------------------------


def _written_with(table: dict[str, str]) -> Callable[[random.Random, str], str]:
    def change(rng: random.Random, text: str) -> str:
        return "".join(table.get(one, one) if rng.random() < 0.5 else one for one in text)

    return change


def _percent(rng: random.Random, text: str) -> str:
    return "".join(f"%{ord(one):02x}" if one.isascii() and rng.random() < 0.3 else one for one in text)


def _case(rng: random.Random, text: str) -> str:
    return "".join(one.upper() if rng.random() < 0.5 else one for one in text)


def _around(before: Sequence[str], after: Sequence[str]) -> Callable[[random.Random, str], str]:
    return lambda rng, text: rng.choice(before) + text + rng.choice(after)


_DISGUISES: tuple[Callable[[random.Random, str], str], ...] = (
    _written_with(_WIDE),
    _written_with(_CIRCLED),
    _written_with(_ARABIC),
    _percent,
    _case,
    _around([""], [".", "..", ":80", ":8080", ":"]),
    _around(
        ["api.example.com@", "user:secret@", "api.example.com:80@", "api.example.com#@", "api.example.com\\@"], [""]
    ),
    _around(
        ["", " ", "\t", "\u200b", "\u00ad", "+"], ["", " ", "\x00", "\n", "\u200b", "\\.example.com", "#.example.com"]
    ),
    _around(["[", "x.", "."], ["]", "", "%eth0"]),
)
