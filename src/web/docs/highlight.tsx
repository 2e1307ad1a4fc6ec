/** Colors the words of code: strings, numbers, keywords and comments. Only its look depends on them. */
import type { JSX } from "preact";

const words = {
  Python: "import|from|for|in|print|True|False|None",
  TypeScript: "import|from|const|new|await|for|of",
  SQL: "SELECT|FROM|WHERE|AND|OR|ORDER BY|GROUP BY|GROUPING SETS|LIMIT|OFFSET|AS|IN|DESC|JOIN|USING|NULL|IS|NOT|WITH|UNION ALL|BETWEEN|FILTER|DISTINCT|COPY|TO",
  curl: "curl",
  JSON: "true|false|null",
} as const;

export type Language = keyof typeof words;

const comments: Readonly<Partial<Record<Language, string>>> = { Python: "#.*", TypeScript: "//.*", SQL: "--.*" };

/** Returns code with its words marked by classes: `k` for keywords and keys, `s` strings, `m` numbers, `c` comments. */
export function highlight(code: string, language: Language): readonly (string | JSX.Element)[] {
  const comment = comments[language] ?? "(?!)";
  const pattern = new RegExp(
    `(?<c>${comment})|(?<k>"[^"\\n]*"(?=:)|\\b(?:${words[language]})\\b)|(?<s>"(?:[^"\\\\\\n]|\\\\.)*"|'[^'\\n]*')|(?<m>(?<![\\w.-])-?\\d[\\d.]*\\b(?![\\w-]))`,
    "g",
  );
  const parts: (string | JSX.Element)[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? ["c"];
    parts.push(
      code.slice(end, match.index),
      <span key={match.index} class={kind}>
        {match[0]}
      </span>,
    );
    end = match.index + match[0].length;
  }
  return [...parts, code.slice(end)];
}
