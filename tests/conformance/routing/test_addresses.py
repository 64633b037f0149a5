"""Spellings of places inside, asked of those who read them: a real Envoy's resolvers, and Go, which Envoy Gateway is.

Nothing that an author may write is an address to one of them and a name to us. There is no DNS here: what a name
resolves to nobody asks, and a NetworkPolicy has to see to that (docs/security.md).
"""

from __future__ import annotations

import ipaddress
import json
import random
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from modelplane.routing.url import AddressKind
from tests.conformance.routing import proxy
from tests.property.test_address_laws import taken
from tests.support import live, spellings

Json = Any
SPELLINGS = 20_000
OTHERS = 400
"""Spellings that are refused and that Envoy is asked about, too, so that it is known to read some of them."""
RESOLVERS = {
    "c-ares": {
        "name": "envoy.network.dns_resolver.cares",
        "typedConfig": {
            "@type": "type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig",
            # Nobody answers there.
            "resolvers": [{"socketAddress": {"address": "127.0.0.1", "portValue": 9}}],
            "dnsResolverOptions": {"noDefaultSearchDomain": True},
        },
    },
    "getaddrinfo": {
        "name": "envoy.network.dns_resolver.getaddrinfo",
        "typedConfig": {
            "@type": "type.googleapis.com/envoy.extensions.network.dns_resolver.getaddrinfo.v3"
            ".GetAddrInfoDnsResolverConfig"
        },
    },
}
_SECONDS = 40
_READ_BY_GO = """
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			panic(err)
		}
		found := []string{}
		if one := net.ParseIP(text); one != nil {
			found = append(found, one.String())
		}
		if one, err := netip.ParseAddr(text); err == nil {
			found = append(found, one.Unmap().WithZone("").String())
		}
		host := ""
		if one, err := url.Parse("http://" + text + "/v1"); err == nil {
			host = one.Hostname()
		}
		answer, _ := json.Marshal(map[string]any{"addresses": found, "host": host})
		fmt.Println(string(answer))
	}
}
"""


@pytest.fixture(scope="module")
def texts() -> list[str]:
    draw = random.Random(20_261_126)  # noqa: S311 - the same questions every time
    return [spellings.authority(draw) for _ in range(SPELLINGS)]


def accepted(texts: list[str]) -> dict[str, tuple[AddressKind, str]]:
    return {text: (place.kind, place.host) for text in texts if (place := taken(text)) is not None}


def test_go_reads_in_no_host_an_address_that_we_do_not(texts: list[str], tmp_path: Path) -> None:
    live.needs("routing", "go")
    allowed = accepted(texts)
    hosts = sorted({host for _, host in allowed.values()})
    read = of_go([*hosts, *allowed, *texts[:OTHERS]], tmp_path)
    for host, found in zip(hosts, read, strict=False):
        is_address = any((AddressKind.IP, host) == one for one in allowed.values())
        assert set(found["addresses"]) == ({host} if is_address else set()), host
    for text, found in zip(allowed, read[len(hosts) :], strict=False):
        # The same host, whatever stands around it.
        assert found["host"].lower().removesuffix(".") in {text.lower(), allowed[text][1]} or _same(
            found["host"], allowed[text][1]
        ), (text, found)
    others = read[len(hosts) + len(allowed) :]
    assert sum(bool(found["addresses"]) for found in others) > 10, "Go reads none of the spellings"


def _same(one: str, other: str) -> bool:
    try:
        return ipaddress.ip_address(one) == ipaddress.ip_address(other)
    except ValueError:
        return False


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_envoy_takes_no_name_that_we_allow_for_an_address(resolver: str, texts: list[str], tmp_path: Path) -> None:
    live.needs("routing", "go")
    allowed = sorted({host for kind, host in accepted(texts).values() if kind is AddressKind.FQDN})[:OTHERS]
    assert len(allowed) > 100
    own = ["vllm.ml-team.svc", "api.openai.com", "v1-2-3.example.com"]
    refused = [text for text in texts if taken(text) is None and text.isprintable() and text.isascii()][:OTHERS]
    read = of_envoy([*own, *allowed, *refused], resolver, tmp_path)
    assert {host: read[host] for host in (*own, *allowed) if read[host]} == {}
    inside = [text for text in refused if any(spellings.is_inside(ipaddress.ip_address(one)) for one in read[text])]
    assert len(inside) > 20, "Envoy reads none of the spellings"


def of_go(texts: list[str], folder: Path) -> list[Json]:
    """Return what Go's standard library reads in texts."""
    program = folder / "main.go"
    program.write_text(_READ_BY_GO)
    asked = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run(
        ["go", "run", str(program)], input=asked, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_envoy(hosts: list[str], resolver: str, folder: Path) -> dict[str, list[str]]:
    """Return the addresses that a resolver of Envoy finds for each host, where no DNS answers."""
    clusters = [
        {
            "name": f"c{number}",
            "type": "STRICT_DNS",
            "connectTimeout": "1s",
            "dnsLookupFamily": "ALL",
            "typedDnsResolverConfig": RESOLVERS[resolver],
            "loadAssignment": {
                "clusterName": f"c{number}",
                "endpoints": [
                    {"lbEndpoints": [{"endpoint": {"address": {"socketAddress": {"address": host, "portValue": 80}}}}]}
                ],
            },
        }
        for number, host in enumerate(hosts)
    ]
    bootstrap = folder / "bootstrap.json"
    bootstrap.write_text(
        json.dumps(
            {
                "node": {"id": "test", "cluster": "test"},
                "admin": {"address": {"socketAddress": {"address": "127.0.0.1", "portValue": 0}}},
                "staticResources": {"clusters": clusters},
            }
        )
    )
    admin = folder / "admin"
    command = [proxy.program(), "-c", str(bootstrap), "--admin-address-path", str(admin), "--use-dynamic-base-id"]
    with (
        (folder / "envoy.log").open("w") as log,
        subprocess.Popen(
            [*command, "--log-level", "warning", "--concurrency", "1"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        ) as process,
    ):
        try:
            return _resolved(hosts, admin, process)
        finally:
            process.terminate()


def _resolved(hosts: list[str], admin: Path, process: subprocess.Popen[bytes]) -> dict[str, list[str]]:
    deadline, before = time.monotonic() + _SECONDS, -1
    while time.monotonic() < deadline:
        assert process.poll() is None, (admin.parent / "envoy.log").read_text()[-2000:]
        time.sleep(2)
        if not admin.exists():
            continue
        with urllib.request.urlopen(f"http://{admin.read_text()}/clusters?format=json", timeout=10) as answer:
            told = json.load(answer)["cluster_statuses"]
        found = {
            hosts[int(one["name"][1:])]: [
                each["address"]["socket_address"]["address"] for each in one.get("host_statuses", ())
            ]
            for one in told
        }
        count = sum(map(len, found.values()))
        if count and count == before:
            return {host: found.get(host, []) for host in hosts}
        before = count
    raise AssertionError("Envoy resolves nothing")
