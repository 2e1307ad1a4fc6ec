/** The code box: a sample, an answer, a request or a statement. Always dark, scrolled by keyboard, with Copy and a link to open it. */
import type { ComponentChildren, JSX } from "preact";

interface CodeBoxProps {
  /** What the code is, or links that choose it. */
  readonly title: ComponentChildren;
  readonly code: string;
  /** How its words are colored; plain without one. */
  readonly language?: CodeLanguage;
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

/** The words of each language that have a color: keywords and values, names, and comments. */
const patterns = {
  sql: /(?<sign>--.*)|(?<word>\b(?:SELECT|FROM|WHERE|AND|OR|NOT|IN|IS|NULL|GROUP BY|ORDER BY|LIMIT|OFFSET|AS|ON|JOIN|LEFT|HAVING|DESC|ASC|NULLS|LAST|WITH|BETWEEN|CASE|WHEN|THEN|ELSE|END|DISTINCT)\b)|(?<name>'[^']*')/g,
  json: /(?<name>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<word>"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b)/g,
  shell:
    /(?<sign>#.*)|(?<word>^(?:curl|export|claude|GET|POST|carquet)\b)|(?<name>(?<=-d |[?&])[a-z_]+(?==)|"[^"\n]*"|'[^']*')/gm,
  python: /(?<sign>#.*)|(?<word>\b(?:import|from|for|in|print|True|False|None)\b)|(?<name>"[^"\n]*")/g,
  typescript: /(?<sign>\/\/.*)|(?<word>\b(?:import|from|const|new|await|for|of)\b)|(?<name>"[^"\n]*")/g,
} as const;

export type CodeLanguage = keyof typeof patterns;

/** Returns code with its words in elements of their color. */
export function colored(code: string, language: CodeLanguage): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of code.matchAll(patterns[language])) {
    const look = ["word", "name", "sign"].find((kind) => match.groups?.[kind] !== undefined);
    parts.push(code.slice(end, match.index));
    parts.push(<span class={look}>{match[0]}</span>);
    end = match.index + match[0].length;
  }
  return [...parts, code.slice(end)];
}
