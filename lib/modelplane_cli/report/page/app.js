// The page: it reads its data, keeps the view in the URL, and draws.

class App extends Component {
  constructor(props) {
    super(props);
    this.state = { view: viewOf(location.hash), data: props.data };
    this.models = new Map();
    this.scene = null;
  }
  componentDidMount() {
    addEventListener("hashchange", () => this.setState({ view: viewOf(location.hash) }));
    addEventListener("popstate", () => this.setState({ view: viewOf(location.hash) }));
    addEventListener("beforeprint", () => { nearby.all(); this.printed(); });
    document.addEventListener("click", (event) => this.clicked(event));
    document.addEventListener("keydown", (event) => this.pressed(event));
    for (const name of ["mouseover", "focusin"]) document.addEventListener(name, (event) => tip.show(event.target));
    for (const name of ["mouseout", "focusout", "scroll"]) document.addEventListener(name, () => tip.hide(), true);
    if ("live" in document.body.dataset) follow((data) => { this.models.clear(); this.setState({ data }); }, (stale) => this.setState({ stale }));
    performance.mark("drawn");
  }
  printed() {
    // What waits for its turn to be drawn is drawn before the browser takes the picture.
    Preact.options.debounceRendering = (draw) => draw();
    this.forceUpdate();
    Preact.options.debounceRendering = undefined;
  }
  change(patch, isStep = false) {
    const view = { ...this.state.view, ...patch };
    const at = fragmentOf(view);
    if (at !== location.hash) history[isStep ? "pushState" : "replaceState"](null, "", at === "#" ? location.pathname + location.search : at);
    this.setState({ view });
  }
  clicked(event) {
    const item = event.target.closest?.("[data-sel]");
    if (!item) return;
    const isKeyboard = event.detail === 0;
    if (item.closest("#picture")) roving.to(item, false);
    const sel = item.dataset.sel;
    this.change({ sel: sel === this.state.view.sel && item.closest("#picture") ? "" : sel }, true);
    if (isKeyboard) requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById("selected")?.focus()));
  }
  pressed(event) {
    const picture = document.getElementById("picture");
    if (event.key === "Escape") {
      if (tip.hide()) return;
      if (this.state.view.sel) this.clear();
    } else if (picture?.contains(event.target)) {
      roving.key(event, picture);
    }
  }
  clear() {
    this.change({ sel: "" }, true);
    roving.item?.focus();
  }
  model(index) {
    if (!this.models.has(index)) this.models.set(index, modelOf(this.state.data.frames[index]));
    return this.models.get(index);
  }
  sceneOf(view, data) {
    const at = Math.min(view.frame, data.frames.length - 1);
    const key = JSON.stringify({ ...view, theme: "" });
    if (this.scene?.key === key && this.scene.data === data) return this.scene;
    const model = this.model(at);
    const marks = (model.marks ??= marksOf(model));
    const colours = this.coloursOf(view.by, data);
    this.scene = { key, data, at, view, model, colours, marks, held: (model.held ??= heldByDeployment(model)), match: matching(model, view), compares: at > 0 };
    return this.scene;
  }
  coloursOf(by, data) {
    if (this.colours?.by !== by || this.colours.data !== data) {
      this.colours = { by, data, version: (this.colours?.version ?? 0) + 1, ...coloursOf(data.frames.map((_, index) => this.model(index)), by) };
    }
    return this.colours;
  }
  render(_, { view, data, stale }) {
    if (document.documentElement.dataset.theme !== view.theme) document.documentElement.dataset.theme = view.theme;
    const scene = this.sceneOf(view, data);
    const change = (patch) => this.change(patch);
    return h(Fragment, null,
      h("a", { class: "skip", href: "#picture", onClick: (event) => { event.preventDefault(); roving.item?.focus(); } }, "Skip to the picture"),
      h("header", null, h("h1", null, data.title), h("p", { class: "note" }, data.rehearsed
        ? "What the documents lead to: the functions were run until nothing changed." : "As the control plane's objects say it."),
      stale ? h("p", { role: "alert", class: "badge bad" }, stale) : null,
      h(Figures, { scene, headroom: data.headroom })),
      data.frames.length > 1 ? h(Moments, { data, scene, change }) : null,
      h("main", null,
        h(Attention, { scene }),
        h("h2", { class: "apart" }, "Fleet"),
        h(Filters, { scene, change }),
        h(Legend, { scene, change }),
        h("div", { class: "columns" }, h(Picture, { scene }), h(Details, { scene, clear: () => this.clear() })),
        h(Tables, { scene })));
  }
}

/** The words beside the pointer or the focus. They repeat what the details say. */
const tip = {
  box: null,
  show(target) {
    const item = target.closest?.("[data-tip]");
    if (!item) return;
    this.box ??= document.body.appendChild(Object.assign(document.createElement("div"), { id: "tip", hidden: true, ariaHidden: "true" }));
    const title = document.createElement("b");
    title.textContent = item.dataset.sel.slice(item.dataset.sel.indexOf("/") + 1);
    this.box.replaceChildren(title, ` ${item.dataset.tip}`);
    this.box.hidden = false;
    const spot = item.getBoundingClientRect();
    const own = this.box.getBoundingClientRect();
    const below = spot.bottom + 6 + own.height < innerHeight;
    this.box.style.left = `${Math.max(4, Math.min(spot.left, innerWidth - own.width - 8))}px`;
    this.box.style.top = `${below ? spot.bottom + 6 : Math.max(4, spot.top - own.height - 6)}px`;
  },
  hide() {
    const was = Boolean(this.box && !this.box.hidden);
    if (this.box) this.box.hidden = true;
    return was;
  },
};

/** Follow the server: it says when there is something new, and the page asks for it. */
function follow(take, complain) {
  const source = new EventSource("events");
  let known = null;
  source.addEventListener("version", async (event) => {
    complain("");
    if (known === null) { known = event.data; if (known === document.body.dataset.live) return; }
    known = event.data;
    const answer = await fetch("report.json", { cache: "no-store" });
    if (answer.ok) take(await answer.json());
  });
  source.addEventListener("trouble", (event) => complain(event.data));
  source.addEventListener("error", () => complain("The server does not answer; this is the last that was read."));
}

document.getElementById("page").replaceChildren();
render(h(App, { data: JSON.parse(document.getElementById("data").textContent) }), document.getElementById("page"));
