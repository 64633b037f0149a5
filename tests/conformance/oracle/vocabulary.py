"""The words questions are made of: the device that is asked about, and values of every type as they are written."""

# ruff: noqa: E501, SIM905 - words split at spaces are easier to extend than formatted tables

from __future__ import annotations

from typing import Any

DRIVER = "gpu.nvidia.com"
DEVICE: dict[str, Any] = {
    "attributes": {
        "type": {"string": "gpu"},
        "gpu.nvidia.com/productName": {"string": "NVIDIA H100 80GB HBM3"},
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "driverVersion": {"version": "580.65.6"},
        "cudaDriverVersion": {"version": "13.0.0-rc.1+b7"},
        "index": {"int": 3},
        "big": {"int": 9223372036854775807},
        "ecc": {"bool": True},
        "label": {"string": "naïve-ü日本"},
        "address": {"string": "10.1.2.3"},
        "net.example.com/rdma": {"bool": False},
    },
    "capacity": {
        "memory": {"value": "81559Mi"},
        "half": {"value": "1500m"},
        "huge": {"value": "100Ti"},
        "net.example.com/bw": {"value": "400G"},
    },
}
A = 'device.attributes["gpu.nvidia.com"]'
C = 'device.capacity["gpu.nvidia.com"]'
ATTRIBUTES = "type architecture productName cudaComputeCapability driverVersion cudaDriverVersion index big ecc label address nosuch".split()
CAPACITIES = "memory half huge nosuch".split()
STRINGS = (
    '"a" "" "Hopper" "gpu" "H100" "9.0.0" "v1.2" "1.2.3-rc.1" "80Gi" "1.5" "naïve" "日本" "a,b,,c" " x " "A-b_C" "10.0.0.0/8"'
    ' "10.1.2.3" "::1" "fe80::1/64" "https://u:p@h.example:80/a%20b?x=1&y=2&x=3" "/p?q" "x\\"y\\n" "true" "42" "-1" "0x1F" "1h30m" "-5ms"'
    ' "2024-02-29T12:30:45.123456789+02:00" "2024-01-01T00:00:00Z" "%s" "dns-label" "a.b/c-d" "Zm9v" "123e4567-e89b-12d3-a456-426614174000"'
    ' "2024-02-30" "[a-z]+" "(" "^H.*0$" "\\\\d+"'
).split(" ")
QUANTITIES = "80Gi 100Ti 1 1500m 0 -1 1e3 9Ei 0.5Gi 1n 400G 81559Mi 1Pi 12E 1e20 -0.1n Gi 1K 1.5".split()
VERSIONS = "9.0.0 1.2.3 1.2.3-rc.1 v1.2 580.65.6 13.0.0-rc.1 1.0.0+b 01.2.3 18446744073709551615.0.0".split()
INTS = "0 1 2 3 -1 7 10 100 9223372036854775807 -9223372036854775808 1000000".split()
DOUBLES = "0.0 1.0 1.5 -2.25 3.0 1e10 1e300 0.1 1e21 123456789.0 1e-7".split()
UINTS = "0u 1u 3u 18446744073709551615u".split()
DURATIONS = '"1h" "90s" "-1.5s" "0" "1us" "2540400h"'.split()
STAMPS = '"2024-02-29T12:30:45.5Z" "1970-01-01T00:00:00Z" "0001-01-01T00:00:00Z" "9999-12-31T23:59:59Z" "2024-06-01T00:00:00+05:30"'.split()
ZONES = '"UTC" "+02:00" "-03:30" "02:00"'.split()
FORMATS = "dns1123Label dns1123Subdomain dns1035Label qualifiedName labelValue uri uuid byte date datetime dns1123LabelPrefix".split()
TYPES = "bool int uint double string bytes quantity version duration timestamp list_int list_string map any optional_int ip cidr url".split()


METHODS = (
    "size startsWith contains indexOf compareTo add sub isGreaterThan isInteger lowerAscii split join sort sum min distinct matches"
    " hasValue value orValue charAt substring getHours getSeconds major includes check family masked validate format first"
).split()
FUNCTIONS = (
    "size int uint double string bool bytes duration timestamp type dyn quantity semver isQuantity ip cidr url isURL sign"
    " optional.of optional.ofNonZeroValue lists.range strings.quote format.named isSemver -"
).split()
