// Tables: sorted by a column, a page at a time, as CSV, as cards on a phone.
const narrow = matchMedia("(max-width: 40rem)");
const pageOf = (wide) => (narrow.matches ? 4 : wide);

// A cell that a spreadsheet would take for a formula gets an apostrophe in front.
const csvCell = (value) => `"${show(String(value).replace(/(^|;)(?=[ \u00a0]*[=+\-@\t\r])/g, "$1'"))
  .replaceAll('"', '""')}"`;
const csvOf = (columns, rows) => [columns.map(({ title }) => title),
  ...rows.map((row) => columns.map(({ text }) => text(row)))]
  .map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
const save = (text, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

const compare = (one, two) => (typeof one === "number" && typeof two === "number"
  ? one - two
  : String(one).localeCompare(String(two), "en", { numeric: true }));

// Dress a table. A column has `title`, `text(row)` for CSV, and where it sorts otherwise `key(row)`;
// `element(row)` makes or finds a row's <tr>. What comes back narrows the rows and tells of them.
const dress = (table, { rows, columns, element, name, step = 15, says = () => "" }) => {
  const body = table.tBodies[0];
  let order = rows;
  let keep = () => true;
  let shown = pageOf(step);
  let isPaper = false;
  const status = make("p", "", "quiet");
  status.setAttribute("role", "status");
  const kept = () => order.filter(keep);
  const draw = () => {
    const all = kept();
    const some = isPaper ? all : all.slice(0, shown);
    body.replaceChildren(...some.map(element));
    const left = all.length - some.length;
    more.hidden = left === 0;
    more.textContent = `Show ${count(Math.min(left, shown))} more of ${count(left)}`;
    status.textContent = says(all.length, some.length);
  };
  const more = makeButton("", "more", () => {
    const before = body.rows.length;
    shown *= 2;
    draw();
    body.rows[before]?.querySelector("a, button, summary")?.focus();
  });
  const csv = makeButton("CSV of this view", "csv", () => save(csvOf(columns, kept()), `${name}.csv`));
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const { text, key = text } = columns[place];
    const title = head.textContent;
    head.replaceChildren(makeButton(title, "sort", () => {
      const isUp = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "descending" : "ascending");
      const keyed = rows.map((row) => [key(row), row]);
      keyed.sort((one, two) => compare(one[0], two[0]) * (isUp ? -1 : 1));
      order = keyed.map(([, row]) => row);
      draw();
    }));
  });
  const scroll = table.closest(".scroll") ?? table;
  scroll.before(within(make("div", undefined, "tools"), status, csv));
  scroll.after(more);
  papers.push((starts) => {
    isPaper = starts && table.isConnected;
    if (table.isConnected) draw();
  });
  draw();
  return {
    narrowTo: (test) => {
      keep = test;
      draw();
      return kept().length;
    },
  };
};

// A table that the page was sent with: its rows are its own, a cell's `data-value` sorts it.
const adopt = (table, options) => {
  const columns = [...table.tHead.rows[0].cells].map((head, place) => {
    const cell = (row) => row.cells[place];
    return {
      title: head.textContent,
      text: (row) => cell(row).dataset.text ?? cell(row).textContent.trim().replace(/\s+/g, " "),
      key: (row) => {
        const value = cell(row).dataset.value;
        return value === undefined ? cell(row).textContent.trim() : Number(value);
      },
    };
  });
  const rows = [...table.tBodies[0].rows];
  return { rows, ...dress(table, { rows, columns, element: (row) => row, ...options }) };
};

// A table made here: a column's `cell(row)` returns what stands in it, else its text does.
const makeTable = ({ label, rows, columns, ...options }) => {
  const table = make("table", undefined, "cards");
  const heads = columns.map(({ title, isNumber }) => {
    const head = make("th", title, isNumber ? "number" : "");
    head.scope = "col";
    return head;
  });
  table.append(within(make("thead"), within(make("tr"), ...heads)), make("tbody"));
  const element = (row) => within(make("tr"), ...columns.map((column, place) => {
    const cell = make(place ? "td" : "th", undefined, column.isNumber ? "number" : "");
    if (!place) cell.scope = "row";
    cell.dataset.title = column.title;
    cell.append(column.cell ? column.cell(row) : show(String(column.text(row))));
    return cell;
  }));
  const scroll = make("div", undefined, "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", show(label));
  const holder = within(make("div"), within(scroll, table));
  dress(table, { rows, columns, element, ...options });
  return holder;
};
