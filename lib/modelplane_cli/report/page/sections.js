// The parts of the page around the picture: figures, moments, filters, legend, what needs attention, tables.

const ROWS_MAX = 300;

/** The figures of a moment. No filter changes them. */
class Figures extends Component {
  shouldComponentUpdate(props) { return props.scene.model !== this.props.scene.model || props.headroom !== this.props.headroom; }
  render({ scene, headroom }) {
    const { frame } = scene.model;
    const { pools, deployments, summary, cost } = frame.plan;
    const every = [...scene.model.clusters.values()].flatMap((cluster) => cluster.pools);
    const devices = (name) => sum(every.map((pool) => pool[name]));
    const rows = [
      ["clusters", count(scene.model.clusters.size), ""],
      ["nodes in use", count(sum(pools.map((pool) => pool.nodesUsed))), `of ${count(sum(pools.map((pool) => pool.nodes)))}`],
      ["devices held", count(devices("used")), `of ${count(devices("total"))}, ${count(devices("free"))} free`],
      ["replicas placed", count(sum(deployments.map((one) => one.placed))), `of ${count(sum(deployments.map((one) => one.wanted)))}`],
      ["without a place", count(summary.notPlaced), "", summary.notPlaced ? "bad" : ""],
      ...Object.entries(cost).map(([currency, one]) => [`${currency} per hour`, money(one.perHour, "").trim(), `of ${money(one.perHourAllNodes, "").trim()} for all nodes`]),
    ];
    if (headroom) {
      rows.push(["headroom", headroom.anyClusters ? `any ${headroom.anyClusters}` : "none",
        headroom.largest ? `at most ${plural(headroom.largest.clusters.length, "cluster")} together` : "no cluster can be lost"]);
    }
    return h("dl", { class: "figures" }, rows.map(([term, figure, of_, mark]) => h("div", { key: term, class: mark },
      h("dt", null, term), h("dd", null, h("b", null, figure), of_ ? h("span", null, ` ${of_}`) : null))));
  }
}

/** The slider over the moments, with what happens in the one it stands at. */
function Moments({ data, scene, change }) {
  const names = data.frames.map((frame, index) => momentName(data, frame, index));
  const at = scene.at;
  const { frame } = scene.model;
  const { summary } = frame.plan;
  const told = [["created", "created"], ["moved", "moved"], ["rewritten", "restarted"], ["removed", "removed"], ["interrupted", "interrupted"], ["lost", "lost"], ["notPlaced", "without a place"]]
    .filter(([name]) => summary[name]).map(([name, word]) => `${count(summary[name])} ${word}`).join(", ");
  return h("section", { id: "moments", "aria-label": "Moments" },
    h("label", { for: "moment" }, "Moment"),
    h("button", { type: "button", disabled: !at, onClick: () => change({ frame: at - 1 }), "aria-label": "Earlier moment" }, "<"),
    h("input", { id: "moment", type: "range", min: 0, max: names.length - 1, step: 1, value: at, "aria-valuetext": names[at],
      onInput: (event) => change({ frame: Number(event.target.value) }) }),
    h("button", { type: "button", disabled: at === names.length - 1, onClick: () => change({ frame: at + 1 }), "aria-label": "Later moment" }, ">"),
    h("ol", null, names.map((name, index) => h("li", { key: index },
      h("button", { type: "button", "aria-current": index === at ? "step" : null, onClick: () => change({ frame: index }) }, name)))),
    h("p", { role: "status" }, at ? `${names[at]}: ${told || "no replica changes"}; ${frame.fits ? "everything fits" : "not everything fits"}` : names[0]),
    at ? h(Changes, { frame }) : null);
}

function momentName(data, frame, index) {
  if (data.comparison && index < 2) return index ? "after the change" : "before the change";
  return frame.event || "now";
}

function Changes({ frame }) {
  const rows = frame.plan.changes;
  const place = (one) => (one ? `${one.cluster}/${one.pools.join("+")}` : "-");
  return h(Fragment, null,
    rows.length ? h("details", null, h("summary", null, plural(rows.length, "changed replica")),
      h(Table, { caption: "Changes of replicas", head: ["replica", "change", "from", "to", "why"],
        rows: rows.slice(0, ROWS_MAX).map((one, index) => ({ key: index, cells: [
          h(Pick, { kind: "replica", id: qualified(one.namespace, one.successor ?? one.replica) }, qualified(one.namespace, one.replica)),
          `${one.change}${one.interrupted ? ", interrupted" : ""}`, place(one.from), place(one.to), one.why] })) }),
      rows.length > ROWS_MAX ? h("p", null, `and ${count(rows.length - ROWS_MAX)} more`) : null) : null,
    frame.stages.length ? h("details", null, h("summary", null, `in ${plural(frame.stages.length, "stage")}`),
      h("ol", { class: "stages" }, frame.stages.map((stage, index) => h("li", { key: index }, stage.slice(0, ROWS_MAX).join("; "))))) : null);
}

