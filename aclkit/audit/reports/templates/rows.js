// A matched question → rows: one per principal, or for one principal one per resource.
const makeRows = (K) => {
  // Beyond what everybody has: the operations of a pair that a row of the answer shows.
  const scan = ({ who, what, holds, filter }) => {
    const masks = K.masksOf(filter);
    const [wantsMay, wantsNot] = [filter.decision !== "DENIED", filter.decision !== "ALLOWED"];
    const folds = !wantsNot && filter.acl === null && K.other >= 0 &&
      !(who.length === 1 && who[0] === K.other);
    const rulesetAt = (p, r) => K.rulesetOf[p * K.R + r];
    const ofType = (mask, r) => mask & K.known[K.typeOf[r]];
    const common = new Int32Array(K.R);
    if (folds) {
      for (const r of what) {
        const ruleset = rulesetAt(K.other, r);
        if (ruleset >= 0) common[r] = ofType(masks.allowed[ruleset], r);
      }
    }
    // Of what everybody has on a resource, the operations that a ruleset allows from the same hosts.
    const shapes = K.shapesOf();
    const width = K.operations.length;
    const sharedOf = (ruleset, r) => {
      if (filter.host !== null) return common[r] & masks.allowed[ruleset];
      const other = rulesetAt(K.other, r);
      let shared = 0;
      for (let op = 0, left = common[r]; left; op++, left >>= 1) {
        if (left & 1 && shapes[ruleset * width + op] === shapes[other * width + op]) shared |= 1 << op;
      }
      return shared;
    };
    let undecided = 0;
    // Whether a pair lacks some of that, from some host at least.
    const lacks = (ruleset, r) => {
      const left = common[r] & ~(ruleset < 0 ? 0 : sharedOf(ruleset, r));
      if (ruleset < 0 || filter.host !== null) return left !== 0;
      return opsOf(left).some((op) => !K.covers(ruleset, rulesetAt(K.other, r), op));
    };
    const lacking = new Set();
    const cell = (p, r) => {
      const ruleset = rulesetAt(p, r);
      if (ruleset < 0) return [0, 0];
      const not = wantsNot ? ofType(masks.denied[ruleset], r) : 0;
      const may = wantsMay
        ? ofType(masks.allowed[ruleset], r) & ~(common[r] && sharedOf(ruleset, r)) : 0;
      return [may, not];
    };
    const [byWho, byWhat] = [new Map(), new Map()];
    let commonOnly = 0;
    for (const p of who) {
      const row = { p, may: 0, not: 0, resources: 0 };
      for (const r of what) {
        if (!holds(p, r)) continue;
        const ruleset = rulesetAt(p, r);
        const decided = ruleset < 0 ? 0 : masks.decided[ruleset];
        if (K.known[K.typeOf[r]] & filter.mask & ~decided) undecided += 1;
        if (common[r] && lacks(ruleset, r)) lacking.add(who.length === 1 ? K.resources[r] : K.principals[p]);
        const [may, not] = cell(p, r);
        if (!(may | not)) continue;
        row.may |= may;
        row.not |= not;
        row.resources += 1;
        if (who.length === 1) byWhat.set(r, { r, may, not });
      }
      if (row.may | row.not) byWho.set(p, row);
      else if (p !== K.other) commonOnly += 1;
    }
    return {
      cell, common, commonOnly, undecided,
      lacking: [...lacking],
      byWho: [...byWho.values()], byWhat: [...byWhat.values()],
    };
  };

  // From where an operation is ALLOWED or DENIED: "" for everywhere.
  const whereOf = (p, r, op, isAllowed, filter) => {
    if (filter.host !== null) return "";
    const lines = K.linesOf(K.rulesetOf[p * K.R + r], op, null);
    const alike = lines.filter((line) => line.isAllowed === isAllowed);
    if (alike.length === lines.length) return "";
    const isRest = ({ names }) => names === null || !names.length;
    const said = (names) => (names.length > 2 ? counted(names.length, "host") : names.join(", "));
    if (alike.some(isRest)) {
      const others = lines.filter((line) => line.isAllowed !== isAllowed);
      return `not from ${said(others.flatMap(({ names }) => names))}`;
    }
    return `from ${said(alike.flatMap(({ names }) => names))}`;
  };
  const chip = (op, isAllowed, more) =>
    ({ operation: K.operations[op], use: K.uses[op], isAllowed, ...more });
  const both = ({ may, not }) =>
    [...opsOf(may).map((op) => [op, true]), ...opsOf(not).map((op) => [op, false])];

  // The chips of one pair lead to why; those of many resources say of how many, and lead to these.
  const pairChips = (p, r, row, filter, state) => both(row).map(([op, isAllowed]) => chip(op, isAllowed, {
    where: whereOf(p, r, op, isAllowed, filter),
    state: {
      principal: K.principals[p], resource: K.resources[r], operation: K.operations[op],
      host: state.host,
    },
  }));
  const manyChips = (row, found, matched, state) => {
    const numbers = new Map();
    for (const r of matched.what) {
      if (!matched.holds(row.p, r)) continue;
      const [may, not] = found.cell(row.p, r);
      for (const [op, isAllowed] of both({ may, not })) {
        const key = op * 2 + isAllowed;
        numbers.set(key, (numbers.get(key) ?? 0) + 1);
      }
    }
    return both(row).map(([op, isAllowed]) => chip(op, isAllowed, {
      note: `× ${count(numbers.get(op * 2 + isAllowed))}`,
      state: { ...state, principal: K.principals[row.p], operation: K.operations[op] },
    }));
  };
  // Chips as fast as they are sorted by: without where and how many.
  const weigh = (row) => weightOf(both(row).map(([op, isAllowed]) => chip(op, isAllowed)));
  return { scan, pairChips, manyChips, weigh, chip, whereOf };
};

// For one question: who, through which ACL, to what, a path for each operation.
const pathsOf = (K, { pairs, filter }) => pairs.flatMap(({ p, r, may, not }) => {
  const [who, what] = [K.principals[p], K.resources[r]];
  const through = ({ acl: place, rule }) => {
    const acl = K.acls[place];
    if (!acl) return { key: rule, text: `no ACL: ${rule}`, href: hashOf({ principal: who, resource: what }) };
    const text = `${acl.permission} ${acl.operation} on ${acl.pattern} '${acl.name}' for ${acl.principal}`;
    return { key: acl.id, text, href: hashOf({ acl: acl.id, decision: "both" }) };
  };
  return opsOf(may | not)
    .flatMap((op) => K.linesOf(K.rulesetOf[p * K.R + r], op, filter.host))
    .filter(({ op, acl, isAllowed }) => ((isAllowed ? may : not) & (1 << op)) &&
      (filter.acl === null || acl === filter.acl))
    .map((line) => ({
      who: { key: who, text: who, href: hashOf({ principal: who }) },
      through: through(line),
      what: { key: what, text: what, href: hashOf({ resource: what }) },
      operation: K.operations[line.op], use: K.uses[line.op], isAllowed: line.isAllowed,
    }));
});
