/** Draws processor time per request by replicas, and charges a second. */
import { barY, gridY, type PlotOptions, ruleY, text } from "@observablehq/plot";
import type { ChargesCeiling, ReplicaLoad, ReplicaMix } from "./separate-results.ts";
import { chartColors, renderChart } from "./svg-chart.ts";

const { ink, grid, orange, blue, slate } = chartColors;
const layers = [
  { name: "services", color: orange, of: (load: ReplicaLoad) => load.processor_ms },
  { name: "PostgreSQL", color: blue, of: (load: ReplicaLoad) => load.postgres_ms },
  { name: "clients; pgbench with 16 connections", color: slate, of: (load: ReplicaLoad) => load.client_ms },
] as const;

const mixes = ["uncached", "cached"] as const;

/** Returns an SVG document. */
export function renderReplicas({ loads }: ReplicaMix, charges: ChargesCeiling): string {
  // The first three loads of each have the same number of clients.
  const fixed = (answers: ReplicaLoad["answers"], accounts: ReplicaLoad["accounts"]): readonly ReplicaLoad[] =>
    loads.filter((load) => load.answers === answers && load.accounts === accounts).slice(0, 3);
  const mostOf = (answers: ReplicaLoad["answers"]): number =>
    Math.max(...fixed(answers, "PostgreSQL").map((load) => layers.reduce((sum, { of }) => sum + of(load), 0)));
  return renderChart({
    title: "Replicas on one machine",
    subtitle:
      "Processor time in ms per request of the query mix; charges a second with group commit; x is the number of replicas",
    legend: layers.map(({ name, color }) => ({ name, color })),
    panels: [
      ...mixes.map((answers) => mixPanel(`${answers} mix`, fixed(answers, "PostgreSQL"), mostOf(answers))),
      chargesPanel("charges/s, 1,000 accounts", charges, 1000),
      ...mixes.map((answers) => mixPanel(`${answers}, a file each`, fixed(answers, "SQLite"), mostOf(answers))),
      chargesPanel("charges/s, one account", charges, 1),
    ],
    ...{ panelWidth: 240, panelHeight: 190, panelsPerRow: 3 },
  });
}

/** A panel with an axis from 0 to `most`. */
const frame = (title: string, max: number): PlotOptions => ({
  ...{ marginLeft: 44, marginRight: 16, marginTop: 34, marginBottom: 24 },
  x: { type: "band", tickSize: 0, label: null, padding: 0.3 },
  y: { ticks: 4, tickSize: 0, label: null, domain: [0, max], nice: true, tickFormat: "~s" },
  color: { type: "identity" },
  marks: [
    gridY({ ticks: 4, stroke: grid, strokeOpacity: 1 }),
    text([title], { frameAnchor: "top-left", dy: -24, fill: ink, fontWeight: 600 }),
  ],
});

function mixPanel(title: string, loads: readonly ReplicaLoad[], max: number): PlotOptions {
  const parts = loads.flatMap((load) =>
    layers.map(({ color, of }) => ({ replicas: load.replicas, ms: of(load), color })),
  );
  const { marks = [], ...options } = frame(title, max);
  return { ...options, marks: [...marks, barY(parts, { x: "replicas", y: "ms", fill: "color" })] };
}

function chargesPanel(title: string, { loads }: ChargesCeiling, accounts: number): PlotOptions {
  const ofAccounts = loads.filter((load) => load.accounts === accounts);
  const replicas = ofAccounts.filter(({ writer }) => writer === "PostgreSQL");
  const baseline = ofAccounts.find(({ writer, clients }) => writer === "pgbench" && clients === 16);
  const { marks = [], ...options } = frame(title, Math.max(...replicas.map((load) => load.charges_per_second)));
  return {
    ...options,
    marks: [
      ...marks,
      barY(replicas, { x: "clients", y: "charges_per_second", fill: blue }),
      ruleY([baseline?.charges_per_second ?? 0], { stroke: slate, strokeWidth: 2 }),
    ],
  };
}
