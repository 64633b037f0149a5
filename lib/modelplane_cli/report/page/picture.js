// The picture: regions, clusters, pools, nodes, and their devices as cells.

const ACROSS = 8;
const MANY_CLUSTERS = 80;
const LAZY_FROM = 60;

/** Return the classes of a run of cells that one replica holds. */
function runClass(scene, key, more) {
  const replica = scene.model.replicas.get(key);
  const names = ["run", scene.colours.classes.get(groupOf(scene.model, key, scene.view.by)) ?? "kx", more];
  if (replica && !replica.serves) names.push("down");
  if (scene.compares && replica && replica.state !== "retained") names.push("fresh");
  if (scene.match && !scene.match.replicas.has(key)) names.push("dim");
  if (scene.view.sel === `replica/${key}`) names.push("chosen");
  if (replica && scene.view.sel === `deployment/${replica.deployment.key}`) names.push("chosen");
  return names.filter(Boolean).join(" ");
}

/** Cells in a row of a node: a button where a replica holds them. */
function Run({ scene, held, kind, cells, more, where }) {
  const style = { "--n": cells };
  return h("button", {
    type: "button", tabIndex: -1, class: runClass(scene, held.replica, more), style, "data-sel": `replica/${held.replica}`,
    "data-tip": `${held.role}, ${plural(held.pods, "pod")}, ${plural(held.devices[kind] ?? 0, kind)}, ${where}`,
    "aria-label": `${held.replica}, ${plural(held.devices[kind] ?? 0, kind)}, ${where}`,
  });
}

/** Return the rows of a node for one kind of device: what is held, then what is left. */
function rowsOf(scene, cluster, pool, kind, holdings, where) {
  const runs = [];
  let left = kind.perNode;
  for (const held of holdings) {
    const wanted = held.devices[kind.name] ?? 0;
    if (!wanted) continue;
    const isPart = kind.shared || held.parts.includes(kind.name);
    runs.push({ held, cells: wanted, more: isPart ? "part" : "" });
    left -= wanted;
  }
  const [first] = holdings;
  const isExact = kind.free === kind.total - kind.used;
  if (left > 0 && cluster.wholeNodes && first) runs.push({ held: first, cells: left, more: "whole" });
  else if (left > 0 && !kind.shared) runs.push({ rest: isExact ? "free" : "unclear", cells: left });
  const rows = [[]];
  let column = 0;
  for (const run of runs) {
    for (let cells = run.cells; cells > 0; ) {
      const taken = Math.min(cells, ACROSS - column);
      rows.at(-1).push({ ...run, cells: taken });
      cells -= taken;
      column = (column + taken) % ACROSS;
      if (!column && (cells > 0 || run !== runs.at(-1))) rows.push([]);
    }
  }
  return rows.map((row, index) => h("div", { key: `${kind.name} ${index}`, class: "cells" }, row.map((run, place) => run.held
    ? h(Run, { key: place, scene, held: run.held, kind: kind.name, cells: run.cells, more: run.more, where })
    : h("i", { key: place, class: run.rest, style: { "--n": run.cells } }))));
}

/** One node with something on it. */
function Node({ scene, cluster, pool, number, holdings }) {
  const beyond = number >= pool.use.nodes;
  const where = `node ${number} of ${cluster.name}/${pool.name}${beyond ? ", which is not there yet" : ""}`;
  return h("div", { class: beyond ? "node beyond" : "node" }, pool.devices.length
    ? drawn(pool).map((kind) => rowsOf(scene, cluster, pool, kind, holdings, where))
    : holdings.map((held, index) => h("div", { key: index, class: "cells" },
      h(Run, { scene, held, kind: Object.keys(held.devices)[0] ?? "device", cells: 1, more: "", where }))));
}

/** What is held where no node is recorded, or by somebody who is not. */
function Elsewhere({ scene, cluster, pool }) {
  const lost = pool.held.filter((held) => held.node === null);
  const unknown = pool.devices.map((kind) => [kind.name, unrecorded(pool, kind, cluster.wholeNodes)]).filter(([, number]) => number);
  return h(Fragment, null,
    lost.length ? h("div", { class: "elsewhere" }, h("span", null, "node not recorded"), lost.map((held, index) =>
      Object.entries(held.devices).map(([kind, number]) => h("div", { key: `${index} ${kind}`, class: "cells" },
        h(Run, { scene, held, kind, cells: Math.min(number, ACROSS), more: "", where: `${cluster.name}/${pool.name}, node not recorded` }),
        number > ACROSS ? h("span", null, `x ${number}`) : null)))) : null,
    unknown.map(([kind, number]) => h("p", { key: kind, class: "note" }, `${plural(number, kind)} held, holder not recorded`)));
}

/** Return the kinds of devices that are drawn: the main one, and others of which something is held. */
const drawn = (pool) => pool.devices.filter((kind) => kind.name === pool.main || kind.used);

