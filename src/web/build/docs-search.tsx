/** The search of the docs: operations, parameters, errors and the sections of guides that have all words of a question. */
import type { JSX } from "preact";
import { document } from "../../contract/document.ts";
import { errors } from "../../contract/errors.ts";
import { guides } from "./guides.ts";
import { anchorOf } from "./markdown.tsx";
import { conventionsPath, errorsPath } from "./navigation.ts";
import { errorCodes, errorMessage, operationDocs } from "./operation-docs.ts";

interface SearchEntry {
  readonly kind: "operation" | "parameter" | "error" | "guide";
  readonly title: string;
  readonly path: string;
  readonly text: string;
  /** Other words that it is found by. */
  readonly words: string;
}

/** Returns all entries, in the order in which equal matches are shown. */
function searchEntries(): readonly SearchEntry[] {
  return [
    ...operationDocs.map(({ title, path, description, operation }) => ({
      kind: "operation" as const,
      title,
      path,
      text: shortened(description),
      words: `${operation.path} ${operation.id}`,
    })),
    ...parameterEntries(),
    ...errorCodes.map((code) => ({
      kind: "error" as const,
      title: code,
      path: `${errorsPath}#${code}`,
      text: errorMessage(code),
      words: String(errors[code][0]),
    })),
    ...sectionEntries("Conventions", `# Conventions\n${document.info.description}`, conventionsPath),
    ...guides.flatMap(({ title, markdown, path }) => sectionEntries(title, markdown, path)),
  ];
}

/** Returns an entry for each name of a parameter, which leads to the first operation that has it. */
const parameterEntries = (): readonly SearchEntry[] =>
  operationDocs
    .flatMap(({ path, parameters, title, operation }) =>
      [
        ...parameters,
        ...Object.entries(operation.requestBody?.properties ?? {}).map(([name, property]) => ({ ...property, name })),
      ].map(({ name, description }) => ({
        kind: "parameter" as const,
        title: name,
        path: `${path}#param-${name}`,
        text: shortened(description),
        words: title,
      })),
    )
    .filter(({ title }, index, all) => all.findIndex((one) => one.title === title) === index);

/** Returns an entry for each heading of a text, with the first sentences below it. */
const sectionEntries = (title: string, markdown: string, path: string): readonly SearchEntry[] =>
  markdown
    .replaceAll(/^```.*?^```$/gms, "")
    .split(/^(?=#{1,3} )/m)
    .filter((section) => section.startsWith("#"))
    .map((section, index) => {
      const heading = /^#+ (.*)/.exec(section)?.[1] ?? "";
      return {
        kind: "guide" as const,
        title: heading.replaceAll("`", ""),
        words: index === 0 ? "" : title,
        path: index === 0 ? path : `${path}#${anchorOf(heading)}`,
        text: shortened(section.replace(/.*/, "")),
      };
    });

/** The most characters of an entry's text. */
const textMax = 140;

function shortened(text = ""): string {
  const plain = text
    .replaceAll(/!\[.*?\]\(.*?\)/gs, "")
    .replaceAll(/[`*|]|\]\([^)]*\)|\[/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return plain.length <= textMax ? plain : `${plain.slice(0, textMax - 1).replace(/\s\S*$/, "")}…`;
}

let entries: readonly SearchEntry[] | undefined;

/** Returns the entries that have all words of a question, best first. The first search reads all texts, which takes some milliseconds. */
export function searchDocs(question: string): readonly SearchEntry[] {
  entries ??= searchEntries();
  const wanted = question.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  if (wanted.length === 0) return [];
  return entries
    .map((entry) => [entry, scoreOf(entry, wanted)] as const)
    .filter(([, score]) => score > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([entry]) => entry);
}

/** Returns 0 if a word is missing. Titles count most, and words that begin with a wanted one more than those that contain it. */
function scoreOf({ title, text, words }: SearchEntry, wanted: readonly string[]): number {
  const name = title.toLowerCase();
  const scores = wanted.map((word) =>
    Math.max(8 * nearness(name, word), 3 * nearness(words.toLowerCase(), word), nearness(text.toLowerCase(), word)),
  );
  if (scores.includes(0)) return 0;
  return scores.reduce((sum, score) => sum + score, name === wanted.join(" ") ? 16 : 0);
}

/** Returns 1 if a text has a word, 0.75 if one of its words begins with it, 0.5 if one contains it, else 0. */
function nearness(text: string, word: string): number {
  const at = (pattern: string): boolean => new RegExp(pattern, "u").test(text);
  if (!text.includes(word)) return 0;
  if (at(`(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`)) return 1;
  return at(`(?<![\\p{L}\\p{N}])${word}`) ? 0.75 : 0.5;
}

/** The most results of a page. */
const resultsMax = 50;

/** The results as a list; the title of their page counts them. */
export const SearchResults = ({ found }: { readonly found: readonly SearchEntry[] }): JSX.Element => (
  <div class="stack">
    {found.length > resultsMax ? <p class="mute">The first {resultsMax} are shown.</p> : null}
    <dl class="terms" id="results">
      {found.slice(0, resultsMax).map(({ kind, title, path, text }) => (
        <div key={path}>
          <dt>
            <a href={path}>{title}</a> <small>{kind}</small>
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  </div>
);
