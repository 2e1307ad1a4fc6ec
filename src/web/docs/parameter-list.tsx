/** The parameters of an operation: those that most requests have, and all others in groups to unfold. */
import type { JSX } from "preact";
import { type Definition, Definitions } from "./definitions.tsx";
import { type DocumentedParameter, exampleText, type OperationDocs } from "./operation-docs.ts";
import { constraintText, listedValuesMax } from "./type-text.ts";

/** The group of a parameter is the last one whose pattern its name has. */
const groups: readonly (readonly [title: string, pattern: RegExp])[] = [
  ["Vehicle", /^/],
  ["Bounds", /^(min|max)_/],
  ["Exclusions", /^exclude_/],
  ["Dealer and place", /^(dealer_.*|state|postal_code|radius|latitude|longitude|bbox|country|type)$/],
  ["Market and time", /^(inventory_status|sold_within_days|snapshot_date.*|.*_after|as|from|to|since)$/],
  [
    "Page, order and format",
    /^(limit|offset|cursor|page|per_page|sort|fields|include|format|csv_raw|(start|end)_date)$/,
  ],
  ["Version and retries", /^(data_version|Carquet-Version|Idempotency-Key|Range|If-Range)$/],
];

/** The parameters that most requests have. */
const usual =
  /^(make|model|year|(min|max)_price|state|postal_code|radius|snapshot_date|sort|limit|q|group_by|metric|facets|interval)$/;

/** An operation with at most this many parameters shows all at once. */
const shortMax = 10;

export const ParameterList = ({ parameters, request }: OperationDocs): JSX.Element | null => {
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
      <Definitions items={first.map(definitionOf)} />
      {others.length === 0 ? null : (
        <details class="all">
          <summary>Show all: {others.length} more</summary>
          {groups.map(([title], index) => {
            const members = others.filter(({ name }) => groupOf(name) === index);
            return members.length === 0 ? null : (
              <>
                <h3>{title}</h3>
                <Definitions items={members.map(definitionOf)} />
              </>
            );
          })}
        </details>
      )}
    </section>
  );
};

const groupOf = (name: string): number => groups.findLastIndex(([, pattern]) => pattern.test(name));

/** Parameters of the path come first, then filters, then pages and headers. */
const orderOf = ({ in: location, name }: DocumentedParameter): number => (location === "path" ? -1 : groupOf(name));

function definitionOf(parameter: DocumentedParameter): Definition {
  const { name, in: location, required, description, schema } = parameter;
  const example = exampleText(parameter);
  const values = schema.items?.enum ?? schema.enum ?? [];
  return {
    name,
    id: `param-${name}`,
    isRequired: required === true,
    description,
    type: `${location === "query" ? "" : `${location}, `}${constraintText(schema)}`,
    more: (
      <>
        {example === "" ? null : (
          <p class="small muted">
            Example <code>{example}</code>
          </p>
        )}
        {values.length <= listedValuesMax ? null : (
          <details>
            <summary>{values.length} values</summary>
            <p class="chips">
              {values.map((value) => (
                <code key={value}>{value}</code>
              ))}
            </p>
          </details>
        )}
      </>
    ),
  };
}
