"""Free devices, and who holds the others, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from modelplane_cli.output import table
from modelplane_cli.output.screen import PIPE, Screen
from modelplane_cli.planning import usage
from modelplane_cli.planning.usage import By, Free, Top, Whose


def free(rows: Sequence[Free], by: By, screen: Screen = PIPE) -> str:
    """Return a line for each group and kind of device; the class stands once where it is the group."""
    if not rows:
        return "no pool\n"
    start = ("CLASS",) if by is By.CLASS else (str(by).upper(), "CLASS")
    tainted, restricted = any(row.tainted for row in rows), any(row.restricted for row in rows)
    parts = (*(("TAINTED",) if tainted else ()), *(("RESTRICTED",) if restricted else ()))
    headings = (*start, "DEVICE", "FREE", *parts, "USED", "TOTAL", "IDLE NODES", "NODES")
    scope = () if by in (By.CLUSTER, By.POOL) else ("CLUSTERS",)
    cells = []
    for row in rows:
        nodes = f"{row.nodes} (+{row.growable})" if row.growable else str(row.nodes)
        first = (row.group or "-",) if by is By.CLASS else (row.group or "no region", row.class_name or "-")
        some = (*((str(row.tainted),) if tainted else ()), *((str(row.restricted),) if restricted else ()))
        counts = (str(row.free), *some, str(row.used), str(row.total))
        last = (str(len(row.clusters)),) if scope else ()
        cells.append((*first, row.device or "-", *counts, str(row.nodes_idle), nodes, *last))
    lines = table.lines((*headings, *scope), cells, screen=screen)
    lines += ["TAINTED devices are free, but only for what tolerates the taint of their cluster"] if tainted else []
    told = "RESTRICTED devices are free, but only for the namespaces that their cluster allows (spec.allowedNamespaces)"
    lines += [told] if restricted else []
    return "".join(f"{line}\n" for line in lines)


def top(found: Top, whose: Whose, screen: Screen = PIPE) -> str:
    """Return a line for each deployment or namespace and kind of device, with its share of all such devices."""
    if not found.rows:
        return "no ModelDeployment\n"
    is_short = whose is Whose.NAMESPACE
    headings = ("NAMESPACE", *(("DEPLOYMENTS",) if is_short else ("DEPLOYMENT",)), "REPLICAS", "PODS")
    cells = []
    for row in found.rows:
        name = str(row.deployments) if is_short else row.name
        first = (row.namespace, name, f"{row.placed} of {row.wanted}", str(row.pods))
        cost = ", ".join(f"{amount} {currency}" for currency, amount in usage.price(row).items()) or "-"
        for position, (key, count) in enumerate(sorted(row.devices.items()) or [(("", ""), 0)]):
            start = first if position == 0 else ("", "", "", "")
            total = found.totals.get(key)
            share = f"{100 * count / total:.1f}%" if total else "-"
            held = (key[0] or "-", key[1] or "-", str(count), share)
            cells.append((*start, *held, cost if position == 0 else ""))
    lines = table.lines((*headings, "CLASS", "DEVICE", "HELD", "SHARE", "PER HOUR"), cells, screen=screen)
    return "".join(f"{line}\n" for line in lines)
