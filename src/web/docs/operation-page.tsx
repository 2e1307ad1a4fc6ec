/** The page of an operation: what it does, its parameters, answers and errors; beside them its code, an answer, and the console. */
import type { JSX } from "preact";
import { tierLimits } from "../../accounts/policy/tiers.ts";
import { resolve } from "../../contract/document.ts";
import { type ErrorCode, errors } from "../../contract/errors.ts";
import type { ResponseObject } from "../../contract/operations.ts";
import { usd } from "../shell/format.ts";
import { CodeBlock, CodeChoice } from "./code.tsx";
import { codeSamples } from "./code-samples.ts";
import { Console } from "./console.tsx";
import { Definitions, ErrorTable } from "./definitions.tsx";
import { Prose } from "./markdown.tsx";
import { conventionsPath } from "./navigation.ts";
import type { OperationDocs } from "./operation-docs.ts";
import { ParameterList } from "./parameter-list.tsx";
import { SchemaTree } from "./schema-tree.tsx";
import { constraintText } from "./type-text.ts";

interface OperationPageProps {
  readonly docs: OperationDocs;
  /** Whether the service has no accounts: requests need no key and cost nothing. */
  readonly isOpen: boolean;
}

export const OperationPage = ({ docs, isOpen }: OperationPageProps): JSX.Element => {
  const { title, operation, tag, description, answers } = docs;
  return (
    <>
      <article class="stack5">
        <div>
          <p class="small muted">{tag}</p>
          <h1>{title}</h1>
          <p class="path">
            <span class="tag ok mono">{operation.method.toUpperCase()}</span>
            {operation.path}
            {operation.deprecated ? <span class="tag warn">deprecated</span> : null}
            <a class="small" href="#code">
              Code and console
            </a>
          </p>
        </div>
        <Prose text={description} />
        <Terms docs={docs} isOpen={isOpen} />
        <ParameterList {...docs} />
        <BodyProperties docs={docs} />
        <Errors docs={docs} />
        <Responses docs={docs} />
      </article>
      <aside class="stack" id="code" aria-label="Code and console">
        <CodeChoice samples={codeSamples(docs, isOpen)} />
        {answers.map(({ name, summary = name, value }, index) => (
          <details key={name} class="code" open={index === 0}>
            <summary class="bar">
              <b>200</b>
              <span>{summary}</span>
            </summary>
            <CodeBlock language="JSON" code={JSON.stringify(value, null, 2)} />
          </details>
        ))}
        <Console docs={docs} isOpen={isOpen} />
      </aside>
    </>
  );
};

type DocsProps = Pick<OperationPageProps, "docs">;

/** What a request needs and costs. */
const Terms = ({ docs, isOpen }: OperationPageProps): JSX.Element => {
  const { scope } = docs.operation;
  return (
    <dl class="kv left">
      <dt>Scope</dt>
      <dd>{scope === undefined ? "none, and no key" : <code>{scope}</code>}</dd>
      <dt>Price</dt>
      <dd>
        {isOpen ? "nothing on this service, which has no accounts; else " : null}
        <Price docs={docs} />
      </dd>
      <dt>Limit</dt>
      <dd>
        {scope === undefined
          ? "none for an account"
          : `${tierLimits[1].per10s} requests in 10 s on Tier 1, ${tierLimits[4].per10s} on Tier 4`}
      </dd>
    </dl>
  );
};

/** When a request has a price, by its variant. */
const variantWords = ["", "historical", "with dealer_id", "with dealer_id, historical", "with include"];

const Price = ({ docs: { prices, unit } }: DocsProps): JSX.Element => {
  const [plain] = prices;
  if (plain === undefined) return <>free</>;
  return (
    <>
      <b>{usd(plain)}</b> {unit === "" ? "a request" : unit}
      {prices.map((micros, variant) =>
        prices.indexOf(micros) === variant && variant > 0 ? ` · ${usd(micros)} ${variantWords[variant]}` : null,
      )}
    </>
  );
};

/** The properties of the object that a request sends. */
const BodyProperties = ({ docs: { operation } }: DocsProps): JSX.Element | null => {
  const body = operation.requestBody;
  if (body === undefined) return null;
  const items = Object.entries(body.properties).map(([name, property]) => ({
    name,
    id: `param-${name}`,
    type: constraintText(property),
    description: property.description,
    isRequired: body.required?.includes(name) === true,
  }));
  return (
    <section aria-labelledby="body">
      <h2 id="body">Body</h2>
      <Definitions items={items} />
    </section>
  );
};

/** The statuses of malformed requests and of an overloaded or broken service, which all operations share. */
const isCommon = (code: ErrorCode): boolean => [405, 414, 431].includes(errors[code][0]) || errors[code][0] >= 500;

const Errors = ({ docs }: DocsProps): JSX.Element => {
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

/** The answers that are no errors, each with its schema as a tree, its formats and its headers. */
const Responses = ({ docs: { operation } }: DocsProps): JSX.Element => (
  <section aria-labelledby="responses" class="responses">
    <h2 id="responses">Responses</h2>
    {Object.entries(operation.responses)
      .filter(([status]) => Number(status) < 400)
      .map(([status, referable]) => {
        const { description, content = {}, headers = {} } = resolve<ResponseObject>(referable);
        const { "application/json": json, ...formats } = content;
        return (
          <div key={status}>
            <h3>
              <code>{status}</code>
            </h3>
            <Prose text={description} />
            {json?.schema === undefined ? null : <SchemaTree schema={json.schema} />}
            {operation.row === undefined || status !== "200" ? null : (
              <details>
                <summary>A row in other formats</summary>
                <SchemaTree schema={operation.row} />
              </details>
            )}
            <Formats types={Object.keys(formats)} />
            <details>
              <summary>{Object.keys(headers).length} headers</summary>
              <Definitions
                items={Object.entries(headers).map(([name, header]) => ({
                  ...resolve<{ readonly description?: string }>(header),
                  name,
                }))}
              />
            </details>
          </div>
        );
      })}
  </section>
);

const Formats = ({ types }: { readonly types: readonly string[] }): JSX.Element | null =>
  types.length === 0 ? null : (
    <p class="small soft">
      Also as{" "}
      {types.map((type, index) => (
        <>
          {index === 0 ? "" : ", "}
          <code>{type}</code>
        </>
      ))}
      : <a href={`${conventionsPath}#formats`}>formats</a>.
    </p>
  );
