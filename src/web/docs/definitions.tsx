/** Lists of names with their types and descriptions: parameters, properties and headers; and tables of errors. */
import type { ComponentChildren, JSX } from "preact";
import { type ErrorCode, errors } from "../../contract/errors.ts";
import { Prose } from "./markdown.tsx";
import { errorsPath } from "./navigation.ts";
import { errorMessage } from "./operation-docs.ts";

export interface Definition {
  readonly name: string;
  readonly id?: string;
  readonly type?: string;
  readonly isRequired?: boolean;
  readonly description?: string | undefined;
  /** What stands under the description. */
  readonly more?: ComponentChildren;
}

export const Definitions = ({ items }: { readonly items: readonly Definition[] }): JSX.Element => (
  <dl class="params">
    {items.map(({ name, id, type, isRequired, description, more }) => (
      <div key={name} id={id}>
        <dt>
          <code>{name}</code>
          {type === undefined ? null : <span class="muted small">{type}</span>}
          {isRequired === true ? <span class="tag warn">required</span> : null}
        </dt>
        <dd>
          <Prose text={description} />
          {more}
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
  <table class="small errors">
    <tbody>
      {codes.map((code) => (
        <tr key={code} id={more === undefined ? undefined : code}>
          <td class="mono">{errors[code][0]}</td>
          <td>
            <a href={`${errorsPath}#${code}`}>
              <code>{code}</code>
            </a>
            <div class="soft">
              {errorMessage(code)
                .split(/\{(\w+)\}/)
                .map((part, index) => (index % 2 === 0 ? part : <i key={part}>{part}</i>))}
            </div>
            {more?.(code)}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
