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

// The image that was chosen is shown in the preview. The server has it after the review only; the page's policy permits images of the browser itself.
for (const input of document.querySelectorAll('form[data-behaviour] input[type="file"]')) {
  const picture = new Image();
  const show = () => {
    const place = document.querySelector(".notification .picture");
    if (!place) return;
    picture.alt = place.dataset.alt;
    if (picture.hasAttribute("src")) place.append(picture); else picture.remove();
    place.hidden = place.childElementCount === 0;
  };
  input.addEventListener("change", () => {
    URL.revokeObjectURL(picture.src);
    const file = input.files[0];
    if (file?.type.startsWith("image/")) picture.src = URL.createObjectURL(file); else picture.removeAttribute("src");
    show();
  });
  // An update of the preview removes what the server did not write.
  document.addEventListener("console:changed", show);
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
