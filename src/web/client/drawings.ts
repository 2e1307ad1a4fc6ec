/**
 * Charts as files: the marks and texts of a figure, where the page shows them and in its computed colors, as SVG, and that as PNG. Written from the
 * page, so that a chart of lists and several plots is one picture in the reader's color scheme.
 */
import { on, setAttributes } from "./elements.ts";

/** Pixels of a PNG for each one of the page. */
const scale = 2;
const margin = 20;
const namespace = "http://www.w3.org/2000/svg";
const lengths = ["x", "y", "width", "height", "cx", "cy", "r", "rx", "x1", "x2", "y1", "y2"];
const styles = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "paint-order",
];
const textStyles = ["font-family", "font-size", "font-weight", "text-anchor"];

/** Handles all buttons of files, also later ones. */
export function enhanceDrawings(): void {
  on("click", "[data-draw]", async (button) => {
    const figure = button.closest("figure");
    if (figure === null) return;
    const { draw: name = "" } = button.dataset;
    const drawing = draw(figure);
    save(name, name.endsWith(".svg") ? new Blob([drawing.svg], { type: "image/svg+xml" }) : await rasterize(drawing));
  });
}

function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function rasterize({ svg, width, height }: Drawing): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(width * scale, height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/png" });
}

interface Drawing {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** Draws a figure without its controls. */
function draw(figure: HTMLElement): Drawing {
  const { left, top, width: inner } = figure.getBoundingClientRect();
  const parts: Element[] = [];
  let bottom = 0;
  const put = (part: SVGElement, x: number, y: number): void => {
    part.setAttribute(
      "transform",
      `translate(${x - left + margin} ${y - top + margin}) ${part.getAttribute("transform") ?? ""}`.trim(),
    );
    parts.push(part);
  };
  const walker = document.createTreeWalker(figure, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node instanceof Element && isLeftOut(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node instanceof SVGGraphicsElement && isMark(node)) {
      put(markOf(node), 0, 0);
      bottom = Math.max(bottom, node.getBoundingClientRect().bottom);
    } else if (node instanceof Text && node.parentElement !== null && !(node.parentElement instanceof SVGElement))
      for (const { text, rect } of linesOf(node)) {
        put(textOf(text, node.parentElement, rect.height), rect.left, rect.top);
        bottom = Math.max(bottom, rect.bottom);
      }
  }
  const width = Math.ceil(inner + 2 * margin);
  const height = Math.ceil(bottom - top + 2 * margin);
  const paper = document.createElementNS(namespace, "rect");
  setAttributes(paper, { width, height, fill: plainColor(getComputedStyle(document.body).backgroundColor) });
  const root = document.createElementNS(namespace, "svg");
  setAttributes(root, { width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(paper, ...parts);
  return { svg: new XMLSerializer().serializeToString(root), width, height };
}

/** Controls, what is hidden, and what only screen readers read. */
const isLeftOut = (element: Element): boolean =>
  element.matches("details, .tools, .end, [data-selection], .brush, .hit, .vh, title") ||
  getComputedStyle(element).display === "none" ||
  getComputedStyle(element).visibility === "hidden";

const isMark = (element: Element): boolean => element.matches("rect, circle, line, path, text");

/** Returns a mark in pixels of the window, with its style as attributes. */
function markOf(element: SVGGraphicsElement): SVGElement {
  const mark = document.createElementNS(namespace, element.tagName);
  for (const name of ["d", "dx", "dy", "vector-effect"]) {
    const value = element.getAttribute(name);
    if (value !== null) mark.setAttribute(name, value);
  }
  for (const name of lengths) {
    const length: unknown = Reflect.get(element, name);
    if (length instanceof SVGAnimatedLength) mark.setAttribute(name, String(length.baseVal.value));
    else if (length instanceof SVGAnimatedLengthList && length.baseVal.numberOfItems > 0)
      mark.setAttribute(name, String(length.baseVal.getItem(0).value));
  }
  const isText = element instanceof SVGTextElement;
  if (isText)
    mark.textContent = [...element.childNodes].map((node) => (node instanceof Text ? node.data : "")).join("");
  setStyle(mark, element, isText ? [...styles, ...textStyles] : styles);
  if (getComputedStyle(element).vectorEffect === "non-scaling-stroke")
    mark.setAttribute("vector-effect", "non-scaling-stroke");
  const { a, b, c, d, e, f } = element.getScreenCTM() ?? new DOMMatrix();
  mark.setAttribute("transform", `matrix(${[a, b, c, d, e, f].join(" ")})`);
  return mark;
}

/** Returns the lines of a text of the page, as they wrap. */
function linesOf(node: Text): readonly { readonly text: string; readonly rect: DOMRect }[] {
  const lines: { text: string; rect: DOMRect }[] = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+\s*/g)) {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const rect = range.getBoundingClientRect();
    const line = lines.at(-1);
    if (rect.width === 0) continue;
    if (line !== undefined && Math.abs(line.rect.top - rect.top) < 2) line.text += word;
    else lines.push({ text: word, rect });
  }
  return lines;
}

/** Returns a text of the page as a mark at the origin. */
function textOf(text: string, parent: Element, height: number): SVGElement {
  const mark = document.createElementNS(namespace, "text");
  mark.textContent = text.trimEnd();
  setStyle(mark, parent, textStyles);
  setAttributes(mark, { y: height * 0.78, fill: plainColor(getComputedStyle(parent).color) });
  return mark;
}

function setStyle(mark: Element, element: Element, names: readonly string[]): void {
  const computed = getComputedStyle(element);
  for (const name of names) {
    const value = computed.getPropertyValue(name);
    mark.setAttribute(name, name === "fill" || name === "stroke" ? plainColor(value) : value);
  }
}

const plainColors = new Map<string, string>();

/** Returns a color as red, green and blue, which every program reads: mixed ones are computed in other spaces. */
function plainColor(color: string): string {
  if (color === "none" || color === "") return "none";
  const known = plainColors.get(color);
  if (known !== undefined) return known;
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  if (context === null) return color;
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  const plain = `rgb(${red}, ${green}, ${blue})`;
  plainColors.set(color, plain);
  return plain;
}
