// Numbers and words of the page, the same in every locale, so that two people see the same page.

const { h, render, Component, Fragment } = Preact;

const count = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "0 %");
const money = (amount, currency) => `${count(Number(amount).toFixed(2)).replace(/\.(.*),/, ".$1")} ${currency}`;
const qualified = (namespace, name) => `${namespace}/${name}`;
const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** Return a URL that may become a link; a document could name any scheme. */
function linkable(text) {
  return /^https?:\/\//i.test(text ?? "") ? text : null;
}

/** Return the words of a JSON Patch operation: which field of which object gets which value. */
function operation(one) {
  const { kind, namespace, name } = one.document;
  const value = one.op === "remove" ? "" : `: ${JSON.stringify(one.value)}`;
  return `${kind} ${namespace ? `${namespace}/` : ""}${name}: ${one.op} ${one.path}${value}`;
}
