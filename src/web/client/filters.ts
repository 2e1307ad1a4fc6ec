/** Filters that send themselves: a change opens the next view with the focus, the scroll and the open sections of the one before. */

/** Keeps, separated by spaces: the scroll, the id of the field that was changed, and those of the open sections. */
const storageName = "carquet-filters";

/** Sends the form of the filters when one of its fields changes; the fields of a page to which a reader returns are those of its view. */
export function enhanceFilters(): void {
  const form = document.querySelector<HTMLFormElement>("[data-view-form]");
  if (form === null) return;
  addEventListener("pageshow", () => {
    form.reset();
    restore();
  });
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement) || target.form !== form) return;
    // On phones, the address keeps the filters open.
    form.action = `/shop${location.hash}`;
    form.requestSubmit();
    const open = [...form.querySelectorAll("details[open]")].map(({ id }) => id);
    sessionStorage.setItem(storageName, [scrollY, target.id, ...open].join(" "));
  });
  // The button and Enter lead to the cars.
  form.addEventListener("submit", ({ submitter }) => {
    if (submitter === null) return;
    form.action = "/shop";
    sessionStorage.removeItem(storageName);
  });
  // A page with a fragment is first scrolled to that, before it is shown.
  if (location.hash === "") restore();
}

function restore(): void {
  const kept = sessionStorage.getItem(storageName);
  if (kept === null) return;
  sessionStorage.removeItem(storageName);
  const [top, focus = "", ...open] = kept.split(" ");
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  document.getElementById(focus)?.focus({ preventScroll: true });
  scrollTo({ top: Number(top) });
}
