/** Code with its words in colors: strings, numbers, keywords and comments. */
import type { JSX } from "preact";

const words = {
  Python: "import|from|for|in|print|True|False|None",
  TypeScript: "import|from|const|new|await|for|of",
  SQL: "SELECT|FROM|WHERE|AND|OR|ORDER BY|GROUP BY|GROUPING SETS|LIMIT|OFFSET|AS|IN|DESC|JOIN|USING|NULL|IS|NOT|WITH|UNION ALL|BETWEEN|FILTER|DISTINCT|COPY|TO",
  curl: "curl",
  JSON: "true|false|null",
} as const;

type Language = keyof typeof words;

export interface CodeSample {
  readonly language: Language;
  readonly code: string;
}

const comments: Readonly<Partial<Record<Language, string>>> = { Python: "#.*", TypeScript: "//.*", SQL: "--.*" };

/** Returns code with its words marked by classes: `k` for keywords and keys, `s` strings, `m` numbers, `c` comments. */
function highlight(code: string, language: Language): readonly (string | JSX.Element)[] {
  const pattern = new RegExp(
    `(?<c>${comments[language] ?? "(?!)"})|(?<k>"[^"\\n]*"(?=:)|\\b(?:${words[language]})\\b)|(?<s>"(?:[^"\\\\\\n]|\\\\.)*"|'[^'\\n]*')|(?<m>(?<![\\w.-])-?\\d[\\d.]*\\b(?![\\w-]))`,
    "g",
  );
  const parts: (string | JSX.Element)[] = [];
  let end = 0;
  for (const { 0: word, index, groups = {} } of code.matchAll(pattern)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    parts.push(
      code.slice(end, index),
      <span key={index} class={kind}>
        {word}
      </span>,
    );
    end = index + word.length;
  }
  return [...parts, code.slice(end)];
}

/** Code that scrolls, with a button that copies it. */
export const CodeBlock = ({ language, code }: CodeSample): JSX.Element => (
  <div class="snippet">
    <button type="button" class="js-only" data-copy>
      Copy
    </button>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>
      <code>{highlight(code, language)}</code>
    </pre>
  </div>
);

/** The same request in several languages, one of which is shown. */
export const CodeChoice = ({ samples }: { readonly samples: readonly CodeSample[] }): JSX.Element => (
  <fieldset class="code lang">
    <legend class="vh">Language of the example</legend>
    <div class="bar">
      {samples.map(({ language }, index) => (
        <label key={language}>
          <input class="vh" type="radio" name="language" defaultChecked={index === 0} />
          {language}
        </label>
      ))}
    </div>
    {samples.map((sample) => (
      <CodeBlock key={sample.language} {...sample} />
    ))}
  </fieldset>
);
