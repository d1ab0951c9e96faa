// Live updates: parts of the page are changed in place, new rows wait, and the stream is closed while the tab is hidden.

// The only HTML that is parsed here is what this server rendered for this page.
const policy = window.trustedTypes?.createPolicy("console", { createHTML: (html) => html });
const trusted = (html) => (policy ? policy.createHTML(html) : html);

/** The element of a fragment. */
export const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = trusted(html);
  return template.content.firstElementChild;
};

/** The document of a page. */
export const parsePage = (html) => new DOMParser().parseFromString(trusted(html), "text/html");

const kept = new Set(["open", "data-at", "tabindex"]);

/** Makes `old` equal to `fresh` without replacing elements that stay, so that focus, selection and open parts are kept. */
export const morph = (old, fresh) => {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
  if (old.nodeType !== Node.ELEMENT_NODE) { if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue; return; }
  if (old.matches("input, textarea, select")) return;
  for (const { name } of [...old.attributes]) if (!kept.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) if (!kept.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.nodeName === "TBODY" && old.querySelector("tr[data-row]")) { morphRows(old, fresh); return; }
  const after = [...fresh.childNodes];
  const before = [...old.childNodes];
  after.forEach((node, place) => (place < before.length ? morph(before[place], node) : old.append(node)));
  before.slice(after.length).forEach((node) => node.remove());
};

// Rows change in place. New ones wait behind a button, so that nothing moves under the pointer.
const morphRows = (old, fresh) => {
  const present = new Map([...old.rows].map((row) => [row.dataset.row, row]));
  const isNew = (row) => !present.has(row.dataset.row);
  const added = [...fresh.rows].filter(isNew).length;
  for (const row of [...fresh.rows]) if (!isNew(row)) morph(present.get(row.dataset.row), row.cloneNode(true));
  const button = old.closest(".tablebox")?.querySelector("button.new");
  if (!button) return;
  button.hidden = added === 0;
  button.textContent = button.dataset.new.replace("#", added);
  button.onclick = () => { old.replaceChildren(...fresh.rows); button.hidden = true; };
};

/** Puts a fragment in the place of the element with its id. */
export const replace = (id, fresh) => {
  const old = document.getElementById(id);
  if (!old || !fresh) return;
  const waiting = [...old.querySelectorAll("button.new")].map((button) => [button.hidden, button.textContent, button.onclick]);
  morph(old, fresh);
  [...old.querySelectorAll("button.new")].forEach((button, place) => {
    if (button.onclick || !waiting[place] || waiting[place][0]) return;
    [button.hidden, button.textContent, button.onclick] = waiting[place];
  });
  old.dispatchEvent(new CustomEvent("console:changed", { bubbles: true }));
};

const address = document.body.dataset.updates;
if (address) {
  let source = null;
  let last = "";
  let shown = null;
  const mark = (isOn) => {
    const live = document.querySelector(".live");
    const words = live?.querySelector("span");
    if (!words) return;
    live.classList.toggle("off", !isOn);
    if (!isOn) { shown = words.textContent; words.textContent = live.dataset.paused; } else if (shown) { words.textContent = shown; shown = null; }
  };
  const open = () => {
    source = new EventSource(last ? `${address}&after=${encodeURIComponent(last)}` : address);
    source.addEventListener("fragment", (event) => {
      if (event.lastEventId) last = event.lastEventId;
      const { id, html } = JSON.parse(event.data);
      replace(id, parse(html));
    });
    // The session has ended, or has other roles: the page that follows says so.
    source.addEventListener("ended", () => { close(); location.reload(); });
  };
  const close = () => { source?.close(); source = null; };
  const follow = () => {
    if (document.hidden) { close(); mark(false); } else if (!source) { open(); mark(true); }
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", close);
  addEventListener("pageshow", follow);
  follow();
}
