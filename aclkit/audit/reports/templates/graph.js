// A graph in three columns: who, through which ACLs, to what. Lines are as grave as what they allow.
const SVG = "http://www.w3.org/2000/svg";
const ROW = 30;
const WIDE = [250, 490, 250];
const LEFT = [0, 300, 840];
const LETTERS = [34, 66, 34];
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

// `columns` are three lists of {text, href}; an edge is {from, to, column, kind, says}: from a node
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
  columns.forEach((nodes, column) => nodes.forEach(({ text, href }, place) => {
    const node = drawn("a", { href });
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

// As much of the paths as a person can look at. A path is {who, through, what, operation, use,
// isAllowed}, where each of three is {key, text, href}.
const MOST_NODES = [12, 20, 14];
const drawGraph = (holder, { label, paths }) => {
  const columns = [new Map(), new Map(), new Map()];
  const left = [new Set(), new Set(), new Set()];
  const edges = new Map();
  const place = (column, node) => {
    const nodes = columns[column];
    if (nodes.has(node.key)) return nodes.get(node.key).place;
    if (nodes.size >= MOST_NODES[column]) {
      left[column].add(node.key);
      return -1;
    }
    nodes.set(node.key, { ...node, place: nodes.size });
    return nodes.size - 1;
  };
  const join = (column, from, to, { operation, use, isAllowed }) => {
    const key = `${column} ${from} ${to}`;
    const kind = isAllowed ? use : "denied";
    const edge = edges.get(key) ?? { column, from, to, kind, operations: new Set() };
    const order = [...USES, "denied"];
    if (order.indexOf(kind) < order.indexOf(edge.kind)) edge.kind = kind;
    edge.operations.add(`${isAllowed ? "" : "no "}${operation}`);
    edges.set(key, { ...edge, says: [...edge.operations].join(", ") });
  };
  for (const { who, through, what, ...line } of paths) {
    const [from, to, middle] = [place(0, who), place(2, what), place(1, through)];
    if (from < 0 || middle < 0 || to < 0) continue;
    join(0, from, middle, line);
    join(1, middle, to, line);
  }
  const missing = ["principal", "ACL", "resource"].flatMap((word, column) =>
    (left[column].size ? [counted(left[column].size, `more ${word}`)] : []));
  const svg = makeGraph({
    label, columns: columns.map((nodes) => [...nodes.values()]), edges: [...edges.values()],
  });
  const scroll = within(make("div", undefined, "scroll"), svg);
  holder.append(scroll, make("p", `The colour of a line shows its most powerful operation. A dashed line denies.${
    missing.length ? ` Left out: ${missing.join(", ")}.` : ""}`, "quiet"));
};
