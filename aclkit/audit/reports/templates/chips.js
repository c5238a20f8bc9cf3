// Operations as chips: what they are for by colour and order, and from where in words.
const USES = ["administer", "write", "read"];
const WEIGHT = { administer: 100, write: 10, read: 1 };

// A chip is {operation, use, isAllowed, where, note, state}: `where` is "" for every host. One that
// is not ALLOWED says so, unless it stands where that is said (`isPlain`).
const chipText = ({ operation, isAllowed, where, note }) =>
  `${isAllowed ? "" : "no "}${operation}${where ? ` ${where}` : ""}${note ? ` ${note}` : ""}`;
const byWeight = (one, two) =>
  Number(two.isAllowed) - Number(one.isAllowed) || USES.indexOf(one.use) - USES.indexOf(two.use) ||
  one.operation.localeCompare(two.operation);
const weightOf = (chips) => chips.reduce((sum, { use, isAllowed }) =>
  sum + (isAllowed ? WEIGHT[use] : WEIGHT[use] / 1000), 0);
const makeChip = (chip) => {
  const face = chip.state ? makeLink("", chip.state) : make("span");
  face.className = `chip ${chip.isAllowed ? chip.use : "denied"}`;
  face.append(`${chip.isAllowed || chip.isPlain ? "" : "no "}${chip.operation}`);
  if (chip.note) face.append(" ", make("span", chip.note, "where"));
  return within(make("li"), face);
};
// Chips in lists: one for those from every host, and one for each other place, which it names.
const makeChips = (chips) => {
  const groups = new Map();
  for (const chip of [...chips].sort(byWeight)) {
    const where = chip.where ?? "";
    groups.set(where, [...(groups.get(where) ?? []), chip]);
  }
  return within(make("div", undefined, "places"), ...[...groups].map(([where, group]) => {
    const list = within(make("ul", undefined, "chips"), ...group.map(makeChip));
    if (where) list.prepend(within(make("li"), make("span", `${where}:`, "where")));
    return list;
  }));
};
