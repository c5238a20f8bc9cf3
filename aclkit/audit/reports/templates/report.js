"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  root.classList.add("scripted");

  // Names are other people's: they are only ever set as text, and what cannot be seen is shown.
  const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
  const show = (text) => text.replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = show(text);
    if (className) element.className = className;
    return element;
  };
  const count = (number) => number.toLocaleString("en");

  // -- light and dark ---------------------------------------------------------------------------
  const theme = byId("theme");
  const remembered = () => {
    try { return localStorage.getItem("aclkit-theme"); } catch { return null; }
  };
  const remember = (name) => {
    try { localStorage.setItem("aclkit-theme", name); } catch { /* a file may have no store */ }
  };
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const tellTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    tellTheme();
  });
  prefersDark.addEventListener("change", tellTheme);
  tellTheme();

  // -- paper: what is folded is unfolded --------------------------------------------------------
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });

  // -- findings ---------------------------------------------------------------------------------
  const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  const findingForm = byId("finding-form");
  if (findingForm) {
    const input = byId("finding-words");
    const boxes = [...findingForm.querySelectorAll("input[type=checkbox]")];
    const rows = [...document.querySelectorAll("ul.findings > li")].map((item) => ({
      item,
      kind: item.closest("details"),
      text: `${item.closest("details").querySelector("summary").textContent} ${item.textContent}`.toLowerCase(),
    }));
    const groups = [...document.querySelectorAll(".severity")];
    const filter = () => {
      const words = wordsOf(input.value);
      const left = (name) => new Set(
        boxes.filter((box) => box.name === name && !box.checked).map((box) => box.value));
      const severities = left("severity");
      const states = left("state");
      const kinds = new Map();
      let found = 0;
      for (const { item, kind, text } of rows) {
        const isShown = !severities.has(item.dataset.severity) && !states.has(item.dataset.state)
          && words.every((word) => text.includes(word));
        item.hidden = !isShown;
        found += isShown;
        kinds.set(kind, kinds.get(kind) || isShown);
      }
      for (const [kind, isShown] of kinds) {
        kind.hidden = !isShown;
        if (words.length && isShown) kind.open = true;
      }
      for (const group of groups) group.hidden = !group.querySelector("details:not([hidden])");
      byId("finding-count").textContent = `${count(found)} findings`;
    };
    findingForm.addEventListener("input", filter);
    findingForm.addEventListener("submit", (event) => event.preventDefault());
  }

  // -- who can ----------------------------------------------------------------------------------
  const D = JSON.parse(byId("data").textContent);
  if (!D) return;
  const P = D.principals.length;
  const R = D.resources.length;
  const T = D.types.length;
  const resourceText = D.resources.map(([type, name]) =>
    D.types[type] === "cluster" ? "cluster" : `${D.types[type]}:${name}`);
  const principalLow = D.principals.map(([name]) => name.toLowerCase());
  const resourceLow = resourceText.map((text) => text.toLowerCase());
  const rulesetOf = new Int32Array(P * R);
  for (let p = 0; p < P; p++) {
    const [, kind, isSuper] = D.principals[p];
    if (isSuper) rulesetOf.fill(D.super, p * R, (p + 1) * R);
    else rulesetOf.set(D.classes[kind], p * R);
  }
  for (let at = 0; at < D.pairs.length; at += 3) {
    const p = D.pairs[at];
    if (!D.principals[p][2]) rulesetOf[p * R + D.pairs[at + 1]] = D.pairs[at + 2];
  }
  // As the heat map groups topics: up to the first separator behind a letter; "" where there is none.
  const prefixes = D.resources.map(([type, name]) =>
    D.types[type] === "topic" ? name.match(/^[._-]*[^._-]+[._-]?/u)?.[0] ?? "" : null);
  const aclPlace = new Map(D.acls.map((acl, place) => [acl[0], place]));

  const STEP = 200;
  const RULES = {
    SuperUser: "The principal is a super user: it may do everything.",
    MatchingAcl: "An ACL that matches the request decides.",
    DefaultAllow: "No ACL of anybody reaches the resource, and allow.everyone.if.no.acl.found is true.",
    DefaultDeny: "No ACL allows it.",
  };
  const form = byId("who-form");
  const words = byId("who-words");
  const operation = byId("who-operation");
  const host = byId("who-host");
  const decision = byId("who-decision");
  const body = byId("who-rows");
  const more = byId("who-more");
  const choose = (select, names, first) => names.forEach((name, place) => {
    const option = make("option", name);
    option.value = String(place + first);
    select.append(option);
  });
  choose(operation, D.operations, 0);
  choose(host, D.hosts, 1);

  // The lines of a ruleset for a resource type, as who-can prints them: hosts that fare alike are
  // one line. They depend on the filters and not on the words, so each is made once.
  let lines = new Map();
  const only = { principal: null, prefix: null, acl: null };
  let limit = STEP;
  const linesOf = (ruleset, type) => {
    const key = ruleset * T + type;
    let found = lines.get(key);
    if (found === undefined) lines.set(key, (found = makeLines(ruleset, type)));
    return found;
  };
  const makeLines = (ruleset, type) => {
    if (ruleset < 0) return [];
    const flat = D.rulings[ruleset];
    const byOperation = new Map();
    for (let at = 0; at < flat.length; at += 4) {
      if (!byOperation.has(flat[at])) byOperation.set(flat[at], new Map());
      byOperation.get(flat[at]).set(flat[at + 1], [flat[at + 2], flat[at + 3]]);
    }
    const made = [];
    for (const op of D.known[type]) {
      if (operation.value !== "" && Number(operation.value) !== op) continue;
      const hosts = byOperation.get(op);
      if (hosts === undefined || !hosts.has(0)) continue;
      for (const [where, [acl, code]] of wheres(hosts)) {
        if (decision.value !== "" && Number(decision.value) !== (code & 1)) continue;
        if (only.acl !== null && acl - 1 !== only.acl) continue;
        made.push({ op, where, acl: acl - 1, isAllowed: Boolean(code & 1), rule: D.rules[code >> 1] });
      }
    }
    return made;
  };
  const wheres = (hosts) => {
    if (host.value !== "") {
      const asked = Number(host.value);
      const name = asked ? D.hosts[asked - 1] : "any that no ACL names";
      return [[name, hosts.get(asked) ?? hosts.get(0)]];
    }
    const rest = hosts.get(0);
    const groups = new Map();
    for (const [place, ruling] of hosts) {
      if (place === 0) continue;
      const key = ruling.join();
      if (key === rest.join()) continue;
      if (!groups.has(key)) groups.set(key, [[], ruling]);
      groups.get(key)[0].push(D.hosts[place - 1]);
    }
    const named = [...groups.values()].map(([names, ruling]) => [names.join(", "), ruling]);
    return [[named.length ? "all others" : "*", rest], ...named];
  };

  // A word is a bit: set for a principal or a resource that holds it. A pair holds all of them.
  const MOST_WORDS = 30;
  const masks = (texts, wanted) => Int32Array.from(texts, (text) => {
    let mask = 0;
    for (let bit = 0; bit < wanted.length; bit++) if (text.includes(wanted[bit])) mask |= 1 << bit;
    return mask;
  });
  const find = () => {
    const wanted = wordsOf(words.value).slice(0, MOST_WORDS);
    const full = 2 ** wanted.length - 1;
    const principalMask = masks(principalLow, wanted);
    const resourceMask = masks(resourceLow, wanted);
    const isIn = prefixes.map((prefix) => only.prefix === null || prefix === only.prefix);
    const [from, to] = only.principal === null ? [0, P] : [only.principal, only.principal + 1];
    const shown = [];
    let total = 0;
    for (let p = from; p < to; p++) {
      const mask = principalMask[p];
      for (let r = 0; r < R; r++) {
        if ((mask | resourceMask[r]) !== full || !isIn[r]) continue;
        const found = linesOf(rulesetOf[p * R + r], D.resources[r][0]);
        total += found.length;
        for (let at = 0; at < found.length && shown.length < limit; at++) shown.push([p, r, found[at]]);
      }
    }
    return { shown, total };
  };

  const aclWords = (acl) => {
    const [, type, name, pattern, principal, where, op, permission] = acl;
    return `${permission} ${op} for ${principal} from host ${where} on ${pattern} ` +
      `${type.toLowerCase().replaceAll("_", " ")} '${name}'`;
  };
  const draw = () => {
    const { shown, total } = find();
    const rows = document.createDocumentFragment();
    for (const [p, r, line] of shown) {
      const row = document.createElement("tr");
      const button = make("button", line.acl < 0 ? line.rule : aclWords(D.acls[line.acl]));
      button.type = "button";
      button.addEventListener("click", () => openWhy(p, r, line));
      const because = document.createElement("td");
      because.append(button);
      const verdict = line.isAllowed ? "ALLOWED" : "DENIED";
      row.append(
        make("td", D.principals[p][0]), make("td", resourceText[r]),
        make("td", D.operations[line.op]), make("td", line.where),
        make("td", verdict, verdict), because,
      );
      rows.append(row);
    }
    body.replaceChildren(rows);
    more.hidden = total <= shown.length;
    byId("who-count").textContent = total > shown.length
      ? `${count(total)} decisions, the first ${count(shown.length)} are shown`
      : `${count(total)} decisions`;
  };
  const start = ({ keepLines = false } = {}) => {
    if (!keepLines) lines = new Map();
    limit = STEP;
    draw();
  };
  words.addEventListener("input", () => start({ keepLines: true }));
  for (const select of [operation, host, decision]) select.addEventListener("change", () => start());
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => {
    const before = body.rows.length;
    limit += STEP;
    draw();
    body.rows[before]?.querySelector("button").focus();
  });

  // -- what the other parts of the page ask of it -----------------------------------------------
  const drawOnly = () => {
    const said = {
      principal: only.principal === null ? null : `principal ${D.principals[only.principal][0]}`,
      prefix: only.prefix === null ? null : `topics of the prefix ${only.prefix}`,
      acl: only.acl === null ? null : `decided by ${aclWords(D.acls[only.acl])}`,
    };
    const chips = Object.entries(said).filter(([, text]) => text !== null).map(([key, text]) => {
      const chip = make("button", `only ${text} ✕`);
      chip.type = "button";
      chip.setAttribute("aria-label", `Remove the filter: only ${show(text)}`);
      chip.addEventListener("click", () => {
        only[key] = null;
        drawOnly();
        start();
        words.focus();
      });
      return chip;
    });
    byId("who-only").replaceChildren(...chips);
  };
  const ask = (wanted) => {
    Object.assign(only, { principal: null, prefix: null, acl: null }, wanted);
    words.value = "";
    operation.value = "";
    host.value = "";
    decision.value = only.acl === null ? "1" : "";
    drawOnly();
    start();
    byId("explorer").scrollIntoView();
    words.focus({ preventScroll: true });
  };
  for (const button of document.querySelectorAll("button.decided")) {
    const place = aclPlace.get(button.dataset.acl);
    button.hidden = place === undefined;
    button.addEventListener("click", () => ask({ acl: place }));
  }

  // -- heat map: one stop for the keyboard, arrows inside ----------------------------------------
  const heat = document.querySelector("table.heat");
  if (heat) {
    const cells = [...heat.tBodies[0].rows].map((row) => [...row.querySelectorAll("button")]);
    const places = new Map(D.principals.map(([name], place) => [name, place]));
    const moves = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    };
    cells.forEach((row, y) => row.forEach((button, x) => {
      button.addEventListener("click", () => ask({
        principal: places.get(D.heatPrincipals[y]), prefix: D.heatPrefixes[x],
      }));
      button.addEventListener("keydown", (event) => {
        const move = moves[event.key];
        const next = move && cells[y + move[0]]?.[x + move[1]];
        if (!move) return;
        event.preventDefault();
        if (!next) return;
        button.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      });
    }));
    if (cells[0]?.[0]) cells[0][0].tabIndex = 0;
  }

  // -- down to the deciding ACL -----------------------------------------------------------------
  const dialog = byId("why");
  const FIELDS = ["id", "resource type", "resource name", "pattern type", "principal", "host",
    "operation", "permission", "added at offset", "added at"];
  const openWhy = (p, r, line) => {
    const where = { "*": "every host", "all others": "all other hosts" }[line.where] ?? line.where;
    byId("why-title").textContent = show(
      `${D.principals[p][0]} ${line.isAllowed ? "may" : "may not"} ${D.operations[line.op]} ` +
      `${resourceText[r]} from ${where}`);
    byId("why-rule").textContent = `${line.rule}: ${RULES[line.rule] ?? ""}`;
    const terms = line.acl < 0 ? [] : FIELDS.flatMap((field, place) => {
      const value = D.acls[line.acl][place];
      return value === null ? [] : [make("dt", field), make("dd", String(value))];
    });
    byId("why-acl").replaceChildren(...terms);
    const members = D.rulesets[rulesetOf[p * R + r]] ?? [];
    const items = members.map((place) => {
      const item = make("li", aclWords(D.acls[place]));
      if (place === line.acl) item.append(" ", make("strong", "decides"));
      return item;
    });
    byId("why-others").replaceChildren(
      ...(items.length ? items : [make("li", "None.")]));
    dialog.showModal();
  };
  byId("why-close").addEventListener("click", () => dialog.close());

  start();
})();
