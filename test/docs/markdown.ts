/** The documentation as data: its files, fenced blocks, links and headings. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { projectPath } from "../../src/base/project-files.ts";

/** The pages whose commands, links and tables are checked, relative to the project. */
export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(projectPath("docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];

/** A fenced block: the first word of its info string is the language, all others are flags. */
export interface FencedBlock {
  /** The page and the line of the opening fence, for messages: `docs/api.md:12`. */
  readonly location: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly flags: readonly string[];
  readonly text: string;
}

export const pageText = (page: string): string => readFileSync(projectPath(page), "utf8");

/** Returns the fenced blocks of a page, in order. */
export function fencedBlocks(page: string): readonly FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let opened: { line: number; info: string; lines: string[] } | undefined;
  for (const [index, line] of pageText(page).split("\n").entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence === null) opened?.lines.push(line);
    else if (opened === undefined) opened = { line: index + 1, info: fence[1] ?? "", lines: [] };
    else {
      const [language = "", ...flags] = opened.info.trim().split(/\s+/);
      const { line: first, lines } = opened;
      blocks.push({ location: `${page}:${first}`, line: first, language, flags, text: lines.join("\n") });
      opened = undefined;
    }
  }
  return blocks;
}

/** Returns the value of a flag `name=value`. */
export const flagOf = ({ flags }: FencedBlock, name: string): string | undefined =>
  flags.find((flag) => flag.startsWith(`${name}=`))?.slice(name.length + 1);

export function rewriteBlocks(page: string, texts: ReadonlyMap<FencedBlock, string>): void {
  const lines = pageText(page).split("\n");
  const lastFirst = [...texts].sort(([a], [b]) => b.line - a.line);
  for (const [{ line, text }, replacement] of lastFirst)
    lines.splice(line, text.split("\n").length, ...replacement.split("\n"));
  writeFileSync(projectPath(page), lines.join("\n"));
}

/** Returns a page without its fenced blocks and inline code, in which brackets are no links. */
function prose(page: string): string {
  return pageText(page)
    .replaceAll(/^```.*?^```$/gms, "")
    .replaceAll(/`[^`\n]*`/g, "`code`");
}

/** Returns the targets of all links and images of a page, those to other sites included. */
export function linksIn(page: string): readonly string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? "");
}

/** Returns the anchors of a page's headings, spelled as GitHub spells them. */
export function anchorsIn(page: string): readonly string[] {
  const headings = pageText(page)
    .replaceAll(/^```.*?^```$/gms, "")
    .matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    (heading ?? "")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-"),
  );
}
