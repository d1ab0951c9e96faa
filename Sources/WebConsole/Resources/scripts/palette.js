// The palette: Control or Command and K. Pages of the menu, actions at the heading of the page, apps, and a search for anything else, such as a pasted ID or
// phone number.

const dialog = document.getElementById("palette");
const input = document.getElementById("palette-input");
const list = document.getElementById("palette-list");
const find = document.querySelector("form.search");

if (dialog && input && list) {
  const words = document.getElementById("palette-find")?.content.textContent ?? "";
  let at = 0;
  let items = [];

  const choose = (index) => {
    at = items.length ? (index + items.length) % items.length : 0;
    [...list.children].forEach((item, place) => item.setAttribute("aria-selected", place === at));
    if (items.length) input.setAttribute("aria-activedescendant", `palette-${at}`); else input.removeAttribute("aria-activedescendant");
  };

  const show = () => {
    const text = input.value.trim().toLowerCase();
    const places = [".sidebar a[href]:not(.brand)", "main .head .btn", ".menu.app .sheet > a"];
    items = places
      .flatMap((place) => [...document.querySelectorAll(place)])
      .filter((link) => link.textContent.toLowerCase().includes(text))
      .slice(0, 10)
      .map((link) => ({ label: link.querySelector("span")?.textContent ?? link.textContent, run: () => link.click() }));
    if (text && find) {
      const value = input.value.trim();
      items.push({ label: `${words}: ${value.slice(0, 80)}`, run: () => { find.querySelector("input[name=value]").value = value; find.requestSubmit(); } });
    }
    list.replaceChildren(...items.map((item, place) => {
      const row = document.createElement("li");
      row.id = `palette-${place}`;
      row.setAttribute("role", "option");
      row.textContent = item.label;
      row.addEventListener("click", () => { dialog.close(); item.run(); });
      return row;
    }));
    choose(0);
  };

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.altKey) return;
    event.preventDefault();
    if (dialog.open) { dialog.close(); return; }
    input.value = "";
    dialog.showModal();
    show();
  });
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); choose(at + 1); }
    if (event.key === "ArrowUp") { event.preventDefault(); choose(at - 1); }
    if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); const item = items[at]; dialog.close(); item?.run(); }
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}
