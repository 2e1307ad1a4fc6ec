/** Lists of names with their descriptions, such as headers; and tables of errors. */
import type { JSX } from "preact";
import { type ErrorCode, errors } from "../../contract/errors.ts";
import { Prose } from "./markdown.tsx";
import { errorsPath } from "./navigation.ts";
import { errorMessage } from "./operation-docs.ts";

interface Definition {
  readonly name: string;
  readonly description?: string | undefined;
}

export const Definitions = ({ items }: { readonly items: readonly Definition[] }): JSX.Element => (
  <dl class="terms">
    {items.map(({ name, description }) => (
      <div key={name}>
        <dt>
          <code>{name}</code>
        </dt>
        <dd>
          <Prose text={description} />
        </dd>
      </div>
    ))}
  </dl>
);

interface ErrorTableProps {
  readonly codes: readonly ErrorCode[];
  /** Returns what stands under the message of an error, which the rows have anchors for. */
  readonly more?: (code: ErrorCode) => JSX.Element;
}

export const ErrorTable = ({ codes, more }: ErrorTableProps): JSX.Element => (
  <dl class="terms">
    {codes.map((code) => (
      <div key={code} id={more === undefined ? undefined : code}>
        <dt>
          <span class="num">{errors[code][0]}</span>{" "}
          <a href={`${errorsPath}#${code}`}>
            <code>{code}</code>
          </a>
        </dt>
        <dd>
          {errorMessage(code)
            .split(/\{(\w+)\}/)
            .map((part, index) => (index % 2 === 0 ? part : <i key={part}>{part}</i>))}
          {more?.(code)}
        </dd>
      </div>
    ))}
  </dl>
);
