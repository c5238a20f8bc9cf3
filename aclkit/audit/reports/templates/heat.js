// Heat maps: one of several is shown; one stop for the keyboard, arrows inside; a cell opens.
const MOVES = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
};
const startHeat = (maps, choice) => {
  const buttons = maps.map((map) => makeButton(map.dataset.title, "", () => choose(map)));
  const choose = (chosen) => maps.forEach((map, place) => {
    map.hidden = map !== chosen;
    buttons[place].setAttribute("aria-pressed", String(map === chosen));
  });
  choice.append(...buttons);
  if (maps.length) choose(maps[0]);
  papers.push((starts) => {
    if (!starts) return choose(maps[0]);
    for (const map of maps) map.hidden = false;
    return undefined;
  });
};
// `hrefOf(y, x)` is where the cell of a row and column leads.
const openHeat = (table, rowNames, columnNames, hrefOf) => {
  const cells = [...table.tBodies[0].rows].map((row, y) => [...row.cells].slice(1).map((cell, x) => {
    const link = make("a", cell.textContent);
    link.href = hrefOf(y, x);
    link.tabIndex = -1;
    link.setAttribute("aria-label",
      show(`${rowNames[y]}, ${columnNames[x]}: ${cell.dataset.said} allowed`));
    cell.replaceChildren(link);
    return link;
  }));
  cells.forEach((row, y) => row.forEach((link, x) => link.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const next = cells[y + move[0]]?.[x + move[1]];
    if (!next) return;
    link.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  })));
  if (cells[0]?.[0]) cells[0][0].tabIndex = 0;
};
