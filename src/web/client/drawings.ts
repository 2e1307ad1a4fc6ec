/** Charts as files: the drawing of a figure that the page shows, with its title and in its computed colors, as SVG, and that as PNG. */
import { on, setAttributes } from "./elements.ts";

/** Pixels of a PNG for each one of the page. */
const scale = 2;
const margin = 20;
/** The height of a line of the title, and the width of a letter, of the size of the font. */
const lineHeight = 1.35;
const letterWidth = 0.58;
const namespace = "http://www.w3.org/2000/svg";
const styles = [
  ...["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linejoin"],
  ...["paint-order", "font-family", "font-size", "font-weight", "text-anchor", "display"],
];

/** Handles all buttons of files, also later ones. */
export function enhanceDrawings(): void {
  on("click", "[data-draw]", async (button) => {
    const figure = button.closest("figure");
    const chart = [...(figure?.querySelectorAll("svg") ?? [])].find((svg) => svg.getBoundingClientRect().width > 0);
    if (figure === null || chart === undefined) return;
    const { draw: name = "" } = button.dataset;
    const drawing = draw(figure, chart);
    const svg = new XMLSerializer().serializeToString(drawing);
    const content = name.endsWith(".svg") ? new Blob([svg], { type: "image/svg+xml" }) : await rasterize(drawing, svg);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
}

async function rasterize(drawing: Element, svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const lengthOf = (name: string): number => scale * Number(drawing.getAttribute(name));
  const canvas = new OffscreenCanvas(lengthOf("width"), lengthOf("height"));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/png" });
}

/** Returns a chart below the title and the subtitle of its figure, on the paper of the page. */
function draw(figure: Element, chart: SVGSVGElement): Element {
  const box = chart.getBoundingClientRect();
  const width = Math.ceil(box.width);
  const texts: Element[] = [];
  let top = margin;
  for (const element of figure.querySelectorAll("figcaption h2, figcaption .of")) {
    const { color, fontFamily, fontSize, fontWeight } = getComputedStyle(element);
    const size = Number.parseFloat(fontSize);
    for (const line of linesOf(element.textContent.trim(), width / (size * letterWidth))) {
      top += size * lineHeight;
      const text = document.createElementNS(namespace, "text");
      const font = { "font-family": fontFamily, "font-size": fontSize, "font-weight": fontWeight };
      setAttributes(text, { x: margin, y: top - size * 0.3, fill: color, ...font });
      text.textContent = line;
      texts.push(text);
    }
  }
  const inner = styled(chart);
  setAttributes(inner, { x: margin, y: top + 8, width, height: Math.ceil(box.height) });
  const size = { width: width + 2 * margin, height: Math.ceil(top + 8 + box.height + margin) };
  const paper = document.createElementNS(namespace, "rect");
  setAttributes(paper, { ...size, fill: getComputedStyle(document.body).backgroundColor });
  const root = document.createElementNS(namespace, "svg");
  setAttributes(root, { ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  root.append(paper, ...texts, inner);
  return root;
}

/** Returns the lines of a text, each of at most `lettersMax` letters unless a word is longer. */
const linesOf = (text: string, lettersMax: number): readonly string[] =>
  text.match(new RegExp(`(.{1,${Math.max(1, Math.floor(lettersMax))}})(\\s+|$)|\\S+`, "g")) ?? [];

/** Returns a copy of a drawing with its computed style as attributes. */
function styled(chart: SVGSVGElement): Element {
  const copy = document.importNode(chart, true);
  const originals = [chart, ...chart.querySelectorAll("*")];
  for (const [index, element] of [copy, ...copy.querySelectorAll("*")].entries()) {
    const computed = getComputedStyle(originals[index] ?? chart);
    setAttributes(element, Object.fromEntries(styles.map((name) => [name, computed.getPropertyValue(name)])));
  }
  return copy;
}