function Filters({ scene, change }) {
  const { model, view, match } = scene;
  model.choices ??= {
    namespaces: [...new Set([...model.deployments.values()].map((one) => one.namespace))].sort(byText),
    classes: [...new Set(model.frame.plan.pools.map((pool) => pool.class))].filter(Boolean).sort(byText),
    labels: labelsOf(model),
  };
  const { namespaces, classes, labels } = model.choices;
  const any = (words) => [["", "all"], ...words.map((word) => [word, word])];
  const known = (words, value) => (!value || words.includes(value) ? words : [...words, value]);
  return h("form", { id: "filters", role: "search", onSubmit: (event) => event.preventDefault() },
    h("label", { for: "q" }, h("span", null, "Find"),
      h("input", { id: "q", type: "search", value: view.q, placeholder: "cluster, replica", autocomplete: "off", onInput: (event) => change({ q: event.target.value }) })),
    h(Choice, { id: "ns", name: "Namespace", value: view.ns, options: any(known(namespaces, view.ns)), onChange: (ns) => change({ ns }) }),
    h(Choice, { id: "class", name: "Class", value: view.class, options: any(known(classes, view.class)), onChange: (value) => change({ class: value }) }),
    h(Choice, { id: "label", name: "Label", value: view.label, options: any(known(labels, view.label)), onChange: (label) => change({ label }) }),
    h(Choice, { id: "by", name: "Colour by", value: view.by, options: BY.map((word) => [word, word]), onChange: (by) => change({ by }) }),
    h(Choice, { id: "zoom", name: "Show", value: zoomOf(scene), options: ZOOMS.map((word) => [word, word]), onChange: (zoom) => change({ zoom }) }),
    h(Choice, { id: "theme", name: "Theme", value: view.theme, options: [["", "as the system"], ...THEMES.map((word) => [word, word])], onChange: (theme) => change({ theme }) }),
    match ? h("button", { type: "button", onClick: () => change({ ns: "", class: "", label: "", q: "" }) }, "Clear filters") : null,
    h("p", { role: "status", class: "note" }, match
      ? `${count(match.clusters.size)} of ${plural(model.clusters.size, "cluster")} and ${plural(match.replicas.size, "replica")} match` : ""));
}

function Legend({ scene, change }) {
  const { colours, view, model } = scene;
  const held = heldByGroup(model, view.by);
  const named = colours.ranked.slice(0, COLOURS);
  const others = colours.ranked.slice(COLOURS);
  const pressed = (group) => (view.by === "namespace" ? view.ns === group : view.sel === `deployment/${group}`);
  const press = (group) => change(view.by === "namespace" ? { ns: pressed(group) ? "" : group } : { sel: pressed(group) ? "" : `deployment/${group}` });
  const text = (group) => `${group || "deployment gone"} ${count(held.get(group) ?? 0)}`;
  return h("section", { id: "legend", "aria-label": "Legend" },
    h("ul", null,
      named.map((group) => h("li", { key: group }, view.by === "state"
        ? h("span", { class: "key" }, h("i", { class: `swatch ${colours.classes.get(group)}` }), text(group))
        : h("button", { type: "button", "aria-pressed": String(pressed(group)), onClick: () => press(group) },
          h("i", { class: `swatch ${colours.classes.get(group)}` }), h("span", { class: "clip" }, text(group))))),
      others.length ? h("li", { key: "//others" }, h("span", { class: "key" }, h("i", { class: "swatch kx" }), `${count(others.length)} others ${count(sum(others.map((group) => held.get(group) ?? 0)))}`)) : null),
    zoomOf(scene) === "nodes" ? h("ul", { class: "keys" },
      [["free", "free"], ["unclear", "not held; the ledger counts fewer free in the pool"], ["run k0 down", "does not serve"], ["run k0 whole", "taken with the whole node"], ["run k0 part", "parts of devices"],
        ...(scene.compares ? [["run k0 fresh", "new or moved"]] : [])].filter(([name]) => scene.marks.has(name)).map(([name, words]) =>
        h("li", { key: name, class: "key" }, h("i", { class: `${name} sample`, style: { "--n": 2 } }), words)),
      h("li", { class: "key" }, "a box is a node, a cell a device")) : h("p", { class: "note" }, "a bar is the devices of a cluster"));
}

/** Return the marks that occur in the picture, so that the legend explains no others. */
function marksOf(model) {
  const marks = new Set(["run k0 fresh"]);
  for (const replica of model.replicas.values()) if (!replica.serves) marks.add("run k0 down");
  for (const cluster of model.clusters.values()) {
    if (cluster.wholeNodes && cluster.keys.size) marks.add("run k0 whole");
    for (const pool of cluster.pools) {
      for (const kind of pool.devices) {
        if (kind.free === kind.total - kind.used) marks.add("free");
        else if (!cluster.wholeNodes && pool.held.length) marks.add("unclear");
      }
      if (pool.shared.length || pool.held.some((held) => held.parts.length)) marks.add("run k0 part");
    }
  }
  return marks;
}

