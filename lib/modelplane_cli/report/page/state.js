// The view: filters, selection, moment. It lives in the fragment of the URL, so that a link shows what its author saw.

const FRESH = { frame: 0, ns: "", class: "", label: "", q: "", sel: "", by: "namespace", zoom: "", theme: "" };
const BY = ["namespace", "deployment", "state"];
const ZOOMS = ["nodes", "clusters"];
const THEMES = ["light", "dark"];
const COLOURS = 10;

/** Return the view that a fragment describes. What it does not say, or says wrongly, is as at the beginning. */
function viewOf(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const view = { ...FRESH };
  for (const name of Object.keys(FRESH)) if (given.has(name)) view[name] = given.get(name);
  view.frame = /^\d{1,6}$/.test(view.frame) ? Number(view.frame) : 0;
  if (!BY.includes(view.by)) view.by = FRESH.by;
  if (!ZOOMS.includes(view.zoom)) view.zoom = "";
  if (!THEMES.includes(view.theme)) view.theme = "";
  return view;
}

/** Return the fragment that describes a view. */
function fragmentOf(view) {
  const said = Object.entries(view).filter(([name, value]) => value !== FRESH[name]);
  return `#${new URLSearchParams(said)}`;
}

/** Return the group of a replica whose colour it has. */
function groupOf(model, key, by) {
  if (by === "namespace") return key.slice(0, key.indexOf("/"));
  const replica = model.replicas.get(key);
  if (by === "deployment") return replica ? replica.deployment.key : "";
  return replica ? (replica.serves ? "serves" : "does not serve") : "ending";
}

/** Return the devices that each group holds. They are counted once, and no filter changes them. */
function heldByGroup(model, by) {
  model.groups ??= new Map();
  if (!model.groups.has(by)) {
    const held = new Map();
    for (const cluster of model.clusters.values()) {
      for (const [key, devices] of heldBy(cluster)) {
        const group = groupOf(model, key, by);
        held.set(group, (held.get(group) ?? 0) + devices);
      }
    }
    model.groups.set(by, held);
  }
  return model.groups.get(by);
}

/** Return the colours: groups by the devices they hold at the first moment, so that none changes while one looks on. */
function coloursOf(models, by) {
  if (by === "state") {
    return { classes: new Map([["serves", "k2"], ["does not serve", "k1"], ["ending", "kx"]]), ranked: ["serves", "does not serve"] };
  }
  const held = new Map();
  for (const [index, model] of models.entries()) {
    for (const [group, devices] of heldByGroup(model, by)) held.set(group, (held.get(group) ?? 0) + (index ? 0 : devices));
  }
  const ranked = [...held].sort((a, b) => b[1] - a[1] || byText(a[0], b[0])).map(([group]) => group);
  return { classes: new Map(ranked.map((group, index) => [group, index < COLOURS ? `k${index}` : "kx"])), ranked };
}
