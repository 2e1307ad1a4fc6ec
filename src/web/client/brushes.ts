/**
 * Histograms whose bars are links: a drag across bars, or moving an end of the selection by keyboard, selects a range. The result is words and a link
 * below the plot. Without a selection, a bar is a link as without scripts.
 */
import { on } from "./elements.ts";

interface Selection {
  /** The first bar, and the one after the last. */
  readonly from: number;
  readonly until: number;
}

/** Pointers that move less than this many pixels do not drag. */
const dragPx = 4;
const slotsPerShift = 5;

/** Handles all histograms, also later ones. What a selection changes, the next view resets. */
export function enhanceBrushes(): void {
  document.addEventListener("pointerdown", startDrag);
  document.addEventListener("dragstart", (event) => {
    if (plotOf(event.target) !== null) event.preventDefault();
  });
  document.addEventListener("keydown", moveByKey);
  on("click", "[data-selection] button", (button) => {
    const plot = button.closest("figure")?.querySelector<SVGSVGElement>("[data-brush]");
    if (plot != null) select(plot, all(plot));
  });
}

const plotOf = (target: EventTarget | null): SVGSVGElement | null =>
  target instanceof Element ? target.closest<SVGSVGElement>("svg[data-brush]") : null;

const slotsOf = (plot: Element): readonly SVGAElement[] => [...plot.querySelectorAll<SVGAElement>("a.slot")];
const all = (plot: Element): Selection => ({ from: 0, until: slotsOf(plot).length });

function selectionOf(plot: SVGSVGElement): Selection {
  const [lowest, highest] = [...plot.querySelectorAll(".handle")].map((handle) => Number(handle.ariaValueNow));
  return { from: lowest ?? 0, until: highest ?? 0 };
}

function startDrag(event: PointerEvent): void {
  const plot = plotOf(event.target);
  if (plot === null || event.button !== 0) return;
  const handles = [...plot.querySelectorAll(".handle")];
  const held = handles.findIndex((handle) => event.target instanceof Element && handle.contains(event.target));
  const before = selectionOf(plot);
  const start = barAt(plot, event.clientX);
  let isDragged = false;
  const onMove = ({ clientX }: PointerEvent): void => {
    isDragged ||= Math.abs(clientX - event.clientX) >= dragPx;
    if (!isDragged) return;
    const at = barAt(plot, clientX);
    if (held < 0) select(plot, { from: Math.floor(Math.min(start, at)), until: Math.ceil(Math.max(start, at)) });
    else select(plot, movedEnd(before, held, Math.round(at)));
  };
  const onEnd = (): void => {
    ending.abort();
    if (isDragged) dropNextClick();
  };
  const ending = new AbortController();
  document.addEventListener("pointermove", onMove, ending);
  for (const name of ["pointerup", "pointercancel"] as const) document.addEventListener(name, onEnd, ending);
}

/** A drag ends on a bar without following its link. */
function dropNextClick(): void {
  const drop = (event: Event): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("click", drop, { capture: true, once: true });
  setTimeout(() => document.removeEventListener("click", drop, { capture: true }));
}

/** Returns where a pointer is, in bars. */
function barAt(plot: SVGSVGElement, clientX: number): number {
  const { left, width } = plot.getBoundingClientRect();
  const { until: count } = all(plot);
  return Math.min(count, Math.max(0, ((clientX - left) / width) * count));
}

/** Returns a selection with one end moved, and at least one bar. */
const movedEnd = ({ from, until }: Selection, end: number, at: number): Selection =>
  end === 0 ? { from: Math.min(at, until - 1), until } : { from, until: Math.max(at, from + 1) };

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

