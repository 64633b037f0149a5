"""Program that counts the nodes and devices of a workload cluster, as text: a Deployment passes it to `python3 -c`.

It is a text for the reason of `staging_program`: any image with Python runs it. It lists nodes and ResourceSlices, and
writes one summary into one ConfigMap whenever that changes, and at no other time. It decides nothing: what the numbers
mean is for the one who reads them. It names no node, and its answer is bounded (`sightings.BYTES_MAX`).

Arguments: the question (JSON, see `observer.question`), the ConfigMap (`namespace/name`), and the seconds between two
looks. A look that fails changes nothing; the file `SEEN` is touched after each that succeeds, for the readiness probe.
Source: resource.k8s.io/v1 of Kubernetes 1.36 (a pool is complete when as many slices of its newest generation are there
as each of them says), core/v1 Node.
"""

SEEN = "/tmp/seen"  # noqa: S108 - the pod's own emptyDir

TEXT = """\
import json, os, ssl, sys, time, urllib.parse, urllib.request
FOLDER = os.environ.get("MODELPLANE_ACCOUNT", "/var/run/secrets/kubernetes.io/serviceaccount")
SEEN = os.environ.get("MODELPLANE_SEEN", "/tmp/seen")
KINDS_MAX, SHAPES_MAX, LARGEST, PAGE = 64, 64, 65536, 250
SUFFIXES = {"": 1000, "m": 1, "k": 10**6, "M": 10**9, "G": 10**12, "T": 10**15, "P": 10**18, "E": 10**21}
SUFFIXES.update({name + "i": 1000 * 1024**power for power, name in enumerate("KMGTPE", 1)})

def server():
    given = os.environ.get("MODELPLANE_SERVER")
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return given or "https://" + ("[" + host + "]" if ":" in host else host) + ":" + port

def call(method, path, body=None):
    with open(os.path.join(FOLDER, "token")) as file:
        token = file.read().strip()
    headers = {"Authorization": "Bearer " + token, "Accept": "application/json"}
    headers["Content-Type"] = "application/merge-patch+json"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server() + path, data, headers, method=method)
    trusted = ssl.create_default_context(cafile=os.path.join(FOLDER, "ca.crt"))
    with urllib.request.urlopen(request, timeout=60, context=trusted) as answer:
        return json.load(answer)

def listed(path):
    more = ""
    while True:
        query = {"limit": PAGE, **({"continue": more} if more else {})}
        page = call("GET", path + "?" + urllib.parse.urlencode(query))
        yield from page.get("items") or ()
        more = (page.get("metadata") or {}).get("continue") or ""
        if not more:
            return

def thousandths(text):
    text = str(text)
    digits = text.rstrip("".join(sorted(set("".join(SUFFIXES)))))
    try:
        number, _, exponent = digits.lower().partition("e")
        whole, _, part = number.partition(".")
        scale, power = SUFFIXES[text[len(digits):]], int(exponent or 0)
        amount = int(whole or 0) * scale + int(part or 0) * scale // 10 ** len(part)
        if abs(power) > 30:
            return None
        return amount * 10**power if power >= 0 else amount // 10**-power
    except (KeyError, ValueError):
        return None

def node_of(node):
    status, spec = node.get("status") or {}, node.get("spec") or {}
    ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions") or ())
    return {
        "name": node["metadata"]["name"], "labels": node["metadata"].get("labels") or {}, "ready": ready,
        "cordoned": bool(spec.get("unschedulable")), "amounts": status.get("allocatable") or {},
        "taints": [t for t in spec.get("taints") or () if t.get("effect") in ("NoSchedule", "NoExecute")],
    }

def tolerated(taint, known):
    return any(
        taint.get("key") == key and effect in ("", taint.get("effect")) and value in ("", taint.get("value", ""))
        for key, value, effect in known
    )

def state_of(node, pool):
    if not node["ready"]:
        return "NotReady"
    if node["cordoned"]:
        return "Cordoned"
    return "Ready" if all(tolerated(taint, pool["taints"]) for taint in node["taints"]) else "Tainted"

def devices_by_node(slices):
    pools = {}
    for one in slices:
        spec = one["spec"]
        pools.setdefault((spec["driver"], spec["pool"]["name"]), []).append(spec)
    found = {}
    for (driver, _), specs in pools.items():
        newest = max(spec["pool"].get("generation", 0) for spec in specs)
        current = [spec for spec in specs if spec["pool"].get("generation", 0) == newest]
        whole = all(spec["pool"].get("resourceSliceCount") == len(current) for spec in current)
        for spec in current:
            for device in spec.get("devices") or ():
                name = spec.get("nodeName") or device.get("nodeName")
                if name:
                    found.setdefault(name, []).append((driver, device, whole))
    return found

def plain(name, driver):
    return name[len(driver) + 1:] if name.startswith(driver + "/") else name

def kind_of(driver, device, whole, asked):
    published = {plain(name, driver): value for name, value in (device.get("attributes") or {}).items()}
    amounts = {plain(name, driver): value.get("value") for name, value in (device.get("capacity") or {}).items()}
    taints = {(t.get("key", ""), t.get("value", ""), t.get("effect", "")) for t in device.get("taints") or ()}
    kind = {"driver": driver}
    kind["attributes"] = {name: published[name] for name in asked["attributes"] if name in published}
    kind["capacity"] = {name: amounts[name] for name in asked["capacity"] if name in amounts}
    kind["taints"] = [list(taint) for taint in sorted(taints)]
    if not whole:
        kind["partial"] = True
    return json.dumps(kind, sort_keys=True)

def least(before, now):
    return now if before is None else before if now is None else min(before, now)

def seen_of(pool, nodes, devices, kinds_max, shapes_max):
    kinds, shapes = {}, {}
    for node in nodes:
        if not all(node["labels"].get(key) == value for key, value in pool["labels"].items()):
            continue
        counts = {}
        for driver, device, whole in devices.get(node["name"], ()):
            if driver in pool["drivers"]:
                kind = kind_of(driver, device, whole, pool["drivers"][driver])
                if kind in kinds or len(kinds) < kinds_max:
                    index = kinds.setdefault(kind, len(kinds))
                    counts[index] = counts.get(index, 0) + 1
        resources = {name: (thousandths(node["amounts"].get(name, 0)) or 0) // 1000 for name in pool["resources"]}
        key = (state_of(node, pool), tuple(sorted(counts.items())), tuple(sorted(resources.items())))
        cpu, memory = thousandths(node["amounts"].get("cpu")), thousandths(node["amounts"].get("memory"))
        shape = shapes.setdefault(key, [0, None, None])
        shape[0] += 1
        shape[1] = least(shape[1], cpu)
        shape[2] = least(shape[2], None if memory is None else memory // 1000)
    order = sorted(shapes.items(), key=lambda entry: (-entry[1][0], entry[0]))
    told = [
        {
            "nodes": count, "state": state, "devices": [list(one) for one in counts], "resources": dict(resources),
            **({} if cpu is None else {"cpuMillis": cpu}), **({} if memory is None else {"memoryBytes": memory}),
        }
        for (state, counts, resources), (count, cpu, memory) in order[:shapes_max]
    ]
    uncounted = sum(entry[1][0] for entry in order[shapes_max:])
    seen = {"name": pool["name"], "asked": pool["asked"], "kinds": [json.loads(kind) for kind in kinds], "shapes": told}
    return {**seen, **({"uncounted": uncounted} if uncounted else {})}

def summary(question, nodes, slices):
    nodes = sorted((node_of(node) for node in nodes), key=lambda node: node["name"])
    devices = devices_by_node(slices)
    for found in devices.values():
        found.sort(key=lambda entry: (entry[0], entry[1].get("name", "")))
    kinds_max, shapes_max = KINDS_MAX, SHAPES_MAX
    while True:
        pools = [seen_of(pool, nodes, devices, kinds_max, shapes_max) for pool in question["pools"]]
        text = json.dumps({"version": 1, "pools": pools}, sort_keys=True, separators=(",", ":"))
        if len(text.encode()) <= LARGEST or shapes_max == 1:
            return text
        kinds_max, shapes_max = max(1, kinds_max // 2), max(1, shapes_max // 2)

def slices_of(question):
    # Without a device of DRA nothing is asked of a cluster that may not serve it; what nobody asks for is not kept.
    drivers = {driver for pool in question["pools"] for driver in pool["drivers"]}
    if drivers:
        for one in listed("/apis/resource.k8s.io/v1/resourceslices"):
            if one["spec"]["driver"] in drivers:
                yield one

def look(question, path):
    text = summary(question, listed("/api/v1/nodes"), slices_of(question))
    size = len(text.encode())
    if size > LARGEST:
        raise ValueError("the summary has %d bytes, more than %d" % (size, LARGEST))
    if text != (call("GET", path).get("data") or {}).get("observation"):
        call("PATCH", path, {"data": {"observation": text}})
        print("written: %d bytes" % size, flush=True)
    with open(SEEN, "w"):
        pass

def main():
    question, (namespace, name), seconds = json.loads(sys.argv[1]), sys.argv[2].split("/"), float(sys.argv[3])
    path = "/api/v1/namespaces/%s/configmaps/%s" % (namespace, name)
    while True:
        try:
            look(question, path)
        except Exception as error:
            print("%s: %s" % (type(error).__name__, error), file=sys.stderr, flush=True)
        time.sleep(seconds)

if __name__ == "__main__":
    main()
"""
