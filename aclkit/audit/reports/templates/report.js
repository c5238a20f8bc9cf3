// The report of a run: its tables, its findings, its heat maps, and the answers above them.
startTheme(byId("theme"));
const isWholeRun = root.dataset.status === "complete";
const fileName = (name) => `${name}${isWholeRun ? "" : "-incomplete"}`;

const startFindings = () => {
  const form = byId("finding-form");
  const table = byId("finding-table");
  if (!form) return { count: () => 0, show: () => {} };
  const input = byId("finding-words");
  const boxes = [...form.querySelectorAll("input[type=checkbox]")];
  const kinds = [...document.querySelectorAll("#kinds button")];
  let kind = null;
  const left = Number(table.dataset.total) - table.tBodies[0].rows.length;
  const { rows, narrowTo } = adopt(table, {
    name: fileName("findings"),
    says: (all, some) => `${counted(all, "finding")}${some < all ? `. Showing the first ${count(some)}` : ""}${
      left ? `. ${count(left)} more are not on this page` : ""}`,
  });
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const filter = () => {
    const words = wordsOf(input.value);
    const unchecked = (name) => new Set(
      boxes.filter((box) => box.name === name && !box.checked).map((box) => box.value));
    const [severities, states] = [unchecked("severity"), unchecked("state")];
    narrowTo((row) => !severities.has(row.dataset.severity) && !states.has(row.dataset.state) &&
      (kind === null || row.dataset.kind === kind) &&
      words.every((word) => textOf(row).includes(word)));
  };
  for (const button of kinds) button.addEventListener("click", () => {
    kind = kind === button.dataset.kind ? null : button.dataset.kind;
    for (const other of kinds) other.setAttribute("aria-pressed", String(other.dataset.kind === kind));
    filter();
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  return {
    count: (name) => rows.filter((row) => textOf(row).includes(show(name).toLowerCase())).length,
    show: (name) => {
      input.value = name;
      filter();
      byId("findings").scrollIntoView();
      input.focus({ preventScroll: true });
    },
  };
};
const mentions = startFindings();
for (const table of document.querySelectorAll("table[data-name]")) {
  adopt(table, {
    name: fileName(table.dataset.name),
    step: Number(table.dataset.step ?? 15),
    says: (all, some) => (some < all ? `Showing the first ${count(some)} of ${count(all)}` : ""),
  });
}
startHeat([...document.querySelectorAll("table.heat")], byId("heat-choice") ?? make("div"));

const D = JSON.parse(byId("data").textContent);
if (D) {
  startAnswers(readDecisions(D), { mentions });
  for (const table of document.querySelectorAll("table.heat")) {
    openHeat(table, D.heatPrincipals, D.heatPrefixes, (y, x) => hashOf({
      principal: D.heatPrincipals[y], prefix: D.heatPrefixes[x], operation: table.dataset.use,
    }));
  }
}
