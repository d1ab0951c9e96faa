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
  // Between two tries to open a stream that was refused, at most (`Retry-After`), and until the page says that its stream is lost: the next one after the end of a
  // stream takes 3 s.
  // Unit: milliseconds.
  const pause = 5000;
  const longest = 60000;
  const lostAfter = 10000;
  let source = null;
  let waiting = null;
  let late = null;
  let shown = null;
  // `why`: the name of the words for a page that is not updated; without one, it is.
  const mark = (why) => {
    const live = document.querySelector(".live");
    const words = live?.querySelector("span");
    if (!words) return;
    live.classList.toggle("off", Boolean(why));
    if (why) { shown ??= words.textContent; words.textContent = live.dataset[why]; } else if (shown !== null) { words.textContent = shown; shown = null; }
  };
  // Each stream begins with every part of the page, whichever node answers, so that nothing is missed between two.
  const open = () => {
    const stream = new EventSource(address);
    source = stream;
    stream.addEventListener("open", () => { clearTimeout(late); late = null; mark(); });
    stream.addEventListener("fragment", (event) => {
      const { id, html } = JSON.parse(event.data);
      replace(id, parse(html));
    });
    // The session has ended, or has other roles: the page that follows says so.
    stream.addEventListener("ended", () => { close(); location.reload(); });
    // A browser connects again by itself after a lost connection, but not after an answer without a stream, such as that of a proxy whose node stops.
    stream.addEventListener("error", () => {
      if (source !== stream) return;
      if (stream.readyState !== EventSource.CLOSED) { late ??= setTimeout(() => mark("lost"), lostAfter); return; }
      close();
      mark("lost");
      waiting = setTimeout(again, pause);
    });
  };
  const again = async () => {
    waiting = null;
    const aborter = new AbortController();
    const answer = await fetch(address, { redirect: "manual", signal: aborter.signal }).catch(() => null);
    // A proxy without a node may answer 404 too, and its page must not take the place of this one: each answer of the console names the call.
    const isOurs = Boolean(answer?.headers.has("X-Request-Id"));
    const isRefused = answer?.type === "opaqueredirect" || (isOurs && [403, 404].includes(answer.status));
    const wait = Math.min(1000 * Number(answer?.headers.get("Retry-After")) || pause, longest);
    aborter.abort();
    // Nobody is signed in any longer, or the person may not see the page: the page that follows says so.
    if (isRefused) { location.reload(); return; }
    if (source || waiting) return;
    // A stream that would be refused again is not opened.
    if (answer?.ok || document.hidden) follow(); else waiting = setTimeout(again, Math.max(pause, wait));
  };
  const close = () => { clearTimeout(waiting); clearTimeout(late); waiting = late = null; source?.close(); source = null; };
  const follow = () => {
    if (document.hidden) { close(); mark("paused"); } else if (!source && !waiting) open();
    if (source?.readyState === EventSource.OPEN) mark();
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", close);
  addEventListener("pageshow", follow);
  follow();
}
