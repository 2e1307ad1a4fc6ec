/** The verdict that opens a page: where the reader is, what the page judges in a sentence, its context, and at most three facts. */
import type { ComponentChildren, JSX } from "preact";
import type { Fact, Judgement, Part, Sentence } from "../sentences/sentence.ts";

interface VerdictProps {
  /** Where the reader is: links to the pages above this one. */
  readonly kicker?: ComponentChildren;
  readonly judgement: Judgement;
  /** What stands for its context. */
  readonly children?: ComponentChildren;
}

/** The verdict, as wide as the window: the property `top` of a page. */
export const Verdict = ({
  kicker,
  judgement: { sentence, context, facts = [] },
  children,
}: VerdictProps): JSX.Element => (
  <section class="verdict">
    <div class="frame">
      {kicker === undefined ? null : <p class="kicker">{kicker}</p>}
      <div>
        <h1>
          <Words sentence={sentence} />
        </h1>
        {context === undefined || context.length === 0 ? null : (
          <p class="lede">
            <Words sentence={context} />
          </p>
        )}
        {children}
      </div>
      {facts.length === 0 ? null : <Facts facts={facts} />}
    </div>
  </section>
);

/** The facts at the right of a verdict: a number over what it is. What follows the number is small. */
const Facts = ({ facts }: { readonly facts: readonly Fact[] }): JSX.Element => (
  <dl class="facts">
    {facts
      .map((fact) => ({ ...fact, value: numberFirst(fact.value) }))
      .map(({ value, label }, index) => (
        <div key={index}>
          <dt>
            <Words sentence={label} />
          </dt>
          <dd>
            <Words sentence={value.slice(0, 1)} />
            {value.length < 2 ? null : (
              <small>
                <Words sentence={value.slice(1)} />
              </small>
            )}
          </dd>
        </div>
      ))}
  </dl>
);

/** Returns a value of words alone with its number as the first part: `1 of 13`, `54 days`. */
function numberFirst(value: Sentence): Sentence {
  const [words] = value;
  if (typeof words !== "string" || value.length > 1) return value;
  const [, number = words, rest] = /^(\d\S*)( .*)$/.exec(words) ?? [];
  return rest === undefined ? [number] : [number, rest];
}

/** A sentence with its marks and links. */
export const Words = ({ sentence }: { readonly sentence: Sentence }): JSX.Element => <>{sentence.map(wordsOf)}</>;

function wordsOf(part: Part, index: number): ComponentChildren {
  if (typeof part === "string") return unbroken(part);
  const { text, mark, href } = part;
  const words = href === undefined ? text : <a href={href}>{text}</a>;
  if (mark === undefined) return words;
  return (
    <mark key={index} class={mark === "attention" ? "warn" : undefined}>
      {words}
    </mark>
  );
}

/** Names with a hyphen, such as CR-V, which a line must not break. */
const hyphened = /(?<!\S)(\S{1,8}-\S{1,8})(?!\S)/;

const unbroken = (text: string): ComponentChildren =>
  text.split(hyphened).map((word, index) =>
    index % 2 === 0 ? (
      word
    ) : (
      <span key={index} class="nb">
        {word}
      </span>
    ),
  );

interface KickerProps {
  readonly above: readonly (readonly [path: string, text: string])[];
  readonly here?: ComponentChildren;
}

/** The kicker of a page: the pages above it as links, then its name. */
export const Kicker = ({ above, here }: KickerProps): JSX.Element => (
  <>
    {above.map(([path, text], index) => (
      <>
        {index === 0 ? null : " / "}
        <a href={path}>{text}</a>
      </>
    ))}
    {here === undefined ? null : <> / {here}</>}
  </>
);
