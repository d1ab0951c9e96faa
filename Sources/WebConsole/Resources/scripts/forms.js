// Forms: counters of bytes, and previews while typing. Sending needs no script.

// Limits are those of the text in UTF-8, in which a Korean character has three bytes.
const encoder = new TextEncoder();
const count = (field) => {
  let counter = field.parentElement.querySelector(".counter");
  if (!counter) {
    counter = document.createElement("p");
    counter.className = "counter small muted";
    field.after(counter);
  }
  counter.textContent = `${encoder.encode(field.value).length} / ${field.dataset.limit} ${field.dataset.unit}`;
};
for (const field of document.querySelectorAll("[data-limit]")) {
  count(field);
  field.addEventListener("input", () => count(field));
}

// The second button of a form with a behaviour makes a preview. Its page has the same cards; those outside of the form are changed in place.
for (const form of document.querySelectorAll("form[data-behaviour]")) {
  const button = form.querySelector("button[data-second]");
  const module = document.querySelector('script[src*="/live-"]')?.src;
  if (!button || !module) continue;
  let timer = null;
  let running = null;
  const preview = async () => {
    running?.abort();
    running = new AbortController();
    try {
      const data = new FormData(form);
      const body = form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
      const answer = await fetch(button.formAction, { method: "POST", body, signal: running.signal, headers: { Accept: "text/html" } });
      if (!answer.ok && answer.status !== 422) return;
      const { parsePage, replace } = await import(module);
      const page = parsePage(await answer.text());
      for (const card of page.querySelectorAll("main .card[id], main .summary[id]")) {
        if (!document.getElementById(card.id)?.contains(form)) replace(card.id, card);
      }
    } catch (error) {
      if (error.name !== "AbortError") return;
    }
  };
  form.addEventListener("input", (event) => {
    if (event.target.type === "file") return;
    clearTimeout(timer);
    timer = setTimeout(preview, 400);
  });
}
