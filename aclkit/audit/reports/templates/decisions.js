// The embedded decisions (as_html.py) → what of them a filter finds, as bits of operations.
const DIGITS = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
  .map((digit, value) => [digit.charCodeAt(0), value]));
const unpack = (text) => {
  const numbers = [];
  let number = 0;
  let scale = 1;
  for (let at = 0; at < text.length; at++) {
    const digit = DIGITS.get(text.charCodeAt(at));
    number += (digit & 31) * scale;
    if (digit & 32) {
      scale *= 32;
    } else {
      numbers.push(number);
      number = 0;
      scale = 1;
    }
  }
  return numbers;
};
// Lists of lists: the number of members, and then these, each `width` numbers.
const unpackLists = (text, width) => {
  const numbers = unpack(text);
  const lists = [];
  for (let at = 0; at < numbers.length;) {
    const end = at + 1 + numbers[at] * width;
    lists.push(numbers.slice(at + 1, end));
    at = end;
  }
  return lists;
};
const readAcls = ({ aclIds, acls, texts }) => {
  const BEGINNING = -62135596800; // the year 1, in seconds of Unix
  const numbers = unpack(acls);
  return aclIds.map((id, place) => {
    const row = numbers.slice(place * 9, place * 9 + 9);
    const second = row.pop();
    const offset = row.pop() - 1;
    const [type, name, pattern, principal, host, operation, permission] = row.map((at) => texts[at]);
    const at = second
      ? new Date((second - 1 + BEGINNING) * 1000).toISOString().replace(/T(.*)\.000Z$/, " $1 UTC")
      : null;
    return { id, type, name, pattern, principal, host, operation, permission, offset, at };
  });
};
// The one short form of an ACL, as model/acl.py writes it.
const quoted = (name) => (name && !name.includes(" ") ? name : `'${name}'`);
const patternWords = ({ pattern, type, name }) => {
  const kind = type.toLowerCase().replaceAll("_", " ");
  if (pattern === "LITERAL" && name === "*") return `all ${kind}s`;
  if (pattern === "LITERAL" && type === "CLUSTER" && name === "kafka-cluster") return "the cluster";
  if (pattern === "PREFIXED") return `${kind} ${quoted(`${name}*`)} (prefix)`;
  // A star of a LITERAL name is a plain letter, and looks like a pattern.
  const isPlain = pattern === "LITERAL" && !/[*?]/.test(name);
  return `${kind} ${quoted(name)}${isPlain ? "" : ` (${pattern.toLowerCase()})`}`;
};
const aclWords = (acl) =>
  `${acl.permission} ${acl.operation} on ${patternWords(acl)} for ${quoted(acl.principal)} ` +
  `from ${acl.host === "*" ? "any host" : quoted(acl.host)}`;

