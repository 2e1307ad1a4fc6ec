/** Small plots beside each other, as SVG: times against sizes, both in powers of ten. */

export interface Line {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
}

const [width, height, columns] = [230, 190, 4];
const frame = { left: 46, right: 12, top: 30, bottom: 34 } as const;
const colors: Readonly<Record<string, string>> = {
  carquet: "#c2410c",
  duckdb: "#a16207",
  clickhouse: "#1d4ed8",
  sqlite: "#64748b",
  solr: "#15803d",
};
const legendHeight = 30;

/** The panels in rows, on one scale of x, each with its own scale of y; `unit` is what x counts. */
export function plot(panels: readonly Panel[], unit: string): string {
  const rows = Math.ceil(panels.length / columns);
  const [wide, high] = [width * Math.min(columns, panels.length), height * rows + legendHeight];
  const names = [...new Set(panels.flatMap(({ lines }) => lines.map(({ name }) => name)))];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" font-family="sans-serif" font-size="10">`,
    `<rect width="${wide}" height="${high}" fill="#ffffff"/>`,
    ...names.map((name, index) => legend(name, 16 + index * 90)),
    `<text x="${wide - 12}" y="19" text-anchor="end" fill="#334155">median ms by ${unit}</text>`,
    ...panels.map((panel, index) => {
      const [left, top] = [(index % columns) * width, legendHeight + Math.floor(index / columns) * height];
      return `<g transform="translate(${left} ${top})">${drawn(panel)}</g>`;
    }),
    "</svg>\n",
  ].join("\n");
}

const colorOf = (name: string): string => colors[name] ?? "#000000";

const legend = (name: string, x: number): string =>
  `<line x1="${x}" y1="16" x2="${x + 16}" y2="16" stroke="${colorOf(name)}" stroke-width="${name === "carquet" ? 2.5 : 1.5}"/><text x="${x + 20}" y="19" fill="#334155">${name}</text>`;

/** A scale in powers of ten, from a range of values to a range of pixels. */
function scale(
  values: readonly number[],
  from: number,
  to: number,
): { readonly at: (value: number) => number; readonly ticks: readonly number[] } {
  const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  const span = Math.max(0.3, high - low);
  const [start, end] = [low - 0.05 * span, low + 1.05 * span];
  const powers = Array.from({ length: 14 }, (_, index) => 10 ** (index - 3));
  const isInside = (tick: number): boolean => Math.log10(tick) >= start && Math.log10(tick) <= end;
  const tens = powers.filter(isInside);
  const ticks = tens.length > 1 ? tens : powers.flatMap((power) => [power, 2 * power, 5 * power]).filter(isInside);
  return { at: (value) => from + ((Math.log10(value) - start) / (end - start)) * (to - from), ticks };
}

function drawn({ title, lines }: Panel): string {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(({ x }) => x))].sort((one, other) => one - other);
  const [right, bottom] = [width - frame.right, height - frame.bottom];
  const x = scale(xs, frame.left, right);
  const y = scale(
    points.map((point) => point.y),
    bottom,
    frame.top,
  );
  const grid = y.ticks.map(
    (tick) =>
      `<line x1="${frame.left}" y1="${px(y.at(tick))}" x2="${right}" y2="${px(y.at(tick))}" stroke="#e2e8f0"/><text x="${frame.left - 5}" y="${px(y.at(tick) + 3)}" text-anchor="end" fill="#64748b">${counted(tick)}</text>`,
  );
  const sizes = xs.map(
    (size) =>
      `<text x="${px(x.at(size))}" y="${bottom + 14}" text-anchor="middle" fill="#64748b">${counted(size)}</text>`,
  );
  const paths = lines.map(({ name, points }) => {
    const places = points.map((point) => `${px(x.at(point.x))},${px(y.at(point.y))}`);
    const dots = places.map((place) => {
      const [cx, cy] = place.split(",");
      return `<circle cx="${cx}" cy="${cy}" r="2" fill="${colorOf(name)}"/>`;
    });
    return `<polyline points="${places.join(" ")}" fill="none" stroke="${colorOf(name)}" stroke-width="${name === "carquet" ? 2.5 : 1.5}"/>${dots.join("")}`;
  });
  return [
    `<text x="${frame.left}" y="18" font-weight="bold" fill="#0f172a">${title}</text>`,
    ...grid,
    ...sizes,
    ...paths,
  ].join("");
}

const px = (value: number): string => value.toFixed(1);

const counted = (value: number): string =>
  value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)));
