// Small pieces that several sections share.

const SHORT = {
  replica: "ModelReplica", deployment: "ModelDeployment", service: "ModelService", cluster: "InferenceCluster",
};

/** A button that selects an object. */
function Pick({ kind, id, children, label }) {
  return h("button", { type: "button", class: "pick", "data-sel": `${kind}/${id}`, "aria-label": label }, children ?? id);
}

/** A selection of one value among several, with a name. */
function Choice({ id, name, value, options, onChange }) {
  return h("label", { for: id }, h("span", null, name),
    h("select", { id, value, onChange: (event) => onChange(event.target.value) },
      options.map(([word, text]) => h("option", { key: word, value: word, selected: word === value }, text))));
}

/** Pairs of a term and its description; pairs without a description are left out. */
function Facts({ rows }) {
  return h("dl", null, rows.filter(([, said]) => said !== null && said !== "" && said !== undefined)
    .map(([term, said]) => h("div", { key: term }, h("dt", null, term), h("dd", null, said))));
}

/** A table with a caption that every reader has. */
function Table({ caption, head, rows, numeric = [] }) {
  const kind = (column) => (numeric.includes(column) ? "number" : null);
  return h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    h("table", null,
      h("caption", null, caption),
      h("thead", null, h("tr", null, head.map((name, column) => h("th", { key: name, scope: "col", class: kind(column) }, name)))),
      h("tbody", null, rows.map((row) => h("tr", { key: row.key }, row.cells.map((cell, column) =>
        h(column ? "td" : "th", { key: column, scope: column ? null : "row", class: kind(column) }, cell)))))));
}

/** Why a deployment waits and what would make it fit. */
function Waiting({ deployment }) {
  const missing = deployment.unschedulable;
  const closest = missing?.closest;
  return h(Fragment, null,
    missing && h("p", null, missing.message),
    missing?.reasons.length ? h("ul", { class: "reasons" }, missing.reasons.map((one, index) => h("li", { key: index },
      h("strong", null, one.reason), ` on ${plural(one.clusters, "cluster")}`,
      one.examples.length ? ` (${one.examples.join(", ")}${one.clusters > one.examples.length ? ", ..." : ""})` : "",
      one.detail ? `: ${one.detail}` : ""))) : null,
    closest && h("p", { class: "fits-if" }, h("strong", null, "It would fit if: "), closest.wouldFitIf),
    closest?.change.length ? h("details", null, h("summary", null, "The change of the documents"),
      h("ul", null, closest.change.map((one, index) => h("li", { key: index }, h("code", null, operation(one)))))) : null,
    closest?.notInDocuments.map((said) => h("p", { key: said }, said)),
    deployment.blocked.map((said) => h("p", { key: said }, said)));
}
