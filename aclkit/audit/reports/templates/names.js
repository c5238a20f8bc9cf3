// Words of a search, and the names nearest to a word that no name holds.
const MOST_WORDS = 30;
const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);

// How many letters must change until a word is part of a name (Sellers), or MANY beyond `most`.
const MANY = 1e6;
const distance = (word, name, most) => {
  let above = new Array(name.length + 1).fill(0);
  for (let y = 1; y <= word.length; y++) {
    const row = [y];
    let least = y;
    for (let x = 1; x <= name.length; x++) {
      const swap = above[x - 1] + (word[y - 1] === name[x - 1] ? 0 : 1);
      row[x] = Math.min(swap, above[x] + 1, row[x - 1] + 1);
      if (row[x] < least) least = row[x];
    }
    if (least > most) return MANY;
    above = row;
  }
  return Math.min(...above);
};
const LONGEST = 60;
// Places of the nearest names in a list of lower-case ones, the nearest first.
const nearest = (word, names, most) => {
  const asked = word.slice(0, LONGEST);
  const allowed = Math.min(3, Math.max(1, Math.floor(asked.length / 2.5)));
  return names
    .map((name, place) => [distance(asked, name.slice(0, 4 * LONGEST), allowed),
      Math.abs(name.length - asked.length), place])
    .filter(([far]) => far <= allowed)
    .sort((one, two) => one[0] - two[0] || one[1] - two[1] || one[2] - two[2])
    .slice(0, most).map(([, , place]) => place);
};
// Places of the names that hold a word: the name itself first, then what begins with it.
const holding = (word, names) => {
  const rank = (name) => {
    const bare = name.slice(name.indexOf(":") + 1);
    if (name === word || bare === word) return 0;
    return name.startsWith(word) || bare.startsWith(word) ? 1 : 2;
  };
  return names.flatMap((name, place) => (name.includes(word) ? [[rank(name), place]] : []))
    .sort((one, two) => one[0] - two[0] || one[1] - two[1]).map(([, place]) => place);
};
