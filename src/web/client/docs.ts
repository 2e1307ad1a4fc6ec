/**
 * The console of an operation in the docs: sends its form with the visitor's key, which this tab alone keeps, and shows the answer with its
 * time and cost. All else in the docs works without scripts.
 */
import { priceVariantOf } from "../../accounts/policy/price-variant.ts";

const keyName = "carquet-key";

/** The most characters of a body that are shown. */
const shownMax = 200_000;

interface Console {
  readonly form: HTMLFormElement;
  readonly output: HTMLOutputElement;
}

function enhanceConsole(): void {
  const form = document.querySelector<HTMLFormElement>("[data-console]");
  const output = document.querySelector<HTMLOutputElement>("output.result");
  if (form === null || output === null) return;
  const key = form.querySelector<HTMLInputElement>("[name=key]");
  if (key !== null) key.value = sessionStorage.getItem(keyName) ?? "";
  key?.addEventListener("change", () => sessionStorage.setItem(keyName, key.value));
  form.querySelector<HTMLSelectElement>("[data-add]")?.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLSelectElement) addField(form, target);
  });
  form.addEventListener("input", () => showPrice(form));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!output.hasAttribute("aria-busy")) await send({ form, output });
  });
  showPrice(form);
}

/** Adds a field for the chosen parameter: a list of its values if it takes one of them. */
function addField(form: HTMLFormElement, select: HTMLSelectElement): void {
  const chosen = select.selectedOptions[0];
  const label = element("label", "", select.value);
  const name = select.value;
  const values = chosen?.dataset.values?.split(" ");
  const field = document.createElement(values === undefined ? "input" : "select");
  Object.assign(field, { id: `console-${name}`, name, placeholder: chosen?.dataset.example }).dataset.in = "query";
  if (field instanceof HTMLSelectElement) field.append(...["", ...(values ?? [])].map((value) => new Option(value)));
  label.append(field);
  form.querySelector(".fields")?.append(label);
  chosen?.remove();
  select.value = "";
  field.focus();
}

/** Returns the filled fields of a location, by parameter. */
function valuesOf(form: HTMLFormElement, location: "path" | "query"): Readonly<Record<string, string>> {
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>(`[data-in=${location}]`)];
  return Object.fromEntries(fields.map(({ name, value }) => [name, value.trim()]).filter(([, value]) => value !== ""));
}

/** Shows on the button what the request of the form costs. */
function showPrice(form: HTMLFormElement): void {
  const { prices = "", unit = "" } = form.dataset;
  const button = form.querySelector("[type=submit]");
  if (prices === "" || button === null) return;
  const micros = prices.split(",").map(Number);
  const query = valuesOf(form, "query");
  const variant = priceVariantOf(
    { ...query, inventory_status: query.inventory_status?.toLowerCase() },
    micros.length > 4,
  );
  button.textContent = `Send for ${usdText(micros[variant] ?? 0)} ${unit}`.trim();
}

const usdText = (micros: number): string => `$${(micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, "")}`;

/** Returns the request of a form. Throws a TypeError if the key has characters that no header can have. */
function requestOf(form: HTMLFormElement): Request {
  const { method, path = "" } = form.dataset;
  const fields = new FormData(form);
  const [key, body] = ["key", "body"].map((name) => fields.get(name));
  const parts = valuesOf(form, "path");
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts[name] ?? ""));
  const query = new URLSearchParams(valuesOf(form, "query")).toString();
  return new Request(query === "" ? target : `${target}?${query}`, {
    method: method?.toUpperCase() ?? "GET",
    credentials: "omit",
    body: body ?? null,
    headers: {
      ...(key == null ? {} : { Authorization: `Bearer ${String(key).trim()}` }),
      ...(body == null ? {} : { "Content-Type": "application/json" }),
    },
  });
}

async function send({ form, output }: Console): Promise<void> {
  output.setAttribute("aria-busy", "true");
  const startedAt = performance.now();
  try {
    const response = await fetch(requestOf(form));
    const bytes = await response.blob();
    output.replaceChildren(...(await answerParts(response, bytes, performance.now() - startedAt)));
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    output.replaceChildren(element("p", "bar", `The request was not sent or not answered: ${reason}`));
  }
  output.className = "result code";
  output.removeAttribute("aria-busy");
  output.scrollIntoView({ block: "nearest" });
}

/** Returns the status with the time, the cost and a link that saves the body; the headers to unfold; and the body. */
async function answerParts(response: Response, bytes: Blob, ms: number): Promise<readonly HTMLElement[]> {
  const cost = response.headers.get("X-Usage-Cost-Micros");
  const charged = cost === null ? "not charged" : usdText(Number(cost));
  const line = element("p", "bar", `${response.status} · ${ms.toFixed(ms < 10 ? 1 : 0)} ms · ${charged}`);
  const headers = document.createElement("details");
  headers.append(
    element("summary", "", "Headers"),
    block([...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n")),
  );
  if (bytes.size === 0) return [line, headers];
  const [text, code] = await shownText(response, bytes);
  if (code !== undefined) line.append(link(`/docs/errors#${code}`, code));
  line.append(Object.assign(link(URL.createObjectURL(bytes), "Save"), { download: fileName(response) }));
  return [line, headers, block(text)];
}

/** Returns a body as text, JSON with indents and of others their size, and the code of an error. */
async function shownText({ headers }: Response, bytes: Blob): Promise<readonly [text: string, code?: string]> {
  const type = headers.get("Content-Type") ?? "";
  if (!/json|csv|text/.test(type)) return [`${bytes.size} bytes of ${type}`];
  const text = await bytes.text();
  const json = /\/json/.test(type) ? JSON.parse(text) : undefined;
  const shown = json === undefined ? text : JSON.stringify(json, null, 2);
  const more = shown.length - shownMax;
  return [more <= 0 ? shown : `${shown.slice(0, shownMax)}\n… ${more} more characters`, json?.error?.code];
}

/** Returns a name for a body: that of the download, else the end of the path with the type. */
function fileName({ headers, url }: Response): string {
  const named = /filename="([^"]+)"/.exec(headers.get("Content-Disposition") ?? "")?.[1];
  const type = /^\w+\/(?:[\w.-]*[.-])?(\w+)/.exec(headers.get("Content-Type") ?? "")?.[1] ?? "txt";
  return named ?? `${new URL(url).pathname.split("/").at(-1)}.${type}`;
}

function element(name: string, className: string, text: string): HTMLElement {
  return Object.assign(document.createElement(name), { className, textContent: text });
}

const link = (href: string, text: string): HTMLElement => Object.assign(element("a", "", text), { href });

/** Returns a text that scrolls, with a button that copies it. */
function block(text: string): HTMLElement {
  const box = element("div", "snippet", "");
  const button = element("button", "", "Copy");
  const pre = element("pre", "", text);
  Object.assign(button, { type: "button" }).dataset.copy = "";
  pre.tabIndex = 0;
  box.append(button, pre);
  return box;
}

enhanceConsole();
