/** What a page says of a question whose words were not all read as they stand: those without a meaning, corrected ones, and other meanings. */
import type { ComponentChildren, JSX } from "preact";
import { ownValue } from "../../base/json.ts";
import type { AnswerOf } from "../../contract/types.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { Note } from "../components/sheet.tsx";
import { andList } from "../sentences/words.ts";
import { valueName } from "./filter-words.ts";

export type Interpretation = AnswerOf<"interpretQuestion">["data"];

interface QuestionWordsProps {
  readonly words: string;
  readonly interpretation: Interpretation;
  /** Returns the path of the search with some filters. */
  readonly pathOf: (filters: TextParameters) => string;
}

/** Nothing if every word was read as it stands. */
export const QuestionWords = ({ words, interpretation, pathOf }: QuestionWordsProps): JSX.Element | null => {
  const { spans, unmatched, ambiguous } = interpretation;
  const corrected = spans.filter((span) => span.corrected_from !== undefined);
  if (unmatched.length + ambiguous.length + corrected.length === 0) return null;
  return (
    <Note>
      <span class="question">
        {unmatched.length === 0 ? null : (
          <p>
            {unreadSentence(interpretation)}
            {unmatched.map(({ text, start, end, reason, suggestions }) => [
              reason === undefined ? "" : ` ${reason}`,
              suggestions.length === 0 ? "" : ` Did you mean, for “${text}”, `,
              ...separated(
                suggestions.map((suggestion) => {
                  const name = suggestion.text.replaceAll("_", " ");
                  const q = `${words.slice(0, start)}${name}${words.slice(end)}`;
                  return <a href={`/find?${new URLSearchParams({ q })}`}>{name}</a>;
                }),
                ", ",
              ),
              suggestions.length === 0 ? "" : "?",
            ])}
          </p>
        )}
        {corrected.map(({ start, text, attribute, value }) => (
          <p key={start}>{`“${text}” was read as ${valueName(attribute, value)}.`}</p>
        ))}
        {ambiguous.map(({ start, text, alternatives }) => {
          const taken = spans.find((span) => span.start === start);
          const others = Object.entries(interpretation.filters).filter(
            ([name]) => ownValue(taken?.filters ?? {}, name) === undefined,
          );
          const links = alternatives.map(({ attribute, value, filters }) => (
            <a href={pathOf({ ...Object.fromEntries(others), ...filters })}>{meaningOf(attribute, value)}</a>
          ));
          return (
            <p key={start}>
              {taken === undefined
                ? `“${text}” has several meanings: `
                : `“${text}” was read as the ${meaningOf(taken.attribute, taken.value)}. It can also be the `}
              {separated(links, " or the ")}.
            </p>
          );
        })}
      </span>
    </Note>
  );
};

/** Returns which words were read, and which have no meaning. */
function unreadSentence({ spans, unmatched }: Interpretation): string {
  const quotedWords = (parts: readonly { readonly text: string }[]): string =>
    andList(parts.map(({ text }) => `“${text}”`));
  const who =
    spans.length === 0
      ? "No word was understood"
      : `Only ${quotedWords(spans)} ${spans.length === 1 ? "was" : "were"} read`;
  return `${who}: ${quotedWords(unmatched)} ${unmatched.length === 1 ? "has" : "have"} no meaning here.`;
}

const separated = (links: readonly JSX.Element[], separator: string): readonly ComponentChildren[] =>
  links.flatMap((link, index) => (index === 0 ? [link] : [separator, link]));

/** Returns a value with what it is a value of: `model Civic`. */
const meaningOf = (attribute: string, value: string): string =>
  `${attribute.replace(/_id$/, "").replaceAll("_", " ")} ${valueName(attribute, value)}`;
