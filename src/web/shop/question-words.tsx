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
export const QuestionWords = (props: QuestionWordsProps): JSX.Element | null => {
  const { words, interpretation } = props;
  const { spans, unmatched, ambiguous } = interpretation;
  const corrected = spans.filter((span) => span.corrected_from !== undefined);
  if (unmatched.length + ambiguous.length + corrected.length === 0) return null;
  const read = spans.map(({ text }) => `“${text}”`);
  const unread = unmatched.map(({ text }) => `“${text}”`);
  return (
    <Note>
      <span class="question">
        {unmatched.length === 0 ? null : (
          <p>
            {read.length === 0
              ? "No word was understood"
              : `Only ${andList(read)} ${read.length === 1 ? "was" : "were"} read`}
            {`: ${andList(unread)} ${unread.length === 1 ? "has" : "have"} no meaning here.`}
            {unmatched.map((one) => (
              <UnmatchedWord key={one.start} words={words} {...one} />
            ))}
          </p>
        )}
        {corrected.map(({ start, text, attribute, value }) => (
          <p key={start}>{`“${text}” was read as ${valueName(attribute, value)}.`}</p>
        ))}
        {ambiguous.map((one) => (
          <OtherMeanings key={one.start} {...props} {...one} />
        ))}
      </span>
    </Note>
  );
};

type Unmatched = Interpretation["unmatched"][number];
type Ambiguous = Interpretation["ambiguous"][number];

/** Why a word was not understood, and links that replace it by a suggestion. */
const UnmatchedWord = ({ words, text, start, end, reason, suggestions }: Unmatched & { readonly words: string }) => (
  <>
    {reason === undefined ? null : ` ${reason}`}
    {suggestions.length === 0 ? null : (
      <>
        {` Did you mean, for “${text}”, `}
        {suggestions.map(({ text: suggested }, index): ComponentChildren => {
          const name = suggested.replaceAll("_", " ");
          const q = `${words.slice(0, start)}${name}${words.slice(end)}`;
          return [
            index === 0 ? "" : ", ",
            <a key={name} href={`/find?${new URLSearchParams({ q })}`}>
              {name}
            </a>,
          ];
        })}
        ?
      </>
    )}
  </>
);

/** The meaning that was taken, and links to the searches by the others. */
const OtherMeanings = ({ interpretation, pathOf, text, start, alternatives }: QuestionWordsProps & Ambiguous) => {
  const taken = interpretation.spans.find((span) => span.start === start);
  const others = Object.entries(interpretation.filters).filter(
    ([name]) => ownValue(taken?.filters ?? {}, name) === undefined,
  );
  return (
    <p>
      {taken === undefined
        ? `“${text}” has several meanings: `
        : `“${text}” was read as the ${nounOf(taken.attribute)} ${valueName(taken.attribute, taken.value)}. It can also be the `}
      {alternatives.map(({ attribute, value, filters }, index) => (
        <span key={`${attribute} ${value}`}>
          {index === 0 ? "" : " or the "}
          <a href={pathOf({ ...Object.fromEntries(others), ...filters })}>
            {`${nounOf(attribute)} ${valueName(attribute, value)}`}
          </a>
        </span>
      ))}
      .
    </p>
  );
};

const nounOf = (attribute: string): string => attribute.replace(/_id$/, "").replaceAll("_", " ");
