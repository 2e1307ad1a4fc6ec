/** The console of an operation: a form that scripts send with the visitor's key, and which shows what came back. */
import type { JSX } from "preact";
import type { Parameter } from "../../contract/document.ts";
import { usd } from "../shell/format.ts";
import type { OperationDocs } from "./operation-docs.ts";

interface ConsoleProps {
  readonly docs: OperationDocs;
  readonly isOpen: boolean;
}

export const Console = ({ docs, isOpen }: ConsoleProps): JSX.Element => {
  const { operation, request, prices } = docs;
  return (
    <section class="sheet pad js-only" aria-labelledby="console">
      <h2 id="console">Console</h2>
      <form
        class="console"
        data-console
        data-method={operation.method}
        data-path={operation.path}
        data-prices={isOpen ? "" : prices.join(",")}
        data-unit={docs.unit}
      >
        <div class="fields">
          {operation.scope === undefined || isOpen ? null : <KeyField />}
          {request.values.map(([parameter, text]) => (
            <Field key={parameter.name} parameter={parameter} value={text} />
          ))}
          <BodyField body={request.body} />
        </div>
        <div class="acts">
          <OtherParameters docs={docs} />
          <button type="submit" class="btn prime">
            {prices[0] === undefined || isOpen ? "Send" : `Send for ${usd(prices[0])}`}
          </button>
        </div>
      </form>
      <output class="result" aria-live="polite" />
    </section>
  );
};

const BodyField = ({ body }: { readonly body: unknown }): JSX.Element | null =>
  body === undefined ? null : (
    <>
      <label for="console-body">Body</label>
      <textarea id="console-body" name="body" rows={7} spellcheck={false}>
        {JSON.stringify(body, null, 2)}
      </textarea>
    </>
  );

/** The parameters that the example does not have; scripts add a field for the chosen one. */
const OtherParameters = ({ docs: { operation, request } }: Pick<ConsoleProps, "docs">): JSX.Element | null => {
  const shown = new Set(request.values.map(([parameter]) => parameter.name));
  const others = operation.parameters.filter(({ name }) => !shown.has(name));
  return others.length === 0 ? null : (
    <select aria-label="Add a parameter" data-add>
      <option value="">Add parameter</option>
      {others.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
};

const KeyField = (): JSX.Element => (
  <>
    <label for="console-key">API key</label>
    <div>
      <input id="console-key" type="password" name="key" autocomplete="off" spellcheck={false} required />
      <p class="tiny muted">
        Kept in this tab only. <a href="/dashboard/keys">Create a key</a>
      </p>
    </div>
  </>
);

interface FieldProps {
  readonly parameter: Parameter;
  readonly value: string;
}

const Field = ({ parameter: { name, in: place, schema }, value }: FieldProps): JSX.Element => (
  <>
    <label for={`console-${name}`}>{name}</label>
    {schema.enum === undefined ? (
      <input id={`console-${name}`} name={name} value={value} data-in={place} spellcheck={false} autocomplete="off" />
    ) : (
      <select id={`console-${name}`} name={name} data-in={place}>
        {["", ...schema.enum].map((word) => (
          <option key={word} selected={word === value}>
            {word}
          </option>
        ))}
      </select>
    )}
  </>
);
