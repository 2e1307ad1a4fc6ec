/**
 * The form of an operation in Build: its sample follows what is typed, and answers are shown without leaving the page. The service draws all of
 * it, so that everything works without scripts.
 */
import { afterPause } from "./elements.ts";

const typed = afterPause();

function enhance(form: HTMLFormElement): void {
  // The fields of the form outside it, such as the language, send events to the document.
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLElement && "form" in target && "name" in target)) return;
    if (target.form === form && target.name !== "language") typed((signal) => follow(form, signal));
  });
  form.addEventListener("submit", (event) => {
    if (form.method !== "post") return;
    event.preventDefault();
    const answer = document.querySelector("#answer");
    if (answer?.hasAttribute("aria-busy") === false) send(form, answer);
  });
}

/** Shows the sample and the price of the request that the form has. */
async function follow(form: HTMLFormElement, signal: AbortSignal): Promise<void> {
  const fields = [...fieldsOf(form)].filter(([name, value]) => name !== "csrf_token" && value !== "");
  const kept = new URLSearchParams(location.search).has("key") ? [["key", "shown"]] : [];
  try {
    const response = await fetch(`${location.pathname}?${new URLSearchParams([...fields, ...kept])}`, { signal });
    if (response.ok) replace(await response.text(), [".sample", ".sends"]);
  } catch {
    // The next change asks again.
  }
}

async function send(form: HTMLFormElement, answer: Element): Promise<void> {
  answer.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(fieldsOf(form)) });
    if (!replace(await response.text(), ["#answer", "#balance"])) form.submit();
  } catch (thrown) {
    answer.textContent = `The request was not sent or not answered: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
  answer.removeAttribute("aria-busy");
  answer.scrollIntoView({ block: "nearest" });
}

const fieldsOf = (form: HTMLFormElement): [string, string][] =>
  [...new FormData(form)].map(([name, value]) => [name, String(value)]);

/** Replaces elements by those of another document. Returns false if it has not the first one: it is another page. */
function replace(html: string, selectors: readonly [string, ...string[]]): boolean {
  const other = new DOMParser().parseFromString(html, "text/html");
  if (other.querySelector(selectors[0]) === null) return false;
  for (const selector of selectors) {
    const found = other.querySelector(selector);
    if (found !== null) document.querySelector(selector)?.replaceChildren(...found.childNodes);
  }
  return true;
}

const form = document.querySelector<HTMLFormElement>("form[data-request]");
if (form !== null) enhance(form);
