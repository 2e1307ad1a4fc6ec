/** The results of a search of the docs as a page, for browsers without scripts and for sharing. */
import type { JSX } from "preact";
import { matches, type SearchEntry } from "../client/docs-match.ts";

/** The most results of a page. */
const resultsMax = 50;

interface SearchPageProps {
  readonly question: string;
  readonly entries: readonly SearchEntry[];
}

export const DocsSearchPage = ({ question, entries }: SearchPageProps): JSX.Element => {
  const found = matches(entries, question);
  return (
    <article class="stack5 wide">
      <h1>{question.trim() === "" ? "Search the docs" : `${found.length} results for “${question}”`}</h1>
      <form action="/docs/search" class="head">
        <input type="search" name="q" aria-label="Search operations, parameters, errors and guides" value={question} />
        <button type="submit">Search</button>
      </form>
      {found.length > resultsMax ? <p class="muted small">The first {resultsMax} are shown.</p> : null}
      <ul class="found">
        {found.slice(0, resultsMax).map(({ kind, title, path, text }) => (
          <li key={path}>
            <a href={path}>{title}</a> <span class="tag">{kind}</span>
            <p class="soft small">{text}</p>
          </li>
        ))}
      </ul>
    </article>
  );
};