/** What waits for a place and why, then what else is not as wanted. */
class Attention extends Component {
  shouldComponentUpdate(props) { return props.scene.model !== this.props.scene.model || props.scene.view.ns !== this.props.scene.view.ns; }
  render({ scene }) {
    const ns = scene.view.ns;
    const waiting = [...scene.model.deployments.values()].filter((one) => (one.unschedulable || one.blocked.length) && (!ns || one.namespace === ns));
    const told = scene.model.frame.complaints.filter((one) => !(one.kind === "ModelDeployment" && scene.model.deployments.get(qualified(one.namespace, one.name))?.unschedulable) && (!ns || !one.namespace || one.namespace === ns));
    if (!waiting.length && !told.length) return h("p", { id: "attention", class: "well" }, "Everything is placed and as wanted.");
    return h("section", { id: "attention", "aria-label": "What needs attention" },
      waiting.length ? h("h2", null, `Waiting for a place: ${plural(waiting.length, "deployment")}`) : null,
      waiting.slice(0, ROWS_MAX).map((one) => h("details", { key: one.key, class: "waiting", open: waiting.length === 1 },
        h("summary", null, h("b", null, one.key), ` ${missingOf(one)} `, h("span", null, firstWords(one))),
        h(Waiting, { deployment: one }), h(Pick, { kind: "deployment", id: one.key }, "Show this deployment"))),
      waiting.length > ROWS_MAX ? h("p", null, `and ${count(waiting.length - ROWS_MAX)} more`) : null,
      told.length ? h("details", null, h("summary", null, `${plural(told.length, "object")} not as wanted`), h(Table, {
        caption: "Objects that are not as wanted, worst first", head: ["object", "severity", "reason", "message", "explained by"],
        rows: told.slice(0, ROWS_MAX).map((one) => ({ key: `${one.kind} ${one.namespace} ${one.name}`, cells: [
          `${one.kind} ${one.namespace ? `${one.namespace}/` : ""}${one.name}`, one.severity, one.reason, one.message, one.follows ?? ""] })) }),
        told.length > ROWS_MAX ? h("p", null, `and ${count(told.length - ROWS_MAX)} more`) : null) : null);
  }
}

const missingOf = (one) => {
  const missing = (one.unschedulable?.count ?? 0) + one.blocked.length;
  return missing ? `${count(missing)} of ${plural(one.wanted, "replica")} without a place` : "refused";
};

/** Return the shortest answer to "and now?": the change that helps, or else the first reason. */
function firstWords(one) {
  if (one.unschedulable?.closest) return `- fits if ${one.unschedulable.closest.wouldFitIf}`;
  const [reason] = one.unschedulable?.reasons ?? [];
  return reason ? `- ${reason.reason} on ${plural(reason.clusters, "cluster")}` : "";
}

/** The same in tables, made when they are opened. */
class Tables extends Component {
  render({ scene }, { open = {} }) {
    const { model, match } = scene;
    const toggle = (name) => (event) => this.setState({ open: { ...this.state.open, [name]: event.target.open } });
    const deployments = [...model.deployments.values()].filter((one) => !match || one.keys.some((key) => match.replicas.has(key)));
    const devices = (one) => scene.held.get(one.key) ?? 0;
    if (open.deployments) deployments.sort((a, b) => devices(b) - devices(a) || byText(a.key, b.key));
    const services = [...model.services.values()].filter((one) => !scene.view.ns || one.namespace === scene.view.ns);
    return h("section", { id: "tables", "aria-label": "Tables" },
      h("details", { onToggle: toggle("deployments") }, h("summary", null, plural(deployments.length, "deployment")),
        open.deployments ? h(Table, { caption: "Deployments by devices", numeric: [1, 2, 3], head: ["deployment", "placed", "devices", "per hour", "services"],
          rows: deployments.map((one) => ({ key: one.key, cells: [h(Pick, { kind: "deployment", id: one.key }), `${count(one.placed)}/${count(one.wanted)}`,
            count(devices(one)), costOf(one.holder) || "-", one.services.map((service) => h(Pick, { key: service.key, kind: "service", id: service.key }, service.name))] })) }) : null),
      h("details", { onToggle: toggle("services") }, h("summary", null, plural(services.length, "service")),
        open.services ? h(Table, { caption: "Services", numeric: [2], head: ["service", "URL", "ready endpoints", "state"],
          rows: services.map((one) => ({ key: one.key, cells: [h(Pick, { kind: "service", id: one.key }), h(Url, { route: one.route }),
            `${count(one.endpoints.filter((end) => end.ready).length)}/${count(one.endpoints.length)}`, one.message] })) }) : null));
  }
}
