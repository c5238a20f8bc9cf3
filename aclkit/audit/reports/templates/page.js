// What every page stands on: text that stays text, places in the address, theme, paper.
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
const within = (element, ...children) => {
  element.append(...children);
  return element;
};
const makeButton = (text, className, onClick) => {
  const button = make("button", text, className);
  button.type = "button";
  button.addEventListener("click", onClick);
  return button;
};
const count = (number) => number.toLocaleString("en");
const counted = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

// -- places: "#key=value&key=value", so that every answer has an address --------------------------
// Half of a surrogate pair is no URI; it is written as %uXXXX, which encodeURIComponent never is.
const escapePart = (text) => text.split(/(\p{Cs})/u).map((part, place) => (place % 2
  ? `%u${part.charCodeAt(0).toString(16)}`
  : encodeURIComponent(part).replace(/%(3A|2F|2C|40|20)/g, (c) => ({
    "%3A": ":", "%2F": "/", "%2C": ",", "%40": "@", "%20": "+",
  })[c]))).join("");
const unescapePart = (text) => text.split(/%u([0-9a-f]{4})/i).map((part, place) => (place % 2
  ? String.fromCharCode(Number.parseInt(part, 16))
  : decodeURIComponent(part.replaceAll("+", " ")))).join("");
const hashOf = (state) => `#${Object.entries(state)
  .filter(([key, value]) => value !== undefined && (value !== "" || key === "prefix"))
  .map(([key, value]) => `${key}=${escapePart(String(value))}`).join("&")}`;
const stateOf = (hash, keys) => {
  const state = {};
  for (const part of hash.slice(1).split("&")) {
    const at = part.indexOf("=");
    if (at < 1 || !keys.includes(part.slice(0, at))) continue;
    try {
      state[part.slice(0, at)] = unescapePart(part.slice(at + 1));
    } catch { /* an address that no page made */ }
  }
  return state;
};
const makeLink = (text, state, className) => {
  const link = make("a", text, className);
  link.href = hashOf(state);
  return link;
};

// -- light and dark -------------------------------------------------------------------------------
const startTheme = (button) => {
  const remembered = () => {
    try { return localStorage.getItem("aclkit-theme"); } catch { return null; }
  };
  const remember = (name) => {
    try { localStorage.setItem("aclkit-theme", name); } catch { /* a file may have no store */ }
  };
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const tell = () => button.setAttribute("aria-pressed", String(isDark()));
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    tell();
  });
  prefersDark.addEventListener("change", tell);
  tell();
};

// -- paper: what is folded is unfolded; a part may bring what else it has to do ---------------------
const papers = [];
let folded = [];
addEventListener("beforeprint", () => {
  for (const paper of papers) paper(true);
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
  for (const paper of papers) paper(false);
});

// -- "/" goes to the search box, unless somebody is writing ----------------------------------------
const startSlash = (input) => addEventListener("keydown", (event) => {
  const isWriting = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isWriting) return;
  event.preventDefault();
  input.focus();
  input.select();
});
