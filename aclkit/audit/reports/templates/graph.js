// A graph in three columns: who, through which ACLs, to what. Lines are as grave as what they allow.
const SVG = "http://www.w3.org/2000/svg";
const ROW = 30;
const WIDE = [250, 380, 250];
const LEFT = [0, 330, 790];
const LETTERS = [34, 50, 34];
const drawn = (tag, values, className) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  if (className) element.setAttribute("class", className);
  return element;
};
const titled = (element, text) => {
  const title = drawn("title", {});
  title.textContent = show(text);
  element.prepend(title);
  return element;
};
const cut = (text, most) => (text.length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);

// `columns` are three lists of {text, state}; an edge is {from, to, column, kind, says}: from a node
// of `columns[column]` to one of the next, by place.
const makeGraph = ({ label, columns, edges }) => {
  const tall = Math.max(...columns.map((nodes) => nodes.length)) * ROW;
  const middle = (column, place) =>
    (tall - columns[column].length * ROW) / 2 + (place + 0.5) * ROW;
  const width = LEFT[2] + WIDE[2];
  const svg = drawn("svg", {
    viewBox: `0 0 ${width} ${tall}`, width, height: tall, role: "group", "aria-label": show(label),
  }, "graph");
  for (const { column, from, to, kind, says } of edges) {
    const [x, y] = [LEFT[column] + WIDE[column], middle(column, from)];
    const [u, v] = [LEFT[column + 1], middle(column + 1, to)];
    const bend = (u - x) / 2;
    const path = drawn("path", { d: `M${x} ${y}C${x + bend} ${y} ${u - bend} ${v} ${u} ${v}` }, kind);
    svg.append(titled(path, says));
  }
  columns.forEach((nodes, column) => nodes.forEach(({ text, state }, place) => {
    const node = drawn("a", { href: hashOf(state) });
    const y = middle(column, place);
    const box = { x: LEFT[column], y: y - 12, width: WIDE[column], height: 24, rx: 5 };
    const words = drawn("text", { x: 8, y: 16.5 });
    words.textContent = cut(show(text), LETTERS[column]);
    // A picture in the picture: it cuts off letters that are wider than others.
    const { rx: _, ...inside } = box;
    node.append(drawn("rect", box), within(drawn("svg", inside), words));
    svg.append(titled(node, text));
  }));
  return svg;
};
