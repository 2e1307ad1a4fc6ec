/** The parameters of an operation in groups: those that most requests have, and all others to unfold. */
import type { JSX } from "preact";
import type { Schema } from "../../contract/document.ts";
import type { BodyProperty, BodySchema } from "../../contract/operations.ts";
import { Prose } from "./markdown.tsx";
import { type DocumentedParameter, exampleText, type OperationDocs } from "./operation-docs.ts";

/** The group of a parameter is the first whose pattern its name has. */
const groups: readonly (readonly [title: string, pattern: RegExp])[] = [
  ["Version and retries", /^(data_version|Carquet-Version|Idempotency-Key|Range|If-Range)$/],
  [
    "Page, order and format",
    /^(limit|offset|cursor|page|per_page|sort|fields|include|format|csv_raw|(start|end)_date)$/,
  ],
  ["Market and time", /^(inventory_status|sold_within_days|snapshot_date.*|.*_after|as|from|to|since)$/],
  ["Dealer and place", /^(dealer_.*|state|postal_code|radius|latitude|longitude|bbox|country|type)$/],
  ["Exclusions", /^exclude_/],
  ["Bounds", /^(min|max)_/],
  ["Vehicle", /^/],
];

/** The parameters that most requests have. */
const usual =
  /^(make|model|year|(min|max)_price|state|postal_code|radius|snapshot_date|sort|limit|q|group_by|metric|facets|interval)$/;

/** An operation with at most this many parameters shows all at once. */
const shortMax = 10;

export const ParameterList = ({ docs }: { readonly docs: OperationDocs }): JSX.Element | null => {
  const { parameters, request } = docs;
  if (parameters.length === 0) return null;
  const isFirst = ({ name, required }: DocumentedParameter): boolean =>
    parameters.length <= shortMax ||
    required === true ||
    usual.test(name) ||
    request.values.some(([parameter]) => parameter.name === name);
  const first = parameters.filter(isFirst).toSorted((one, other) => orderOf(one) - orderOf(other));
  const others = parameters.filter((parameter) => !isFirst(parameter));
  return (
    <section aria-labelledby="parameters">
      <div class="head">
        <h2 id="parameters">Parameters</h2>
        <span class="muted small">
          {others.length === 0 ? parameters.length : `${first.length} of ${parameters.length}`}
        </span>
      </div>
      <Definitions parameters={first} />
      {others.length === 0 ? null : (
        <details class="all">
          <summary>Show all: {others.length} more</summary>
          {groups.toReversed().map(([title]) => (
            <Group key={title} title={title} parameters={others.filter(({ name }) => groupOf(name) === title)} />
          ))}
        </details>
      )}
    </section>
  );
};

const groupOf = (name: string): string => groups.find(([, pattern]) => pattern.test(name))?.[0] ?? "";

/** Parameters of the path come first, then filters, then pages and headers. */
const orderOf = ({ in: place, name }: DocumentedParameter): number =>
  place === "path" ? 0 : groups.length - groups.findIndex(([title]) => title === groupOf(name));

interface GroupProps {
  readonly title: string;
  readonly parameters: readonly DocumentedParameter[];
}

const Group = ({ title, parameters }: GroupProps): JSX.Element | null =>
  parameters.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <Definitions parameters={parameters} />
    </>
  );

const Definitions = ({ parameters }: Pick<GroupProps, "parameters">): JSX.Element => (
  <dl class="params">
    {parameters.map((parameter) => (
      <div key={parameter.name} id={`param-${parameter.name}`}>
        <dt>
          <code>{parameter.name}</code>
          <span class="muted small">{`${placeText(parameter)}${constraintText(parameter.schema)}`}</span>
          {parameter.required === true ? <span class="tag warn">required</span> : null}
        </dt>
        <dd>
          <Prose text={parameter.description} />
          <Example text={exampleText(parameter)} />
          <Values schema={parameter.schema} />
        </dd>
      </div>
    ))}
  </dl>
);

const placeText = ({ in: place }: DocumentedParameter): string => (place === "query" ? "" : `${place}, `);

const Example = ({ text }: { readonly text: string }): JSX.Element | null =>
  text === "" ? null : (
    <p class="eg">
      Example <code>{text}</code>
    </p>
  );

/** The most values that are shown without a click. */
const valuesMax = 8;

const Values = ({ schema }: { readonly schema: Schema }): JSX.Element | null => {
  const values = schema.items?.enum ?? schema.enum ?? [];
  if (values.length === 0) return null;
  const codes = values.map((value) => <code key={value}>{value}</code>);
  return values.length <= valuesMax ? (
    <p class="values">{codes}</p>
  ) : (
    <details>
      <summary>{values.length} values</summary>
      <p class="values">{codes}</p>
    </details>
  );
};

const kinds: Readonly<Record<string, string>> = { integer: "whole number", string: "text", boolean: "true or false" };

/** Describes type, bounds and default, for example `whole number, 1 to 100, default 50`. */
export function constraintText(schema: Schema): string {
  const { items, minimum, exclusiveMinimum, maximum, maxItems, maxLength, default: initial } = schema;
  const kind = (one: Schema): string =>
    one.enum === undefined ? (one.format ?? kinds[String(one.type)] ?? String(one.type ?? "text")) : "values";
  const bounds = items ?? { minimum, exclusiveMinimum, maximum };
  return [
    items !== undefined
      ? `list of ${items.enum === undefined ? `${kind(items)}s` : "values"}`
      : schema.enum === undefined
        ? kind(schema)
        : `one of ${schema.enum.length}`,
    ...(bounds.maximum === undefined
      ? []
      : [`${bounds.minimum ?? `above ${bounds.exclusiveMinimum}`} to ${bounds.maximum}`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(initial === undefined ? [] : [`default ${[initial].flat().join(", ")}`]),
  ].join(", ");
}

/** The properties of the object that a request sends. */
export const BodyProperties = ({ body }: { readonly body: BodySchema | undefined }): JSX.Element | null =>
  body === undefined ? null : (
    <section aria-labelledby="body">
      <h2 id="body">Body</h2>
      <dl class="params">
        {Object.entries(body.properties).map(([name, property]: [string, BodyProperty]) => (
          <div key={name} id={`param-${name}`}>
            <dt>
              <code>{name}</code>
              <span class="muted small">{constraintText(property)}</span>
              {body.required?.includes(name) === true ? <span class="tag warn">required</span> : null}
            </dt>
            <dd>
              <Prose text={property.description} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
