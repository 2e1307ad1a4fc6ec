/** The page of an operation: what it does, its parameters, answers and errors; beside them its code, an answer, and the console. */
import type { JSX } from "preact";
import { tierLimits } from "../../accounts/policy/tiers.ts";
import { resolve } from "../../contract/document.ts";
import { type ErrorCode, errors } from "../../contract/errors.ts";
import type { ResponseObject } from "../../contract/operations.ts";
import { usd } from "../shell/format.ts";
import { codeSamples } from "./code-samples.ts";
import { Console } from "./console.tsx";
import { highlight, type Language } from "./highlight.tsx";
import { Prose } from "./markdown.tsx";
import { conventionsPath, errorsPath } from "./navigation.ts";
import type { OperationDocs } from "./operation-docs.ts";
import { BodyProperties, ParameterList } from "./parameter-list.tsx";
import { SchemaTree } from "./schema-tree.tsx";

interface OperationProps {
  readonly docs: OperationDocs;
  /** Whether the service has no accounts: requests need no key and cost nothing. */
  readonly isOpen: boolean;
}

export const OperationPage = ({ docs, isOpen }: OperationProps): JSX.Element => {
  const { object, operation, tag, description } = docs;
  return (
    <>
      <article class="stack5">
        <div>
          <p class="small muted">{tag}</p>
          <h1>{object.summary}</h1>
          <p class="path">
            <span class="verb">{operation.method.toUpperCase()}</span>
            {operation.path}
            {operation.deprecated ? <span class="tag warn">deprecated</span> : null}
          </p>
        </div>
        <Prose text={description} />
        <Terms docs={docs} isOpen={isOpen} />
        <ParameterList docs={docs} />
        <BodyProperties body={operation.requestBody} />
        <Errors docs={docs} />
        <Responses docs={docs} />
      </article>
      <aside class="stack" aria-label="Code and console">
        <Code docs={docs} isOpen={isOpen} />
        <Answers docs={docs} />
        <Console docs={docs} isOpen={isOpen} />
      </aside>
    </>
  );
};

/** What a request needs and costs. */
const Terms = ({ docs, isOpen }: OperationProps): JSX.Element => (
  <dl class="kv left">
    <dt>Scope</dt>
    <dd>{docs.operation.scope === undefined ? "none, and no key" : <code>{docs.operation.scope}</code>}</dd>
    <dt>Price</dt>
    <dd>
      {isOpen ? "nothing on this service, which has no accounts; else " : null}
      <Price docs={docs} />
    </dd>
    <dt>Limit</dt>
    <dd>
      {docs.operation.scope === undefined
        ? "none for an account"
        : `${tierLimits[1].per10s} requests in 10 s on Tier 1, ${tierLimits[4].per10s} on Tier 4`}
    </dd>
  </dl>
);

/** When a request has a price, by its variant. */
const variantWords = ["", "historical", "with dealer_id", "with dealer_id, historical", "with include"];

const Price = ({ docs: { prices, unit } }: { readonly docs: OperationDocs }): JSX.Element => {
  const [plain] = prices;
  if (plain === undefined) return <>free</>;
  const others = prices
    .map((micros, variant) => [micros, variantWords[variant] ?? ""] as const)
    .filter(([micros], variant) => prices.indexOf(micros) === variant && micros !== plain);
  return (
    <>
      <b>{usd(plain)}</b> {unit === "" ? "a request" : unit}
      {others.map(([micros, words]) => ` · ${usd(micros)} ${words}`)}
    </>
  );
};

/** The answers that are no errors, each with its schema as a tree and its headers. */
const Responses = ({ docs: { operation, object } }: { readonly docs: OperationDocs }): JSX.Element => (
  <section aria-labelledby="responses" class="responses">
    <h2 id="responses">Responses</h2>
    {Object.entries(object.responses)
      .filter(([status]) => Number(status) < 400)
      .map(([status, referable]) => {
        const response = resolve<ResponseObject>(referable);
        const { schema } = response.content?.["application/json"] ?? {};
        return (
          <div key={status}>
            <h3>
              <code>{status}</code>
            </h3>
            <Prose text={response.description} />
            {schema === undefined ? null : <SchemaTree schema={schema} />}
            {operation.row === undefined || status !== "200" ? null : (
              <details>
                <summary>A row in other formats</summary>
                <SchemaTree schema={operation.row} />
              </details>
            )}
            <Formats response={response} />
            <Headers response={response} />
          </div>
        );
      })}
  </section>
);

const Formats = ({ response: { content = {} } }: { readonly response: ResponseObject }): JSX.Element | null => {
  const types = Object.keys(content);
  return types.length < 2 ? null : (
    <p class="small soft">
      Also as{" "}
      {types
        .filter((type) => type !== "application/json")
        .map((type, index) => (
          <>
            {index === 0 ? "" : ", "}
            <code>{type}</code>
          </>
        ))}
      : <a href={`${conventionsPath}#formats`}>formats</a>.
    </p>
  );
};

const Headers = ({ response: { headers = {} } }: { readonly response: ResponseObject }): JSX.Element => (
  <details>
    <summary>{Object.keys(headers).length} headers</summary>
    <dl class="params">
      {Object.entries(headers).map(([name, header]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <Prose text={resolve<{ readonly description?: string }>(header).description} />
          </dd>
        </div>
      ))}
    </dl>
  </details>
);

/** The statuses of malformed requests and of an overloaded or broken service, which all operations share. */
const isCommon = (code: ErrorCode): boolean => [405, 414, 431].includes(errors[code][0]) || errors[code][0] >= 500;

const Errors = ({ docs }: { readonly docs: OperationDocs }): JSX.Element => {
  const common = docs.errors.filter(isCommon);
  return (
    <section aria-labelledby="errors">
      <h2 id="errors">Errors</h2>
      <ErrorTable codes={docs.errors.filter((code) => !isCommon(code))} />
      <details class="all">
        <summary>Show all: {common.length} more</summary>
        <ErrorTable codes={common} />
      </details>
    </section>
  );
};

const ErrorTable = ({ codes }: { readonly codes: readonly ErrorCode[] }): JSX.Element => (
  <table class="small errors">
    <tbody>
      {codes.map((code) => (
        <tr key={code}>
          <td class="mono">{errors[code][0]}</td>
          <td>
            <a href={`${errorsPath}#${code}`}>
              <code>{code}</code>
            </a>
            <div class="soft">{errors[code][3]}</div>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Code = ({ docs, isOpen }: OperationProps): JSX.Element => {
  const samples = codeSamples(docs, isOpen);
  return (
    <fieldset class="code lang">
      <legend class="vh">Language of the example</legend>
      {samples.map(({ language }, index) => (
        <input key={language} type="radio" name="language" id={`lang-${index}`} defaultChecked={index === 0} />
      ))}
      <div class="bar">
        {samples.map(({ language }, index) => (
          <label key={language} for={`lang-${index}`}>
            {language}
          </label>
        ))}
      </div>
      {samples.map(({ language, code }) => (
        <Block key={language} language={language} code={code} />
      ))}
    </fieldset>
  );
};

const Block = ({ language, code }: { readonly language: Language; readonly code: string }): JSX.Element => (
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

const Answers = ({ docs: { answers } }: { readonly docs: OperationDocs }): JSX.Element => (
  <>
    {answers.map(({ name, summary = name, value }, index) => (
      <details key={name} class="code" open={index === 0}>
        <summary class="bar">
          <span class="t">200</span>
          <span>{summary}</span>
        </summary>
        <Block language="JSON" code={JSON.stringify(value, null, 2)} />
      </details>
    ))}
  </>
);