const readDecisions = (D) => {
  const [P, R] = [D.principals.length, D.resources.length];
  const rulings = unpackLists(D.rulings, 4);
  const rulesetOf = new Int32Array(P * R);
  const classes = D.classes.map((row) => unpack(row).map((ruleset) => ruleset - 1));
  const pairs = unpackLists(D.pairs, 1);
  D.principals.forEach(([, kind, isSuper], p) => {
    if (isSuper) return rulesetOf.fill(D.super, p * R, (p + 1) * R);
    rulesetOf.set(classes[kind], p * R);
    for (let at = 0, r = 0; at < pairs[p].length; r++) {
      const number = pairs[p][at++];
      if (number & 1) r += pairs[p][at++];
      rulesetOf[p * R + r] = number >> 1;
    }
    return undefined;
  });
  const bits = (operations) => operations.reduce((mask, op) => mask | (1 << op), 0);
  const known = D.known.map(bits);
  const useMask = Object.fromEntries(USES.map((use) =>
    [use, bits(D.operations.flatMap((_, op) => (D.uses[op] === use ? [op] : [])))]));

  // Of a ruleset each operation's rulings: host (0 is any other) → [ACL (0 is none), code].
  const parted = new Map();
  const partsOf = (ruleset) => {
    if (ruleset < 0) return new Map();
    if (!parted.has(ruleset)) {
      const operations = new Map();
      const flat = rulings[ruleset];
      for (let at = 0; at < flat.length; at += 4) {
        if (!operations.has(flat[at])) operations.set(flat[at], new Map());
        operations.get(flat[at]).set(flat[at + 1], [flat[at + 2], flat[at + 3]]);
      }
      parted.set(ruleset, operations);
    }
    return parted.get(ruleset);
  };
  // From which hosts each ruleset allows each operation, as numbers that are alike for the same hosts.
  let shapes = null;
  const shapesOf = () => {
    if (shapes) return shapes;
    const number = new Map();
    const width = D.operations.length;
    shapes = new Int32Array(rulings.length * width);
    rulings.forEach((flat, ruleset) => {
      const said = new Map();
      for (let at = 0; at < flat.length; at += 4) {
        const is = flat[at + 3] & 1;
        const parts = said.get(flat[at]) ?? said.set(flat[at], [[], 0]).get(flat[at]);
        if (flat[at + 1] === 0) parts[1] = is;
        else parts[0].push(flat[at + 1] * 2 + is);
      }
      for (const [op, [hosts, rest]] of said) {
        const key = `${rest} ${hosts.filter((host) => (host & 1) !== rest).join()}`;
        if (!number.has(key)) number.set(key, number.size + 1);
        shapes[ruleset * width + op] = number.get(key);
      }
    });
    return shapes;
  };
  // Whether a ruleset allows an operation from all hosts from which another one does.
  const covers = (ruleset, other, op) => {
    const [own, theirs] = [ruleset, other].map((one) => partsOf(one).get(op) ?? new Map());
    const allows = (hosts, host) => Boolean((hosts.get(host) ?? hosts.get(0))?.[1] & 1);
    return [0, ...own.keys(), ...theirs.keys()]
      .every((host) => allows(own, host) || !allows(theirs, host));
  };
  // What a filter finds in every ruleset: ALLOWED or DENIED from some host, and what
  // is decided at all. `host` is a place from 1, 0 for any other, or null for all of them.
  const masksOf = ({ mask, host, acl }) => {
    const found = { allowed: [], denied: [], decided: [] };
    for (const flat of rulings) {
      let [allowed, denied, decided, own] = [0, 0, 0, 0];
      for (let at = 0; at < flat.length; at += 4) {
        if (flat[at + 1] === 0) decided |= 1 << flat[at];
        else if (flat[at + 1] === host) own |= 1 << flat[at];
      }
      for (let at = 0; at < flat.length; at += 4) {
        const bit = 1 << flat[at] & mask;
        const where = flat[at + 1];
        if (acl !== null && flat[at + 2] !== acl + 1) continue;
        if (host !== null && where !== host && (where !== 0 || own & bit)) continue;
        if (flat[at + 3] & 1) allowed |= bit;
        else denied |= bit;
      }
      found.allowed.push(allowed & decided);
      found.denied.push(denied & decided);
      found.decided.push(decided);
    }
    return found;
  };
  // An operation's rulings as lines: hosts that fare alike are one, and the hosts no ACL names last.
  const linesOf = (ruleset, op, host) => {
    const hosts = partsOf(ruleset).get(op);
    if (!hosts?.has(0)) return [];
    const rest = hosts.get(0);
    const line = ([acl, code], names) =>
      ({ op, acl: acl - 1, isAllowed: Boolean(code & 1), rule: D.rules[code >> 1], names });
    if (host !== null) return [line(hosts.get(host) ?? rest, null)];
    const groups = new Map();
    for (const [place, ruling] of hosts) {
      if (place === 0) continue;
      const key = ruling.join();
      if (!groups.has(key)) groups.set(key, [[], ruling]);
      groups.get(key)[0].push(D.hosts[place - 1]);
    }
    const named = [...groups.values()].map(([names, ruling]) => line(ruling, names));
    return [...named, line(rest, named.length ? [] : null)];
  };
  return {
    P, R, known, useMask, rulesetOf, masksOf, shapesOf, covers, linesOf,
    operations: D.operations, uses: D.uses, hosts: D.hosts, acls: readAcls(D), other: D.other, otherTopic: D.otherTopic,
    members: unpackLists(D.members, 1),
    principals: D.principals.map(([name]) => name),
    isSuper: D.principals.map(([, , isSuper]) => Boolean(isSuper)),
    typeOf: D.resources.map(([type]) => type),
    types: D.types,
    resources: D.resources.map(([type, name]) =>
      (D.types[type] === "cluster" ? "cluster" : `${D.types[type]}:${name}`)),
    // As the heat map groups topics: up to the first separator behind a letter; "" without one.
    prefixes: D.resources.map(([type, name]) =>
      (D.types[type] === "topic" ? name.match(/^[._-]*[^._-]+[._-]?/u)?.[0] ?? "" : null)),
  };
};
const opsOf = (mask) => {
  const found = [];
  for (let op = 0; mask >> op; op++) if (mask & (1 << op)) found.push(op);
  return found;
};
