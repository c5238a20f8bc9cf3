// "Who can access …": the box, its filters, and the answer beneath, each with an address.
const RULES = {
  SuperUser: "super user",
  MatchingAcl: "a matching ACL",
  DefaultAllow: "no ACL applies to it",
  DefaultDeny: "no ACL allows it",
};
const MOST_NAMES = 100;
const MOST_GRAPH_PAIRS = 400;

const startAnswers = (K, { mentions }) => {
  const [form, box, answer, filters] =
    ["ask-form", "ask-words", "answer", "ask-only"].map(byId);
  const selects = { operation: byId("ask-operation"), host: byId("ask-host"), decision: byId("ask-decision") };
  const matcher = makeMatcher(K);
  const rowsOf = makeRows(K);
  const isWhole = root.dataset.status === "complete";
  const file = (name) => `${name}${isWhole ? "" : "-incomplete"}`;
  const title = document.title;
  let state = {};

  // -- parts of an answer -------------------------------------------------------------------------
  const said = (text) => make("p", text);
  const listed = (label, links) => {
    const list = within(make("ul", undefined, "names"),
      ...links.map((link) => within(make("li"), link)));
    return within(make("div", undefined, "named"), make("span", label, "quiet"), list);
  };
  const linksOf = ({ principals, resources }, most) => [
    ...resources.slice(0, most).map((r) => makeLink(K.resources[r], { resource: K.resources[r] })),
    ...principals.slice(0, most).map((p) => makeLink(K.principals[p], { principal: K.principals[p] })),
  ];
  const unknownPart = (strangers) => within(make("div", undefined, "unknown"),
    make("p", `No name matches ${strangers.map((word) => `“${word}”`).join(" or ")}. ` +
      `This report has ${counted(K.P, "principal")} and ${counted(K.R, "resource")}.`),
    ...strangers.flatMap((word) => {
      const near = matcher.near(word, 5);
      const asked = (operation) => wordsOf(state.q ?? "").filter((other) => other !== word).concat(operation).join(" ");
      const links = [...linksOf(near, 5),
        ...near.operations.map((name) => makeLink(asked(name), { q: asked(name) }))];
      return links.length ? [listed(`Did you mean one of these for “${word}”?`, links)] : [];
    }));
  const aclLink = (place) => makeLink(aclWords(K.acls[place]), { acl: K.acls[place].id, decision: "both" });
  const aclPart = (acl) => within(make("dl", undefined, "facts"), ...[
    ["id", acl.id], ["added at offset", acl.offset], ["added at", acl.at],
    ["resource type", acl.type], ["resource name", acl.name], ["pattern type", acl.pattern],
    ["principal", acl.principal], ["host", acl.host], ["operation", acl.operation],
    ["permission", acl.permission],
  ].flatMap(([term, value]) =>
    (value === null ? [] : [make("dt", term), make("dd", String(value))])));
  const CAN = { ALLOWED: "can", DENIED: "cannot", both: "can and cannot" };
  const canColumn = ({ decision }, chips) => ({
    title: CAN[decision] ?? CAN.ALLOWED,
    text: (row) => [...chips(row)].sort(byWeight).map(chipText).join("; "),
    key: (row) => -rowsOf.weigh(row),
    cell: (row) => makeChips(chips(row)),
  });
  const heavyFirst = (rows, nameOf) => rows.map((row) => [rowsOf.weigh(row), nameOf(row), row])
    .sort((one, two) => two[0] - one[0] || compare(one[1], two[1])).map(([, , row]) => row);
  const everyonePart = (found, { what, filter }) => {
    const numbers = new Map();
    for (const r of what) for (const op of opsOf(found.common[r])) {
      numbers.set(op, (numbers.get(op) ?? 0) + 1);
    }
    if (!numbers.size) return [];
    const chips = [...numbers].map(([op, number]) => rowsOf.chip(op, true, {
      note: what.length === 1 ? "" : `× ${count(number)}`,
      where: what.length === 1 ? rowsOf.whereOf(K.other, what[0], op, true, filter) : "",
    }));
    const line = within(make("div", undefined, "everyone"), make("strong", "Everyone has"), makeChips(chips));
    if (found.lacking.length) {
      const [some, more] = [found.lacking.slice(0, 5), found.lacking.length - 5];
      line.append(make("span", `These have less: ${some.join(", ")}` +
        `${more > 0 ? ` and ${count(more)} more` : ""}`));
    }
    return [line];
  };
  const graphPart = (pairs, filter, label) => {
    const details = within(make("details", undefined, "graph-of"), make("summary", "Graph of principals, ACLs and resources"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      drawGraph(details, { label, paths: pathsOf(K, { pairs: pairs(), filter }) });
    });
    return details;
  };
  const countWords = (word, more) => (all, some) =>
    `${counted(all, word)}${more}${some < all ? `. Showing the first ${count(some)}` : ""}`;

  // -- the three answers --------------------------------------------------------------------------
  const perPrincipal = (matched, found) => {
    const [r] = matched.what;
    const isOne = matched.what.length === 1;
    const chips = isOne
      ? (row) => rowsOf.pairChips(row.p, r, row, matched.filter, state)
      : (row) => rowsOf.manyChips(row, found, matched, state);
    const wider = [...found.byWho].sort((one, two) => two.resources - one.resources);
    const rows = heavyFirst(wider, ({ p }) => (isOne ? K.principals[p] : ""));
    const pairs = () => {
      const some = [];
      for (const { p } of rows) for (const what of matched.what) {
        if (some.length >= MOST_GRAPH_PAIRS) return some;
        if (!matched.holds(p, what)) continue;
        const [can, not] = found.cell(p, what);
        if (can | not) some.push({ p, r: what, can, not });
      }
      return some;
    };
    const rest = found.commonOnly && found.common.some(Boolean)
      ? `; ${count(found.commonOnly)} more ${found.commonOnly === 1 ? "has" : "have"} only the access that everyone has`
      : "";
    const columns = [
      {
        title: "principal", text: ({ p }) => K.principals[p],
        cell: ({ p }) => {
          const link = makeLink(K.principals[p], { principal: K.principals[p] });
          return K.isSuper[p] ? within(make("span"), link, " ", make("span", "super user", "badge")) : link;
        },
      },
      canColumn(matched.filter, chips),
      ...(isOne ? [] : [{ title: "resources", isNumber: true, text: ({ resources }) => resources }]),
    ];
    const label = isOne ? `Who can access ${K.resources[r]}` : "Who can access them";
    return [
      ...everyonePart(found, matched),
      makeTable({ label, rows, columns, name: file("who-can"), says: countWords("principal", rest) }),
      graphPart(pairs, matched.filter, label),
    ];
  };
  const perResource = (matched, found) => {
    const [p] = matched.who;
    const name = K.principals[p];
    const rows = heavyFirst(found.byWhat, ({ r }) => K.resources[r]);
    const number = mentions.count(name);
    const parts = K.isSuper[p] ? [said(`${name} is a super user, so no ACL is checked.`)] : [];
    if (number) {
      parts.push(within(make("p"), makeButton(`Related findings: ${count(number)}`, "", () => mentions.show(name))));
    }
    const columns = [
      { title: "resource", text: ({ r }) => K.resources[r],
        cell: ({ r }) => makeLink(K.resources[r], { resource: K.resources[r] }) },
      canColumn(matched.filter, (row) => rowsOf.pairChips(p, row.r, row, matched.filter, state)),
    ];
    const label = `What ${name} can access`;
    return [
      ...parts, ...everyonePart(found, matched),
      makeTable({ label, rows, columns, name: file("what-can"), says: countWords("resource", "") }),
      graphPart(() => rows.slice(0, MOST_GRAPH_PAIRS).map((row) => ({ p, ...row })), matched.filter, label),
    ];
  };
  const whyPair = ({ who: [p], what: [r], filter }) => {
    const ruleset = K.rulesetOf[p * K.R + r];
    const alike = new Map();
    for (const op of opsOf(K.known[K.typeOf[r]] & filter.mask)) {
      const found = K.linesOf(ruleset, op, filter.host);
      for (const line of found.length ? found : [{ op, names: null, rule: "", acl: -1, isAllowed: null }]) {
        if (filter.acl !== null && line.acl !== filter.acl) continue;
        const hosts = rowsOf.hostsOf(found, line.names);
        const key = JSON.stringify([line.isAllowed, hosts, line.acl, line.rule]);
        if (!alike.has(key)) alike.set(key, { ...line, hosts, ops: [] });
        alike.get(key).ops.push(op);
      }
    }
    const chipsOf = ({ ops, isAllowed }) =>
      ops.map((op) => ({ ...rowsOf.chip(op, isAllowed !== false), isPlain: true }));
    const lines = [...alike.values()].sort((one, two) => weightOf(chipsOf(two)) - weightOf(chipsOf(one)) ||
      two.hosts.length - one.hosts.length);
    const fromWords = ({ hosts }) => {
      if (filter.host !== null) return filter.host ? K.hosts[filter.host - 1] : "a host that no ACL names";
      return rowsOf.fewHosts(hosts);
    };
    const verdict = ({ isAllowed }) => (isAllowed === null ? "UNKNOWN" : isAllowed ? "ALLOWED" : "DENIED");
    const because = ({ acl, rule, isAllowed }) => {
      if (isAllowed === null) return "not decided";
      return acl < 0 ? RULES[rule] ?? rule : aclWords(K.acls[acl]);
    };
    const columns = [
      { title: "operations", text: ({ ops }) => ops.map((op) => K.operations[op]).join("; "),
        key: (line) => -weightOf(chipsOf(line)), cell: (line) => makeChips(chipsOf(line)) },
      { title: "decision", text: verdict, cell: (line) => make("span", verdict(line), verdict(line)) },
      { title: "from", text: fromWords },
      { title: "because", text: because, cell: (line) => (line.acl < 0 ? because(line) : aclLink(line.acl)) },
    ];
    const members = K.members[ruleset] ?? [];
    const label = `Why, for ${K.principals[p]} on ${K.resources[r]}`;
    const bits = (isAllowed) => lines.reduce((mask, line) =>
      (line.isAllowed === isAllowed ? line.ops.reduce((found, op) => found | (1 << op), mask) : mask), 0);
    return [
      makeTable({ label, rows: lines, columns, name: file("why"), step: 30, says: () => "" }),
      graphPart(() => [{ p, r, can: bits(true), not: bits(false) }], filter, label),
      make("h4", "ACLs that apply to this principal and resource"),
      members.length ? within(make("ul", undefined, "evidence"), ...members.map((place) => {
        const { id, offset, at } = K.acls[place];
        const decided = [...new Set(lines.filter(({ acl }) => acl === place)
          .flatMap(({ ops }) => ops.map((op) => K.operations[op])))];
        return within(make("li"), aclLink(place),
          make("span", ` (${id}, added at offset ${offset}${at ? `, ${at}` : ""})`, "quiet"),
          ...(decided.length ? [" ", make("strong", `decides ${decided.join(", ")}`)] : []));
      })) : said("None."),
    ];
  };

  // -- one state, one answer ------------------------------------------------------------------------
  const titleOf = ({ who, what, words }) => {
    if (state.acl !== undefined) return "What this ACL decides";
    if (who.length === 1 && what.length === 1) return `${K.principals[who[0]]} on ${K.resources[what[0]]}`;
    if (who.length === 1) return `What ${K.principals[who[0]]} can access`;
    if (what.length === 1) return `Who can access ${K.resources[what[0]]}`;
    if (state.prefix !== undefined) return `Who can access topics with the prefix ${state.prefix}`;
    return words.length ? `Who can access names that contain ${words.map((word) => `“${word}”`).join(" and ")}` : "Who can access what";
  };
  const namesPart = ({ words, who, what }) => {
    if (!words.length || who.length === 1 || what.length === 1) return [];
    const found = matcher.named(words);
    const number = found.principals.length + found.resources.length;
    const links = linksOf(found, MOST_NAMES);
    return number ? [listed(`${counted(number, "name")} ${number === 1 ? "matches" : "match"}${number > links.length ? `; the first ${count(links.length)}` : ""}:`, links)] : [];
  };
  const parts = () => {
    const matched = matcher.match(state);
    if (matched.strangers.length) return ["No such name", [unknownPart(matched.strangers)]];
    if (!matched.who.length) return ["No match", [
      said("No principal and resource together contain all these words."), ...namesPart(matched)]];
    const head = state.acl === undefined ? [] : [
      said(aclWords(K.acls[matched.filter.acl])), aclPart(K.acls[matched.filter.acl])];
    if (matched.who.length === 1 && matched.what.length === 1) {
      return [titleOf(matched), [...head, ...whyPair(matched)]];
    }
    const found = rowsOf.scan(matched);
    const unsure = found.undecided ? [make("p",
      `For ${count(found.undecided)} pairs of a principal and a resource, not every operation is decided.`, "limit")] : [];
    const rows = matched.who.length === 1 ? perResource(matched, found) : perPrincipal(matched, found);
    return [titleOf(matched), [...head, ...namesPart(matched), ...unsure, ...rows]];
  };
  const drawFilters = () => {
    const words = {
      prefix: state.prefix !== undefined && `topics with the prefix ${state.prefix}`,
      acl: state.acl !== undefined && "what one ACL decides",
    };
    filters.replaceChildren(...Object.entries(words).filter(([, text]) => text).map(([key, text]) => {
      const button = makeButton(`only ${text} ✕`, "", () => go({ ...state, [key]: undefined }));
      button.setAttribute("aria-label", `Remove the filter: only ${show(text)}`);
      return button;
    }));
  };
  const draw = () => {
    drawFilters();
    const isAsked = Object.values(state).some((value) => value !== undefined && value !== "");
    byId("ask-examples").hidden = isAsked;
    answer.hidden = !isAsked;
    document.title = title;
    if (!isAsked) return answer.replaceChildren();
    const [heading, rest] = parts();
    document.title = `${show(heading)} – ${title}`;
    const head = make("h3", heading);
    head.tabIndex = -1;
    return answer.replaceChildren(head, ...rest);
  };

  // -- the way in and out: address, box, filters ------------------------------------------------------
  const filled = () => Object.fromEntries(Object.entries(selects).map(([key, { value }]) => [key, value]));
  const go = (wanted) => { location.hash = hashOf(wanted); };
  let told = 0;
  const tell = () => {
    clearTimeout(told);
    told = setTimeout(() => {
      if (location.hash !== hashOf(state)) location.replace(hashOf(state));
    }, 400);
  };
  const arrive = () => {
    const wanted = stateOf(location.hash, KEYS);
    const isSection = location.hash.length > 1 && !Object.keys(wanted).length;
    if (isSection || hashOf(wanted) === hashOf(state)) return;
    clearTimeout(told);
    state = wanted;
    if (document.activeElement !== box) {
      box.value = [state.principal, state.resource, state.q].filter(Boolean).map(show).join(" ");
    }
    for (const [key, select] of Object.entries(selects)) {
      select.value = state[key] ?? "";
      if (select.selectedIndex < 0) select.value = "";
    }
    draw();
    if (Object.keys(wanted).length) {
      byId("ask").scrollIntoView();
      answer.querySelector("h3").focus({ preventScroll: true });
    }
  };
  const choose = (select, names) => names.forEach((name) => {
    const option = make("option", name);
    option.value = name;
    select.append(option);
  });
  choose(byId("ask-operations"), K.operations);
  choose(selects.host, K.hosts);
  box.addEventListener("input", () => {
    state = { q: box.value.trim(), ...filled() };
    draw();
    tell();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") answer.querySelector(".named a, tbody a")?.focus();
  });
  for (const select of Object.values(selects)) select.addEventListener("change", () => {
    state = { ...state, ...filled() };
    draw();
    tell();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(told);
    if (location.hash !== hashOf(state)) go(state);
    answer.querySelector("h3")?.focus();
  });
  addEventListener("hashchange", arrive);
  startSlash(box);
  const example = (place) => K.resources.findIndex((_, r) => r >= place && K.types[K.typeOf[r]] === "topic" && r !== K.otherTopic);
  const topic = example(Math.floor(K.R / 2));
  const person = K.isSuper.findIndex((isSuper, p) => !isSuper && p !== K.other);
  byId("ask-examples").append(...[
    topic >= 0 && { resource: K.resources[topic] },
    person >= 0 && { principal: K.principals[person] },
    { operation: "administer" },
  ].filter(Boolean).map((wanted) => within(make("span"),
    makeLink(wanted.resource ?? wanted.principal ?? "who can administer anything", wanted))));
  arrive();
  return { go };
};
