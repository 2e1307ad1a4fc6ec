/** The code box: a sample, an answer, a request or a statement. Always dark, scrolled by keyboard, with Copy and a link to open it. */
import type { ComponentChildren, JSX } from "preact";

interface CodeBoxProps {
  /** What the code is, or links that choose it. */
  readonly title: ComponentChildren;
  readonly code: string;
  /** How its words are colored; plain without one. */
  readonly language?: "sql" | "json" | "shell";
  /** The page that runs it, such as "Open in Build". */
  readonly open?: { readonly path: string; readonly text: string };
}

export const CodeBox = ({ title, code, language, open }: CodeBoxProps): JSX.Element => (
  <div class="codebox">
    <header>
      {title}
      <span class="end">
        <button type="button" class="js-only" data-copy>
          Copy
        </button>
        {open === undefined ? null : <a href={open.path}>{open.text}</a>}
      </span>
    </header>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>
      <code>{language === undefined ? code : colored(code, language)}</code>
    </pre>
  </div>
);

/** The words of each language that have a color: keywords, then names. */
const patterns = {
  sql: /(?<word>\b(?:SELECT|FROM|WHERE|AND|OR|NOT|IN|IS|NULL|GROUP BY|ORDER BY|LIMIT|OFFSET|AS|ON|JOIN|LEFT|HAVING|DESC|ASC|NULLS|LAST|WITH|BETWEEN|CASE|WHEN|THEN|ELSE|END|DISTINCT)\b)|(?<name>'[^']*')/g,
  json: /(?<name>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<word>\b(?:true|false|null)\b)/g,
  shell: /(?<word>^(?:curl|GET|POST|carquet)\b)|(?<name>[?&][a-z_]+(?==))/gm,
} as const;

/** Returns code with its words in elements of their color. */
function colored(code: string, language: keyof typeof patterns): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of code.matchAll(patterns[language])) {
    parts.push(code.slice(end, match.index));
    parts.push(<span class={match.groups?.word === undefined ? "name" : "word"}>{match[0]}</span>);
    end = match.index + match[0].length;
  }
  return [...parts, code.slice(end)];
}
