/** What stands beside the form of an operation: the request as code in the chosen language, and the answer. */
import type { ComponentChildren, JSX } from "preact";
import { CodeBox, colored } from "../components/code-box.tsx";
import { amountOf, usd } from "../shell/format.ts";
import type { OperationDocs } from "./operation-docs.ts";
import { formId } from "./parameter-form.tsx";
import { type RequestSample, requestSamples, type Sampled } from "./samples.ts";
import type { SentAnswer } from "./send.ts";

interface SampleBoxProps {
  readonly sampled: Sampled;
  /** The name of the chosen language; the first one if there is none of that name. */
  readonly language?: string | null;
  /** Whether the whole key is shown. */
  readonly isKeyShown?: boolean;
}

export const SampleBox = ({ sampled, language, isKeyShown = false }: SampleBoxProps): JSX.Element => {
  const samples = requestSamples(sampled);
  const chosen = samples.find(({ name }) => name === language) ?? samples[0];
  return (
    <div class="codebox sample">
      <header>
        {samples.map(({ name }) => (
          <label key={name}>
            <input class="vh" type="radio" name="language" value={name} form={formId} checked={name === chosen?.name} />
            {name}
          </label>
        ))}
        <span class="end">
          <button type="button" class="js-only" data-copy>
            Copy
          </button>
        </span>
      </header>
      {samples.map((sample) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre key={sample.name} tabIndex={0} data-language={sample.name}>
          <code>{codeOf(sample, sampled.key.secret, isKeyShown)}</code>
        </pre>
      ))}
    </div>
  );
};

/** Returns code in its colors. The middle of a key is hidden, and copied, unless the key is shown. */
function codeOf({ code, language }: RequestSample, secret: string | undefined, isKeyShown: boolean): ComponentChildren {
  if (secret === undefined || isKeyShown) return colored(code, language);
  const key = (
    <>
      {secret.slice(0, 12)}
      <span class="secret">{secret.slice(12, -4)}</span>
      {secret.slice(-4)}
    </>
  );
  return code.split(secret).map((part, index) => (
    <>
      {index === 0 ? null : key}
      {colored(part, language)}
    </>
  ));
}

/** What items of an answer are called. */
const nouns: ReadonlyMap<string, string> = new Map([
  ["Listings", "car"],
  ["Exports", "car"],
  ["Dealers", "dealer"],
]);

interface AnswerBoxProps {
  readonly docs: OperationDocs;
  /** The answer to the request that was sent; the documented one before. */
  readonly answer: SentAnswer | undefined;
}

export const AnswerBox = ({ docs, answer }: AnswerBoxProps): JSX.Element | null => {
  if (answer === undefined) {
    const [example] = docs.answers;
    if (example === undefined) return null;
    return <CodeBox title={<Status status={200}>an example</Status>} code={jsonText(example.value)} language="json" />;
  }
  const { status, text, isJson, rows, micros, code, isCut } = answer;
  const title = (
    <Status status={status}>
      {rows === undefined ? "" : `${amountOf(rows, nouns.get(docs.tag) ?? "row")} · `}
      {micros === undefined ? "not charged" : usd(micros)}{" "}
      {code === undefined ? null : <a href={`/docs/errors#${code}`}>{code}</a>}
    </Status>
  );
  const more = isCut ? "\n… and more, which programs get" : "";
  return <CodeBox title={title} code={`${text}${more}`} {...(isJson ? { language: "json" } : {})} />;
};

const Status = ({ status, children }: { readonly status: number; readonly children: ComponentChildren }) => (
  <>
    <span class={status < 400 ? "badge great" : "badge high"}>{status}</span> {children}
  </>
);

/** Returns a value as text: an object a property a line. */
const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);