function Pool({ scene, cluster, pool }) {
  const { use } = pool;
  const nodes = nodesOf(pool);
  const dim = scene.view.class && use.class !== scene.view.class ? " dim" : "";
  const idle = Math.max(0, use.nodes - use.nodesUsed);
  const figures = drawn(pool).map((kind) => `${count(kind.used)}/${count(kind.total)} ${kind.name}`).join(", ");
  const spare = [
    idle ? `${count(idle)} ${nodes.length ? "idle" : idle === 1 ? "idle node" : "idle nodes"}` : "",
    use.nodesGrowable ? `${count(use.nodesGrowable)} can be added` : "",
  ].filter(Boolean).join(", ");
  return h("div", { class: `pool${dim}` },
    h("p", { class: "pool-name" }, h("b", null, pool.name), h("span", null, pool.declared ? use.class : "not declared any more"),
      h("span", { class: "figure" }, figures || "no devices known")),
    nodes.length ? h("div", { class: "nodes" },
      nodes.map(([number, holdings]) => h(Node, { key: number, scene, cluster, pool, number, holdings })),
      spare ? h("span", { class: "idle" }, spare) : null) : spare ? h("p", { class: "idle alone" }, spare) : null,
    h(Elsewhere, { scene, cluster, pool }));
}

/** One bar of a cluster: what each group holds, and what is left. */
function Bar({ scene, cluster }) {
  const groups = new Map();
  for (const pool of cluster.pools) {
    for (const held of pool.held) {
      const dim = scene.match && !scene.match.replicas.has(held.replica) ? " dim" : "";
      const name = `${scene.colours.classes.get(groupOf(scene.model, held.replica, scene.view.by)) ?? "kx"}${dim}`;
      groups.set(name, (groups.get(name) ?? 0) + takenOf(pool, held));
    }
  }
  const whole = Math.max(cluster.total, sum([...groups.values()]), 1);
  return h("span", { class: "bar", "aria-hidden": "true" }, [...groups].sort((a, b) => byText(a[0], b[0])).map(([name, devices]) =>
    h("i", { key: name, class: name, style: { width: `${(100 * devices) / whole}%` } })));
}

class Cluster extends Component {
  constructor(props) {
    super(props);
    this.state = { near: !props.lazy };
    this.isNear = !props.lazy;
  }
  componentDidMount() {
    this.hide(this.props);
    this.drawn = signature(this.props);
    if (this.props.lazy) nearby.watch(this.element, this);
  }
  componentWillUnmount() { nearby.leave(this.element); }
  /** Draw what was left out, or what has changed, while the cluster was away from the window. */
  catchUp() {
    if (!this.state.near) this.setState({ near: true });
    else if (signature(this.props) !== this.drawn) this.forceUpdate();
  }
  /** A filter hides most clusters, and changes how cells look: a cluster away from the window waits until it is near. */
  shouldComponentUpdate(props, state) {
    const isHidden = this.hide(props);
    if (state.near !== this.state.near || props.cluster !== this.props.cluster || props.zoom !== this.props.zoom) return true;
    return !isHidden && this.isNear && signature(props) !== this.drawn;
  }
  componentDidUpdate() { this.drawn = signature(this.props); }
  hide({ scene, cluster }) {
    const isHidden = Boolean(scene.match && !scene.match.clusters.has(cluster.name));
    if (isHidden !== this.isHidden) this.element.hidden = this.isHidden = isHidden;
    return isHidden;
  }
  render({ scene, cluster, zoom }, { near }) {
    const chosen = scene.view.sel === `cluster/${cluster.name}` ? " chosen" : "";
    const unwell = cluster.causes.length ? " unwell" : "";
    const rows = sum(cluster.pools.map((pool) => 2 + Math.ceil(pool.use.nodesUsed / 3)));
    return h("section", {
      ref: (element) => { this.element = element; },
      class: `cluster ${zoom === "nodes" ? "wide" : "small"}${chosen}${unwell}`, "aria-label": `cluster ${cluster.name}`,
      style: near || zoom === "clusters" ? {} : { minHeight: `${40 + 16 * rows}px` },
    },
      h("h4", null,
        h("button", { type: "button", tabIndex: -1, class: "name", "data-sel": `cluster/${cluster.name}`, "data-tip": clusterTip(cluster) },
          h("span", { class: "clip" }, cluster.name), " ",
          h("span", { class: "figure" }, `${count(cluster.used)}/${count(cluster.total)}`))),
      cluster.causes.length || cluster.taints.length ? h("p", { class: "badges" },
        cluster.causes.slice(0, 1).map((one) => h("span", { key: one.condition, class: "badge bad" }, `${one.condition}: ${one.reason || one.status}`)),
        cluster.taints.slice(0, 2).map((taint) => h("span", { key: taint, class: "badge" }, taint)),
        cluster.taints.length > 2 ? h("span", { class: "badge" }, `+${cluster.taints.length - 2}`) : null) : null,
      h(Bar, { scene, cluster }),
      near && zoom === "nodes" ? cluster.pools.map((pool) => h(Pool, { key: pool.name, scene, cluster, pool })) : null);
  }
}

