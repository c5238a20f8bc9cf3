// A state of the page ("who can access …") → which principals and resources it is about.
const KEYS = ["q", "principal", "resource", "prefix", "acl", "operation", "host", "decision"];
const OTHER_HOST = "<any-other>";
const PLAIN = new Set(["who", "what", "can", "may", "touch", "access"]);

const makeMatcher = (K) => {
  const low = {
    principals: K.principals.map((name) => name.toLowerCase()),
    resources: K.resources.map((name) => name.toLowerCase()),
  };
  const placesOf = (names) => new Map(names.map((name, place) => [name, place]).reverse());
  const exact = {
    principals: placesOf(K.principals), resources: placesOf(K.resources),
    lowPrincipals: placesOf(low.principals), lowResources: placesOf(low.resources),
  };
  const aclPlace = new Map(K.acls.map(({ id }, place) => [id, place]));
  const operationPlace = placesOf(K.operations.map((name) => name.toLowerCase()));
  const all = 2 ** K.operations.length - 1;

  // A word is an operation, a whole name, or a part of names. A question may begin "who can".
  const parse = (text) => {
    const words = wordsOf(text);
    const isWhole = exact.lowPrincipals.has(text.trim().toLowerCase()) ||
      exact.lowResources.has(text.trim().toLowerCase());
    if (isWhole) return { words: [text.trim().toLowerCase()], mask: all };
    if (["who", "what"].includes(words[0])) while (PLAIN.has(words[0])) words.shift();
    const isName = (word) => exact.lowPrincipals.has(word) || exact.lowResources.has(word);
    const operationMask = (word) => {
      if (isName(word)) return 0;
      if (operationPlace.has(word)) return 1 << operationPlace.get(word);
      return word === "administer" ? K.useMask.administer : 0;
    };
    const mask = words.reduce((found, word) => found | operationMask(word), 0);
    return { words: words.filter((word) => !operationMask(word)), mask: mask || all };
  };
  // A word is a bit: set for a principal or a resource that holds it. A pair holds all of them.
  const bitsOf = (names, lowNames, places, otherPlaces, words) => {
    const bits = new Int32Array(names.length);
    words.forEach((word, bit) => {
      if (places.has(word)) bits[places.get(word)] |= 1 << bit;
      else if (!otherPlaces.has(word)) {
        for (let at = 0; at < names.length; at++) if (lowNames[at].includes(word)) bits[at] |= 1 << bit;
      }
    });
    return bits;
  };
  const filterOf = (state, mask) => {
    const asked = state.operation ?? "";
    const one = operationPlace.get(asked.toLowerCase());
    return {
      mask: mask & (asked === "" ? all : one === undefined ? K.useMask[asked] ?? 0 : 1 << one),
      host: !state.host ? null : state.host === OTHER_HOST ? 0 : K.hosts.indexOf(state.host) + 1,
      acl: state.acl === undefined ? null : aclPlace.get(state.acl) ?? -1,
      decision: state.decision || "ALLOWED",
    };
  };
  // What an address asks for and the page does not know: it says so, and answers nothing.
  const strangersOf = (state) => Object.entries({
    principal: (name) => exact.principals.has(name),
    resource: (name) => exact.resources.has(name),
    prefix: (name) => K.prefixes.includes(name),
    acl: (id) => aclPlace.has(id),
    operation: (name) => USES.includes(name) || operationPlace.has(name.toLowerCase()),
    host: (name) => name === OTHER_HOST || K.hosts.includes(name),
    decision: (name) => ["ALLOWED", "DENIED", "both"].includes(name),
  }).filter(([key, knows]) => state[key] !== undefined && (state[key] || key === "prefix") &&
    !knows(state[key])).map(([key]) => state[key]);

  // Which pairs a state is about: `holds(p, r)`, and the lists of principals and resources in them.
  const match = (state) => {
    const { words, mask } = parse(state.q ?? "");
    const strangers = strangersOf(state);
    const pBits = bitsOf(K.principals, low.principals, exact.lowPrincipals, exact.lowResources, words);
    const rBits = bitsOf(K.resources, low.resources, exact.lowResources, exact.lowPrincipals, words);
    const full = 2 ** words.length - 1;
    // "payments" asks for what is named so; principals named so count where nothing else is.
    if (words.length && rBits.includes(full)) pBits.fill(0);
    const seen = pBits.reduce((found, bits) => found | bits, 0) |
      rBits.reduce((found, bits) => found | bits, 0);
    strangers.push(...words.filter((_, bit) => !(seen & (1 << bit))));
    const [p, r] = [exact.principals.get(state.principal), exact.resources.get(state.resource)];
    const isIn = (at, wanted) => wanted === undefined || at === wanted;
    const isPrefix = (at) => state.prefix === undefined || K.prefixes[at] === state.prefix;
    const some = [...K.resources.keys()].filter((at) => isIn(at, r) && isPrefix(at));
    const holds = (who, what) => (pBits[who] | rBits[what]) === full;
    const who = strangers.length ? [] : [...K.principals.keys()].filter((at) => isIn(at, p) &&
      some.some((what) => holds(at, what)));
    const what = some.filter((at) => who.some((one) => holds(one, at)));
    return { words, strangers, holds, who, what, filter: filterOf(state, mask) };
  };
  const near = (word, most) => ({
    principals: nearest(word.toLowerCase(), low.principals, most),
    resources: nearest(word.toLowerCase(), low.resources, most),
    operations: nearest(word.toLowerCase(), [...operationPlace.keys()], 2)
      .map((place) => [...operationPlace.keys()][place].toUpperCase()),
  });
  const named = (words) => {
    const places = (names) => [...new Set(words.flatMap((word) => holding(word, names)))];
    return { principals: places(low.principals), resources: places(low.resources) };
  };
  return { match, near, named, aclPlace };
};
