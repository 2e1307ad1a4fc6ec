/** What the words of a question were understood as: each word is named. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";

interface QuestionWordsProps {
  readonly words: string;
  readonly interpretation: AnswerOf<"interpretQuestion">["data"];
}

type Unmatched = QuestionWordsProps["interpretation"]["unmatched"][number];

export const QuestionWords = ({ words, interpretation }: QuestionWordsProps): JSX.Element => {
  const { spans, ignored, unmatched, ambiguous } = interpretation;
  const understood = spans.map(({ text, value, corrected_from: from }) =>
    from === undefined ? text : `${text} (${spaced(value)})`,
  );
  return (
    <dl class="question" aria-label="Words of the question">
      <Line name="Understood" items={understood} />
      <Line
        name="Also means"
        items={ambiguous.map(({ text, alternatives }) => `${text}: ${alternatives.map(meaning).join(" or ")}`)}
      />
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

const meaning = ({ attribute, value }: { readonly attribute: string; readonly value: string }): string =>
  spaced(`${attribute} ${value}`);

const spaced = (text: string): string => text.replaceAll("_", " ");

const Line = ({ name, items }: { readonly name: string; readonly items: readonly string[] }): JSX.Element | null =>
  items.length === 0 ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{items.join(", ")}</dd>
    </div>
  );

/** A word that was not understood, with the reason, or with links that put a suggestion in its place. */
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
