// The selected object, with ways on to the objects around it.

const list = (items) => (items.length ? h("ul", { class: "picks" }, items.map((item, index) => h("li", { key: index }, item))) : null);
const nameOf = (key) => key.slice(key.indexOf("/") + 1);

function ReplicaDetails({ scene, id }) {
  const replica = scene.model.replicas.get(id);
  if (!replica) {
    return h("p", null, "Its ModelReplica is gone. The cluster counts its pods until they have ended.");
  }
  const { deployment } = replica;
  const places = placesOf(scene.model, replica);
  const change = scene.model.frame.plan.changes.find((one) => one.namespace === replica.namespace && (one.replica === replica.name || one.successor === replica.name));
  return h(Fragment, null,
    h(Facts, { rows: [
      ["deployment", h(Pick, { kind: "deployment", id: deployment.key })],
      ["cluster", h(Pick, { kind: "cluster", id: replica.cluster })],
      ["state", `${replica.serves ? "serves" : "does not serve"}, ${replica.admitted ? "admitted" : "not admitted"}`],
      ["backend", deployment.backend],
      ["note", replica.note],
      ["change", scene.compares && change ? `${change.change}: ${change.why}` : ""],
    ] }),
    h(Table, {
      caption: "Roles", head: ["role", "pool", "pods", "nodes", "devices of a pod"], numeric: [2, 3],
      rows: replica.roles.map((role) => ({ key: role.role, cells: [role.role, role.pool, count(role.pods), count(role.nodes),
        Object.entries(role.devicesPerPod).map(([name, number]) => `${number} ${name}`).join(", ") || "none"] })),
    }),
    places.length ? h("p", null, `The ledger counts it on ${places.join("; ")}.`) : null,
    h(Urls, { services: replica.services }));
}

function placesOf(model, replica) {
  const cluster = model.clusters.get(replica.cluster);
  return (cluster?.pools ?? []).flatMap((pool) => {
    const held = pool.held.filter((one) => one.replica === replica.key);
    const nodes = held.filter((one) => one.node !== null).map((one) => one.node);
    if (!held.length) return [];
    return [`${pool.name}: ${nodes.length === held.length ? `node${nodes.length > 1 ? "s" : ""} ${nodes.join(", ")}` : "nodes not recorded"}`];
  });
}

function Urls({ services }) {
  return services.length ? h(Fragment, null, h("h4", null, "Services"), list(services.map((one) => h(Fragment, null,
    h(Pick, { kind: "service", id: one.key }), " ", h(Url, { route: one.route }))))) : h("p", { class: "note" }, "No service selects it.");
}

function Url({ route }) {
  const url = linkable(route?.url);
  return url ? h("a", { href: url, rel: "noreferrer noopener" }, url) : h("span", null, route?.url || "no URL");
}

function DeploymentDetails({ scene, id }) {
  const one = scene.model.deployments.get(id);
  if (!one) return null;
  return h(Fragment, null,
    h(Facts, { rows: [
      ["replicas", `${count(one.placed)} of ${count(one.wanted)} placed`],
      ["backend", one.backend],
      ["devices", (one.holder?.devices ?? []).map((held) => `${count(held.count)} ${held.device}${held.class ? ` of ${held.class}` : ""}`).join(", ")],
      ["cost per hour", costOf(one.holder)],
      ["labels", ownLabels(one.labels).map(([key, value]) => `${key}=${value}`).join(", ")],
    ] }),
    one.unschedulable || one.blocked.length ? h("div", { class: "waiting" }, h(Waiting, { deployment: one })) : null,
    h("h4", null, "Replicas"),
    list(one.replicas.map((replica) => h(Fragment, null, h(Pick, { kind: "replica", id: qualified(one.namespace, replica.name) }, replica.name),
      ` on ${replica.cluster}${replica.serves ? "" : ", does not serve"}`))) ?? h("p", null, "none"),
    h(Urls, { services: one.services }));
}

const costOf = (holder) => Object.entries(holder?.cost ?? {}).map(([currency, amount]) => money(amount, currency)).join(", ");

function ServiceDetails({ scene, id }) {
  const one = scene.model.services.get(id);
  if (!one) return null;
  return h(Fragment, null,
    h(Facts, { rows: [["URL", h(Url, { route: one.route })], ["state", one.message], ["trouble", one.route?.message ?? ""]] }),
    h(Table, {
      caption: "Groups of endpoints", head: ["selector", "weight", "share", "ready"], numeric: [1, 2, 3],
      rows: (one.route?.groups ?? []).map((group, index) => ({ key: index,
        cells: [group.selector, group.weight ?? "-", percent(group.share, 1), count(group.ready)] })),
    }),
    h(Table, {
      caption: "Endpoints", head: ["endpoint", "cluster", "share", "state"], numeric: [2],
      rows: one.endpoints.map((endpoint, index) => ({ key: index, cells: [
        endpoint.replica ? h(Pick, { kind: "replica", id: qualified(one.namespace, endpoint.replica) }, endpoint.name) : endpoint.name,
        endpoint.cluster ?? "outside the fleet", percent(endpoint.share, 1), endpoint.ready ? "ready" : "not ready"] })),
    }));
}