function moveByKey(event: KeyboardEvent): void {
  const plot = plotOf(event.target);
  const { target, key } = event;
  const handle = target instanceof Element ? target.closest(".handle") : null;
  if (plot === null || handle === null || event.ctrlKey || event.metaKey || event.altKey) return;
  const end = [...plot.querySelectorAll(".handle")].indexOf(handle);
  const selection = selectionOf(plot);
  const { until: count } = all(plot);
  const at = end === 0 ? selection.from : selection.until;
  const step = steps[key];
  const next = step === undefined ? { Home: 0, End: count }[key] : at + step * (event.shiftKey ? slotsPerShift : 1);
  if (next !== undefined) select(plot, movedEnd(selection, end, Math.min(count, Math.max(0, next))));
  else if (key === "Escape") select(plot, all(plot));
  else if (key === "Enter") plot.closest("figure")?.querySelector<HTMLElement>("[data-selection] .made a")?.click();
  else return;
  event.preventDefault();
}

/** Shows a selection: its bars, its ends, and its words. All bars are none. */
function select(plot: SVGSVGElement, { from, until }: Selection): void {
  const slots = slotsOf(plot);
  const isMade = until - from < slots.length;
  const percent = (at: number): string => `${(100 * at) / slots.length}%`;
  for (const [index, slot] of slots.entries())
    slot.setAttribute("class", isMade && (index < from || index >= until) ? "slot beyond" : "slot");
  const selected = plot.querySelector(".selected");
  selected?.setAttribute("x", percent(from));
  selected?.setAttribute("width", isMade ? percent(until - from) : "0%");
  const texts = [textsOf(slots[from])[0], textsOf(slots[until - 1])[1]];
  for (const [index, handle] of [...plot.querySelectorAll(".handle")].entries()) {
    const at = index === 0 ? from : until;
    handle.ariaValueNow = String(at);
    handle.ariaValueText = texts[index] ?? "";
    for (const [mark, names] of [
      ["line", ["x1", "x2"]],
      ["rect", ["x"]],
    ] as const)
      for (const name of names) handle.querySelector(mark)?.setAttribute(name, percent(at));
  }
  const words = plot.closest("figure")?.querySelector<HTMLElement>("[data-selection]");
  if (words != null) describe(words, plot, isMade ? slots.slice(from, until) : []);
}

const textsOf = (slot: SVGAElement | undefined): readonly string[] => (slot?.dataset.texts ?? "").split(" to ");

/** Writes what bars hold, and the link that filters by them; hides both without bars. */
function describe(words: HTMLElement, plot: SVGSVGElement, slots: readonly SVGAElement[]): void {
  const first = slots[0];
  const last = slots.at(-1);
  const rest = words.querySelector<HTMLElement>(".rest");
  const made = words.querySelector<HTMLElement>(".made");
  if (rest === null || made === null) return;
  rest.hidden = first !== undefined;
  made.hidden = first === undefined;
  if (first === undefined || last === undefined) return;
  const lowest = textsOf(first)[0];
  const highest = textsOf(last)[1];
  setText(made.querySelector("[data-range]"), lowest === highest ? lowest : `${lowest} to ${highest}`);
  const totals = (plot.dataset.totals ?? "").split(",").map(Number);
  const about = slots.some((slot) => slot.dataset.rough !== undefined) ? "about " : "";
  for (const [index, holds] of [...made.querySelectorAll("[data-holds]")].entries()) {
    const listings = slots.reduce((sum, { dataset }) => sum + Number((dataset.counts ?? "").split(",")[index]), 0);
    const share = ((100 * listings) / (totals[index] ?? 1)).toFixed(1);
    setText(holds, `${about}${listings.toLocaleString("en-US")} (${share}%)`);
  }
  const link = made.querySelector("a");
  if (link !== null) link.href = rangeUrl(plot, first, last);
}

function setText(element: Element | null, text = ""): void {
  if (element !== null) element.textContent = text;
}

/** Returns the view of the listings between two bars: that of the first, with the upper bound of the last. */
function rangeUrl(plot: SVGSVGElement, first: SVGAElement, last: SVGAElement): string {
  const [url, end] = [first, last].map((bar) => new URL(bar.href.baseVal, location.href));
  const maxName = plot.dataset.brush?.split(",")[1] ?? "";
  url?.searchParams.set(maxName, end?.searchParams.get(maxName) ?? "");
  return url?.href.replaceAll("%2C", ",") ?? "";
}
