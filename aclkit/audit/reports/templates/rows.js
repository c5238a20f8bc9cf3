// A matched question → rows: one per principal, or for one principal one per resource.
const makeRows = (K) => {
  // Beyond what everyone has: the operations of a pair that a row of the answer shows.
  const scan = ({ who, what, holds, filter }) => {
    const masks = K.masksOf(filter);
    const [wantsCan, wantsNot] = [filter.decision !== "DENIED", filter.decision !== "ALLOWED"];
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
    // Of what everyone has on a resource, the operations that a ruleset allows from the same hosts.
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
      const can = wantsCan
        ? ofType(masks.allowed[ruleset], r) & ~(common[r] && sharedOf(ruleset, r)) : 0;
      return [can, not];
    };
    const [byWho, byWhat] = [new Map(), new Map()];
    let commonOnly = 0;
    for (const p of who) {
      const row = { p, can: 0, not: 0, resources: 0 };
      for (const r of what) {
        if (!holds(p, r)) continue;
        const ruleset = rulesetAt(p, r);
        const decided = ruleset < 0 ? 0 : masks.decided[ruleset];
        if (K.known[K.typeOf[r]] & filter.mask & ~decided) undecided += 1;
        if (common[r] && lacks(ruleset, r)) lacking.add(who.length === 1 ? K.resources[r] : K.principals[p]);
        const [can, not] = cell(p, r);
        if (!(can | not)) continue;
        row.can |= can;
        row.not |= not;
        row.resources += 1;
        if (who.length === 1) byWhat.set(r, { r, can, not });
      }
      if (row.can | row.not) byWho.set(p, row);
      else if (p !== K.other) commonOnly += 1;
    }
    return {
      cell, common, commonOnly, undecided,
      lacking: [...lacking],
      byWho: [...byWho.values()], byWhat: [...byWhat.values()],
    };
  };

  // Hosts that are decided alike, as table_words.py writes them: the others where these are few, or where
  // any other is one of them.
  const FEW = 3;
  const everyHost = [OTHER_HOST, ...K.hosts];
  const listedHosts = (hosts) => {
    const sorted = [...hosts].sort();
    if (sorted.length < FEW + 2) return sorted.join(", ");
    return `${sorted.slice(0, FEW).join(", ")} and ${count(sorted.length - FEW)} more`;
  };
  const fewHosts = (hosts) => {
    const named = new Set(hosts);
    const others = everyHost.filter((host) => !named.has(host));
    if (!others.length) return "any";
    const isMost = hosts.length > FEW && others.length <= FEW;
    return named.has(OTHER_HOST) || isMost ? `any but ${listedHosts(others)}` : listedHosts(hosts);
  };
  // The hosts of one of an operation's lines; where it has no names, those that no other line names.
  const hostsOf = (lines, names) => {
    if (names?.length) return names;
    const named = new Set(lines.flatMap((line) => line.names ?? []));
    return everyHost.filter((host) => !named.has(host));
  };

  // From where an operation is ALLOWED or DENIED: "" for everywhere.
  const whereOf = (p, r, op, isAllowed, filter) => {
    if (filter.host !== null) return "";
    const lines = K.linesOf(K.rulesetOf[p * K.R + r], op, null);
    const alike = lines.filter((line) => line.isAllowed === isAllowed);
    if (alike.length === lines.length) return "";
    return `from ${fewHosts(alike.flatMap(({ names }) => hostsOf(lines, names)))}`;
  };
  const chip = (op, isAllowed, more) =>
    ({ operation: K.operations[op], use: K.uses[op], isAllowed, ...more });
  const both = ({ can, not }) =>
    [...opsOf(can).map((op) => [op, true]), ...opsOf(not).map((op) => [op, false])];

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
      const [can, not] = found.cell(row.p, r);
      for (const [op, isAllowed] of both({ can, not })) {
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
  return { scan, pairChips, manyChips, weigh, chip, whereOf, fewHosts, hostsOf };
};

// For one question: who, through which ACL, to what, a path for each operation.
const pathsOf = (K, { pairs, filter }) => pairs.flatMap(({ p, r, can, not }) => {
  const [who, what] = [K.principals[p], K.resources[r]];
  const through = ({ acl: place, rule }) => {
    const acl = K.acls[place];
    if (!acl) return { key: rule, text: RULES[rule] ?? rule, href: hashOf({ principal: who, resource: what }) };
    return { key: acl.id, text: aclWords(acl), href: hashOf({ acl: acl.id, decision: "both" }) };
  };
  return opsOf(can | not)
    .flatMap((op) => K.linesOf(K.rulesetOf[p * K.R + r], op, filter.host))
    .filter(({ op, acl, isAllowed }) => ((isAllowed ? can : not) & (1 << op)) &&
      (filter.acl === null || acl === filter.acl))
    .map((line) => ({
      who: { key: who, text: who, href: hashOf({ principal: who }) },
      through: through(line),
      what: { key: what, text: what, href: hashOf({ resource: what }) },
      operation: K.operations[line.op], use: K.uses[line.op], isAllowed: line.isAllowed,
    }));
});
