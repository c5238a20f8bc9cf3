// The served pages: theme, "/" to the box, tables that sort, copying.
startTheme(byId("theme"));
if (byId("q")) startSlash(byId("q"));
const suffix = root.dataset.status === "complete" ? "" : "-incomplete";
for (const table of document.querySelectorAll("table[data-name]")) {
  adopt(table, {
    name: `${table.dataset.name}${suffix}`,
    step: 50,
    says: (all, some) => (some < all ? `Showing the first ${count(some)} of ${count(all)}` : ""),
  });
}
byId("q")?.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") document.querySelector("main .names a, main tbody a")?.focus();
});
for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(button.closest(".command").querySelector("code").textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text and copy it";
  }
});
byId("outcome")?.focus();
const graph = byId("graph-data");
if (graph) {
  byId("graph").replaceChildren();
  drawGraph(byId("graph"), JSON.parse(graph.textContent));
}
const heat = byId("heat-data");
if (heat) {
  const { rows, columns } = JSON.parse(heat.textContent);
  const maps = [...document.querySelectorAll("table.heat")];
  const names = (those) => those.map(({ name }) => name);
  startHeat(maps, byId("heat-choice") ?? make("div"));
  for (const map of maps) {
    openHeat(map, names(rows), names(columns), (y, x) => `${rows[y].href}&${columns[x].query}`);
  }
}
