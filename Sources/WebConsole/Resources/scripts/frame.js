// Menus, copying, keys and the values of charts. Every page works without this file.

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Menus close when something else is used.
document.addEventListener("click", (event) => {
  for (const menu of all("details.menu[open], details.more[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of all("details.menu[open], details.more[open]")) {
    const inside = menu.contains(document.activeElement);
    menu.open = false;
    if (inside) menu.querySelector("summary").focus();
  }
});

// Copying. The buttons are hidden without this script.
const offerCopies = (within) => all("button[data-copy]", within).forEach((button) => (button.hidden = !navigator.clipboard));
offerCopies(document);
document.addEventListener("console:changed", (event) => offerCopies(event.target));
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]");
  const source = button?.parentElement.querySelector("pre");
  if (!source) return;
  try {
    await navigator.clipboard.writeText(source.textContent);
    const label = button.textContent;
    button.textContent = button.dataset.copy;
    setTimeout(() => (button.textContent = label), 2000);
  } catch {
    getSelection().selectAllChildren(source);
  }
});

// Keys. Single keys can be switched off on the page of help.
const store = { get: (key) => { try { return localStorage.getItem(key); } catch { return null; } }, set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } } };
const areKeysOn = () => store.get("keys") !== "off";
for (const box of all("input[data-keys]")) {
  box.checked = areKeysOn();
  box.closest("[hidden]")?.removeAttribute("hidden");
  box.addEventListener("change", () => store.set("keys", box.checked ? "on" : "off"));
}

let isGoing = false;
const rows = () => all("main table.stack tbody tr").filter((row) => !row.closest("details:not([open])"));
const step = (by) => {
  const list = rows();
  const next = list[Math.min(Math.max(list.findIndex((row) => row.hasAttribute("data-at")) + by, 0), list.length - 1)];
  if (!next) return;
  list.forEach((row) => row.removeAttribute("data-at"));
  next.setAttribute("data-at", "");
  next.querySelector("a, [tabindex]")?.focus();
  next.scrollIntoView({ block: "nearest" });
};
const range = (by) => {
  const links = all(".menu.range .sheet > a");
  links[links.findIndex((link) => link.hasAttribute("aria-current")) + by]?.click();
};
const actions = {
  j: () => step(1),
  k: () => step(-1),
  e: () => all('main a[href*="export="]')[0]?.click(),
  t: () => all('.switches button[name="theme"]')[0]?.click(),
  "[": () => range(-1),
  "]": () => range(1),
  "?": () => all(".sidebar .end")[0]?.click(),
  "/": () => document.getElementById("find")?.focus(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !areKeysOn()) return;
  if (event.target.closest?.("input, textarea, select, dialog, [contenteditable]")) return;
  if (isGoing) {
    isGoing = false;
    const link = all(".sidebar a[data-key]").find((found) => found.dataset.key === event.key);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  if (event.key === "g") { isGoing = true; setTimeout(() => (isGoing = false), 1500); return; }
  const action = actions[event.key];
  if (action) { event.preventDefault(); action(); }
});

// The values of one moment of a chart, in a fixed place: by pointer, focus and arrow keys.
const read = (figure, index) => {
  const table = figure.querySelector("details table");
  const lines = all("tbody tr", table);
  const row = lines[Math.min(Math.max(index, 0), lines.length - 1)];
  if (!row) return;
  figure.dataset.at = index;
  const names = all("thead th", table).map((cell) => cell.textContent);
  const values = [...row.cells].map((cell) => cell.textContent);
  figure.querySelector("[data-reading]").textContent =
    values.map((value, place) => (place === 0 ? value : `${names[place]} ${value}`)).join(" · ");
};
const readings = (within) => {
  for (const figure of all("figure[data-chart]", within)) {
    const chart = figure.querySelector("svg.chart");
    if (!chart || chart.hasAttribute("tabindex")) continue;
    const last = () => all("details tbody tr", figure).length - 1;
    chart.setAttribute("tabindex", "0");
    chart.addEventListener("pointermove", (event) => {
      const box = chart.getBoundingClientRect();
      read(figure, Math.round(((event.clientX - box.left) / box.width) * last()));
    });
    chart.addEventListener("focus", () => read(figure, last()));
    chart.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      read(figure, Math.min(Math.max(Number(figure.dataset.at ?? last()) + by, 0), last()));
    });
  }
};
readings(document);
document.addEventListener("console:changed", (event) => readings(event.target));
