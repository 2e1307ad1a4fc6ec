/** The console of an operation: sends its form with the visitor's key, which this tab alone keeps, and shows the answer with its time and cost. */
import { priceVariantOf } from "../../accounts/policy/price-variant.ts";

const keyName = "carquet-key";

/** The most characters of a body that are shown. */
const shownMax = 200_000;

/** Handles the console of the page. */
export function enhanceConsole(): void {
  const form = document.querySelector<HTMLFormElement>("[data-console]");
  const output = document.querySelector<HTMLOutputElement>("output.result");
  if (form === null || output === null) return;
  const key = form.querySelector<HTMLInputElement>("[name=key]");
  if (key !== null) key.value = sessionStorage.getItem(keyName) ?? "";
  key?.addEventListener("change", () => sessionStorage.setItem(keyName, key.value));
  form.querySelector<HTMLSelectElement>("[data-add]")?.addEventListener("change", (event) => {
    if (event.target instanceof HTMLSelectElement) addField(form, event.target);
  });
  form.addEventListener("input", () => showPrice(form));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await send(form, output, key?.value);
  });
  showPrice(form);
}

/** Adds a field for the chosen parameter: a list of its values if it takes one of them. */
function addField(form: HTMLFormElement, select: HTMLSelectElement): void {
  const name = select.value;
  if (name === "") return;
  const described = document.getElementById(`param-${name}`);
  const values = [...(described?.querySelectorAll(".values code") ?? [])].map(({ textContent }) => textContent ?? "");
  const isChoice = values.length > 0 && described?.querySelector("dt span")?.textContent?.startsWith("one of") === true;
  const label = document.createElement("label");
  label.htmlFor = `console-${name}`;
  label.textContent = name;
  const field = document.createElement(isChoice ? "select" : "input");
  Object.assign(field, { id: label.htmlFor, name });
  field.dataset.in = "query";
  if (field instanceof HTMLSelectElement) field.append(...values.map((value) => new Option(value)));
  else field.placeholder = described?.querySelector(".eg code")?.textContent ?? "";
  form.querySelector(".fields")?.append(label, field);
  select.selectedOptions[0]?.remove();
  select.value = "";
  field.focus();
  showPrice(form);
}

/** Returns the filled fields of a place, by parameter. */
function valuesOf(form: HTMLFormElement, place: "path" | "query"): ReadonlyMap<string, string> {
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>(`[data-in=${place}]`)];
  return new Map(fields.filter(({ value }) => value.trim() !== "").map(({ name, value }) => [name, value.trim()]));
}

/** Shows on the button what the request of the form costs. */
function showPrice(form: HTMLFormElement): void {
  const { prices = "", unit = "" } = form.dataset;
  const button = form.querySelector("[type=submit]");
  if (prices === "" || button === null) return;
  const micros = prices.split(",").map(Number);
  const query = Object.fromEntries(
    [...valuesOf(form, "query")].map(([name, value]) => [
      name,
      name === "inventory_status" ? value.toLowerCase() : value,
    ]),
  );
  const price = micros[priceVariantOf(query, micros.length > 4)] ?? 0;
  button.textContent = `Send for ${usdText(price)}${unit === "" ? "" : ` ${unit.replace("each", "per")}`}`;
}

const usdText = (micros: number): string => `$${(micros / 1_000_000).toFixed(6).replace(/0{1,3}$/, "")}`;

async function send(form: HTMLFormElement, output: HTMLElement, key: string | undefined): Promise<void> {
  const { method = "get", path = "" } = form.dataset;
  const parts = valuesOf(form, "path");
  const query = new URLSearchParams([...valuesOf(form, "query")]).toString();
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts.get(name) ?? ""));
  const body = form.querySelector<HTMLTextAreaElement>("[name=body]")?.value;
  const headers = new Headers(key === undefined ? {} : { Authorization: `Bearer ${key.trim()}` });
  if (body !== undefined) headers.set("Content-Type", "application/json");
  output.setAttribute("aria-busy", "true");
  const startedAt = performance.now();
  try {
    const init = { method: method.toUpperCase(), headers, credentials: "omit" as const };
    const response = await fetch(query === "" ? target : `${target}?${query}`, {
      ...init,
      ...(body === undefined ? {} : { body }),
    });
    const bytes = await response.blob();
    const text = await shownText(response, bytes);
    show(output, [statusLine(response, performance.now() - startedAt), headerText(response), text], bytes);
  } catch (thrown) {
    show(output, [`The request was not answered: ${thrown instanceof Error ? thrown.message : String(thrown)}`]);
  }
  output.removeAttribute("aria-busy");
}

function statusLine(response: Response, ms: number): string {
  const cost = response.headers.get("X-Usage-Cost-Micros");
  const charged = cost === null ? "not charged" : usdText(Number(cost));
  return `${response.status} · ${ms.toFixed(ms < 10 ? 1 : 0)} ms · ${charged}`;
}

const headerText = ({ headers }: Response): string =>
  [...headers].map(([name, value]) => `${name}: ${value}`).join("\n");

/** Returns a body as text: JSON with indents, and the size of what is no text. */
async function shownText({ headers }: Response, bytes: Blob): Promise<string> {
  const type = headers.get("Content-Type") ?? "";
  if (!/json|csv|text/.test(type)) return `${bytes.size} bytes of ${type}`;
  const text = await bytes.text();
  const shown = /\/json/.test(type) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return shown.length <= shownMax ? shown : `${shown.slice(0, shownMax)}\n… ${shown.length - shownMax} more characters`;
}

/** Shows the status, the headers to unfold, and the body with a link that saves it. */
function show(output: HTMLElement, [status = "", headers, body]: readonly string[], bytes?: Blob): void {
  const line = document.createElement("p");
  line.className = "bar";
  line.textContent = status;
  output.className = "result code";
  output.replaceChildren(line);
  if (headers === undefined || body === undefined || bytes === undefined) return;
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = "Headers";
  details.append(summary, block(headers));
  const link = document.createElement("a");
  Object.assign(link, { href: URL.createObjectURL(bytes), download: "answer", textContent: "Save" });
  line.append(link);
  output.append(details, block(body));
}

function block(text: string): HTMLElement {
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.textContent = text;
  return pre;
}