function ClusterDetails({ scene, id }) {
  const one = scene.model.clusters.get(id);
  if (!one) return null;
  const held = [...heldBy(one)].sort((a, b) => b[1] - a[1] || byText(a[0], b[0]));
  return h(Fragment, null,
    h(Facts, { rows: [
      ["region", one.region],
      ["taints", one.taints.join(", ")],
      ["labels", ownLabels(one.labels).map(([key, value]) => `${key}=${value}`).join(", ")],
      ["counts", one.wholeNodes ? "whole nodes: a pod is charged its node" : ""],
    ] }),
    one.causes.length ? h("ul", { class: "reasons" }, one.causes.map((cause) => h("li", { key: cause.condition },
      h("strong", null, `${cause.condition} is ${cause.status} (${cause.reason})`), cause.message ? `: ${cause.message}` : ""))) : null,
    h(Table, {
      caption: "Pools", head: ["pool", "class", "nodes in use", "devices held", "free", "per hour"], numeric: [2, 3, 4, 5],
      rows: one.pools.map((pool) => ({ key: pool.name, cells: [pool.name, pool.use.class, `${count(pool.use.nodesUsed)}/${count(pool.use.nodes)}`,
        pool.devices.map((kind) => `${count(kind.used)}/${count(kind.total)} ${kind.name}`).join(", "),
        pool.devices.map((kind) => count(kind.free)).join(", "),
        pool.cost ? money(pool.cost.perHour, pool.cost.currency) : "-"] })),
    }),
    h("h4", null, "Replicas"),
    list(held.map(([key, devices]) => h(Fragment, null, h(Pick, { kind: "replica", id: key }), ` ${plural(devices, "device")}`))) ?? h("p", null, "none"));
}

/** Who holds most and what is free, while nothing is selected. */
function Overview({ scene }) {
  const holders = [...scene.held].filter(([key]) => key && (!scene.view.ns || key.startsWith(`${scene.view.ns}/`)));
  holders.sort((a, b) => b[1] - a[1] || byText(a[0], b[0]));
  const classes = new Map();
  for (const cluster of scene.model.clusters.values()) {
    for (const pool of cluster.pools) {
      const row = classes.get(pool.use.class) ?? { free: 0, total: 0, idle: 0 };
      row.free += pool.free;
      row.total += pool.total;
      row.idle += Math.max(0, pool.use.nodes - pool.use.nodesUsed);
      classes.set(pool.use.class, row);
    }
  }
  const free = [...classes].filter(([name]) => name && (!scene.view.class || name === scene.view.class)).sort((a, b) => b[1].free - a[1].free || byText(a[0], b[0]));
  return h(Fragment, null,
    h("p", { class: "note" }, "Select a cluster or a cell to follow it to its replica, deployment, service and URL."),
    h(Table, { caption: "Free devices by class", head: ["class", "free", "of", "idle nodes"], numeric: [1, 2, 3],
      rows: free.slice(0, LISTED).map(([name, row]) => ({ key: name, cells: [name, count(row.free), count(row.total), count(row.idle)] })) }),
    free.length > LISTED ? h("p", { class: "note" }, `and ${count(free.length - LISTED)} more classes`) : null,
    h(Table, { caption: "Largest deployments", head: ["deployment", "devices", "per hour"], numeric: [1, 2],
      rows: holders.slice(0, LISTED).map(([key, devices]) => ({ key, cells: [h(Pick, { kind: "deployment", id: key }), count(devices), costOf(scene.model.deployments.get(key)?.holder) || "-"] })) }));
}

const LISTED = 12;
const SHOWN = { replica: ReplicaDetails, deployment: DeploymentDetails, service: ServiceDetails, cluster: ClusterDetails };

/** The panel of the selected object. */
class Details extends Component {
  shouldComponentUpdate(props) { return props.scene !== this.props.scene; }
  render({ scene, clear }) {
    const at = scene.view.sel.indexOf("/");
    const kind = scene.view.sel.slice(0, at);
    const id = scene.view.sel.slice(at + 1);
    const Shown = SHOWN[kind];
    if (!Shown) return h("aside", { id: "details", class: "empty", "aria-label": "Details" }, h(Overview, { scene }));
    const known = { replica: scene.model.replicas, deployment: scene.model.deployments, service: scene.model.services, cluster: scene.model.clusters }[kind];
    const there = known.has(id) || (kind === "replica" && [...scene.model.clusters.values()].some((one) => one.keys.has(id)));
    return h("aside", { id: "details", "aria-label": "Details" },
      h("p", { class: "kind" }, SHORT[kind]),
      h("h2", { id: "selected", tabIndex: -1 }, id),
      h("button", { type: "button", class: "close", onClick: clear }, "Close"),
      there ? h(Shown, { scene, id }) : h("p", null, "It is not there at this moment."));
  }
}