/** Return what the drawing of a cluster depends on, beside its own data. */
function signature({ scene, cluster, zoom }) {
  const { view, match, colours, model } = scene;
  const keys = [...cluster.keys];
  const matched = match ? keys.filter((key) => match.replicas.has(key)).join() : "all";
  const [kind, id] = [view.sel.slice(0, view.sel.indexOf("/")), view.sel.slice(view.sel.indexOf("/") + 1)];
  const isChosen = {
    cluster: () => cluster.name === id,
    replica: () => cluster.keys.has(id),
    deployment: () => keys.some((key) => model.replicas.get(key)?.deployment.key === id),
  }[kind]?.();
  return [zoom, view.by, view.class, scene.compares, colours.version, matched, isChosen ? view.sel : ""].join("|");
}

function clusterTip(cluster) {
  const pools = cluster.pools.map((pool) => `${pool.name}: ${pool.use.nodesUsed}/${pool.use.nodes} nodes`);
  const more = pools.length > 6 ? `, ${pools.length - 6} more` : "";
  return `${count(cluster.used)} of ${count(cluster.total)} devices held; ${pools.slice(0, 6).join(", ")}${more}`;
}

/** The clusters that draw themselves when they come near the window, and all of them before printing. */
const nearby = {
  known: new Map(),
  observer: null,
  watch(element, cluster) {
    this.observer ??= new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const found = this.known.get(target);
        if (!found) continue;
        found.isNear = isIntersecting;
        if (isIntersecting) found.catchUp();
      }
    }, { rootMargin: "400px" });
    this.known.set(element, cluster);
    this.observer.observe(element);
  },
  leave(element) {
    if (this.known.delete(element)) this.observer.unobserve(element);
  },
  all() {
    for (const cluster of this.known.values()) cluster.catchUp();
  },
};

/** The whole picture, by region. One stop of the Tab key: arrow keys lead from item to item. */
class Picture extends Component {
  componentDidMount() { roving.settle(this.element); }
  componentDidUpdate() { roving.settle(this.element); }
  shouldComponentUpdate(props) { return props.scene !== this.props.scene; }
  render({ scene }) {
    const zoom = zoomOf(scene);
    const regions = new Map();
    for (const cluster of scene.model.clusters.values()) {
      if (!regions.has(cluster.region)) regions.set(cluster.region, []);
      regions.get(cluster.region).push(cluster);
    }
    const lazy = scene.model.clusters.size > LAZY_FROM;
    return h("div", { id: "picture", ref: (element) => { this.element = element; }, role: "group", "aria-label": "Picture of the fleet. Arrow keys move, Enter selects.", class: `zoom-${zoom}` },
      [...regions].sort((a, b) => byText(a[0], b[0])).map(([region, clusters]) => {
        const shown = clusters.filter((one) => !scene.match || scene.match.clusters.has(one.name));
        return h("section", { key: region, class: "region", hidden: !shown.length, "aria-label": region || "no region" },
          h("h3", null, region || "no region", h("span", { class: "figure" },
            `${plural(shown.length, "cluster")}, ${count(sum(shown.map((one) => one.used)))}/${count(sum(shown.map((one) => one.total)))} devices`)),
          h("div", { class: "clusters" }, clusters.map((cluster) => h(Cluster, { key: cluster.name, scene, cluster, zoom, lazy }))));
      }),
      scene.match && !scene.match.clusters.size ? h("p", null, "No cluster matches the filter.") : null,
      scene.model.clusters.size ? null : h("p", null, "There is no cluster."));
  }
}

const zoomOf = (scene) => scene.view.zoom || (scene.model.clusters.size > MANY_CLUSTERS ? "clusters" : "nodes");

/** The item of the picture that Tab stops at; arrow keys move it. */
const roving = {
  item: null,
  settle(root) {
    if (this.item?.isConnected && !this.item.closest("[hidden]")) return;
    this.to(root.querySelector("section:not([hidden]) > .clusters > section:not([hidden]) [data-sel]"), false);
  },
  to(item, focus) {
    if (this.item) this.item.tabIndex = -1;
    this.item = item;
    if (!item) return;
    item.tabIndex = 0;
    if (focus) item.focus();
  },
  key(event, root) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: "next", ArrowUp: "previous", Home: "first", End: "last" }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const all = [...root.querySelectorAll("[data-sel]")].filter((one) => !one.closest("[hidden]"));
    const at = all.indexOf(this.item);
    const isName = (one) => one.classList.contains("name");
    const found = {
      next: () => all.slice(at + 1).find(isName),
      previous: () => all.slice(0, Math.max(0, at)).findLast(isName),
      first: () => all[0],
      last: () => all.at(-1),
    }[step]?.() ?? (typeof step === "number" ? all[at + step] : null);
    if (found) this.to(found, true);
  },
};
