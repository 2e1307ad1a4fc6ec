/** The parameters of an operation as a form: those that most requests have, then all others to unfold. */
import type { JSX } from "preact";
import { Button } from "../components/button.tsx";
import { Area } from "../components/field.tsx";
import { usd } from "../shell/format.ts";
import type { Visitor } from "../shell/visitor.ts";
import { Terms } from "./answer-fields.tsx";
import { Prose, proseHtml } from "./markdown.tsx";
import {
  type DocumentedParameter,
  exampleText,
  type OperationDocs,
  type OperationValues,
  priceOf,
} from "./operation-docs.ts";
import { constraintText, listedValuesMax, shortType } from "./type-text.ts";

/** The parameters that most requests have, in the order of the form. */
const usual =
  "q facets group_by metric interval vin make model max_price postal_code radius inventory_type keywords sort limit".split(
    " ",
  );

/** An operation with at most this many parameters shows all at once. */
const shortMax = 10;

interface ParameterFormProps {
  readonly docs: OperationDocs;
  readonly request: OperationValues;
  /** Undefined for readers who are not signed in: they see how samples follow the form, and sign in to send. */
  readonly visitor: Visitor | undefined;
}

/** The form, whose fields the choice of the sample's language belongs to too. */
export const formId = "request";

export const ParameterForm = ({ docs, request, visitor }: ParameterFormProps): JSX.Element => {
  const { path, operation } = docs;
  const [first, others] = split(docs, request);
  const body = operation.requestBody;
  const field = (parameter: DocumentedParameter) => (
    <ParameterField key={parameter.name} parameter={parameter} value={textOf(parameter, request)} />
  );
  return (
    <form class="stack" id={formId} action={path} method={visitor === undefined ? "get" : "post"} data-request>
      {visitor === undefined ? null : <input type="hidden" name="csrf_token" value={visitor.csrfToken} />}
      <h2 id="parameters">Parameters</h2>
      <div class="params">{first.map(field)}</div>
      {body === undefined ? null : <BodyFields docs={docs} request={request} />}
      <div class="line unfolds">
        <span class="line sends">
          <SendButton docs={docs} request={request} visitor={visitor} />
        </span>
        {others.length === 0 ? null : (
          <details class="more">
            <summary>{others.length} more parameters</summary>
            <div class="params">{others.map(field)}</div>
          </details>
        )}
      </div>
    </form>
  );
};

const SendButton = ({ docs, request, visitor }: ParameterFormProps): JSX.Element => {
  const micros = priceOf(docs, request);
  if (visitor === undefined)
    return (
      <>
        <Button>Update the sample</Button>
        <Button look="main" href="/sign-in">
          Sign in to send
        </Button>
      </>
    );
  return (
    <Button look="main">
      {micros === undefined || visitor.isOpen
        ? "Send"
        : `Send for ${usd(micros)} ${docs.unit.replace("each", "per")}`.trim()}
    </Button>
  );
};

/** Returns the parameters that a form shows at once, and the others. */
function split({ parameters }: OperationDocs, { values }: OperationValues) {
  const isFirst = ({ name, required }: DocumentedParameter): boolean =>
    parameters.length <= shortMax ||
    required === true ||
    usual.includes(name) ||
    values.some(([parameter]) => parameter.name === name);
  const first = parameters.filter(isFirst).toSorted((one, other) => rankOf(one) - rankOf(other));
  return [first, parameters.filter((parameter) => !isFirst(parameter))] as const;
}

/** Parameters of the path come first, then usual ones, then others of the request, headers last. */
function rankOf({ in: location, name }: DocumentedParameter): number {
  if (location !== "query") return location === "path" ? -1 : usual.length + 1;
  const rank = usual.indexOf(name);
  return rank === -1 ? usual.length : rank;
}

const textOf = ({ name }: DocumentedParameter, { values }: OperationValues): string =>
  values.find(([parameter]) => parameter.name === name)?.[1] ?? "";

const ParameterField = ({ parameter, value }: { readonly parameter: DocumentedParameter; readonly value: string }) => {
  const { name, required, description, schema } = parameter;
  const attributes = { id: `field-${name}`, class: "in", name, required: required === true };
  const values = (schema.items ?? schema).enum ?? [];
  const choices = schema.type === "boolean" ? ["true", "false"] : schema.enum;
  return (
    <div class="param" id={`param-${name}`}>
      <div>
        <label for={attributes.id}>
          <code>
            <b>{name}</b>
          </code>
        </label>{" "}
        <small title={constraintText(schema)}>{shortType(parameter)}</small>
        {required === true ? <small> · required</small> : null}
        <Description text={description} values={schema.type === "array" ? values : []} />
      </div>
      {choices === undefined ? (
        <input
          {...attributes}
          value={value}
          placeholder={exampleText(parameter)}
          spellcheck={false}
          autocomplete="off"
        />
      ) : (
        <select {...attributes}>
          {["", ...choices].map((word) => (
            <option key={word} selected={word === value}>
              {word}
            </option>
          ))}
        </select>
      )}
    </div>
  );
};

/** A description of at most this many characters is shown whole. */
const shortTextMax = 110;

interface DescriptionProps {
  readonly text?: string | undefined;
  readonly values: readonly unknown[];
}

/** A description, without what all filters do, and the values of a list; of a long one, the first sentence unfolds the rest. */
const Description = ({ text = "", values }: DescriptionProps): JSX.Element => {
  const plain = text.replace(/^Only return listings (\w)/, (_, letter: string) => letter.toUpperCase());
  const isShort = plain.length <= shortTextMax && values.length <= listedValuesMax;
  const [first = plain] = isShort ? [] : (/^.*?[.](?=\s|$)/s.exec(plain) ?? []);
  const more = (
    <>
      <Prose text={isShort ? plain : plain.slice(first.length)} />
      <p class="values">
        {values.map((value) => (
          <code key={String(value)}>{String(value)}</code>
        ))}
      </p>
    </>
  );
  return isShort ? (
    <div>{more}</div>
  ) : (
    <details>
      <summary dangerouslySetInnerHTML={{ __html: proseHtml(first) }} />
      {more}
    </details>
  );
};

/** The object that a request sends: its text, and its properties. */
const BodyFields = ({ docs: { operation }, request }: Pick<ParameterFormProps, "docs" | "request">): JSX.Element => (
  <>
    <Area
      label="Body, JSON"
      name="body"
      rows={8}
      spellcheck={false}
      value={typeof request.body === "string" ? request.body : JSON.stringify(request.body, null, 2)}
    />
    <Terms
      id="param-"
      terms={Object.entries(operation.requestBody?.properties ?? {}).map(([name, property]) => [
        name,
        `${constraintText(property)}${operation.requestBody?.required?.includes(name) ? "" : ", optional"}`,
        property.description,
      ])}
    />
  </>
);
