/** What the words of a question were understood as: each word is named. */
import type { ComponentChild, JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/caller.ts";

interface QuestionWordsProps {
  readonly words: string;
  readonly interpretation: AnswerOf<"interpretQuestion">["data"];
  /** Returns the path of the search with some filters. */
  readonly pathOf: (filters: TextParameters) => string;
}

type Unmatched = QuestionWordsProps["interpretation"]["unmatched"][number];
type Ambiguous = QuestionWordsProps["interpretation"]["ambiguous"][number];

export const QuestionWords = (props: QuestionWordsProps): JSX.Element => {
  const { words, interpretation } = props;
  const { spans, ignored, unmatched, ambiguous } = interpretation;
  const understood = spans.map(({ text, value, corrected_from: from }) =>
    from === undefined ? text : `${text} (${spaced(value)})`,
  );
  return (
    <dl class="question" aria-label="Words of the question">
      <Line name="Understood" items={understood} />
      <Line name="Also means" items={ambiguous.map((one) => <OtherMeanings key={one.start} {...props} {...one} />)} />
      <Line name="Ignored" items={ignored.map(({ text }) => text)} />
      {unmatched.length === 0 ? null : (
        <div>
          <dt>Not understood</dt>
          {unmatched.map((one) => (
            <dd key={one.start}>
              <UnmatchedWord words={words} {...one} />
            </dd>
          ))}
        </div>
      )}
    </dl>
  );
};

const spaced = (text: string): string => text.replaceAll("_", " ");

const Line = ({ name, items }: { readonly name: string; readonly items: readonly ComponentChild[] }) =>
  items.length === 0 ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{items.flatMap((item, index) => (index === 0 ? item : [", ", item]))}</dd>
    </div>
  );

/** The further meanings of words, each with a link to the search by it. */
const OtherMeanings = ({ interpretation, pathOf, text, start, alternatives }: QuestionWordsProps & Ambiguous) => {
  const chosen = interpretation.spans.find((span) => span.start === start)?.filters ?? {};
  const others = Object.entries(interpretation.filters).filter(([name]) => !(name in chosen));
  return (
    <>
      {`${text}: `}
      {alternatives.map(({ attribute, value, filters }, index) => (
        <span key={`${attribute} ${value}`}>
          {index === 0 ? "" : " or "}
          <a href={pathOf({ ...Object.fromEntries(others), ...filters })}>{spaced(`${attribute} ${value}`)}</a>
        </span>
      ))}
    </>
  );
};

/** A word that was not understood, with the reason, or with links that replace it by a suggestion. */
const UnmatchedWord = ({ words, text, start, end, reason, suggestions }: Unmatched & { readonly words: string }) => (
  <>
    {text}
    {reason === undefined ? null : <span class="muted"> ({reason})</span>}
    {suggestions.map(({ text: suggested }, index) => {
      const name = spaced(suggested);
      const q = `${words.slice(0, start)}${name}${words.slice(end)}`;
      return (
        <span key={name}>
          {index === 0 ? ": " : ", "}
          <a href={`/find?${new URLSearchParams({ q })}`}>{name}</a>?
        </span>
      );
    })}
  </>
);
