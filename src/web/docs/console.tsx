/** The console of an operation: a form that scripts send with the visitor's key, and which shows what came back. */
import type { JSX } from "preact";
import type { Parameter } from "../../contract/document.ts";
import { usd } from "../shell/format.ts";
import { exampleText, type OperationDocs } from "./operation-docs.ts";

interface ConsoleProps {
  readonly docs: OperationDocs;
  readonly isOpen: boolean;
}

export const Console = ({ docs, isOpen }: ConsoleProps): JSX.Element => {
  const { operation, request, prices, unit } = docs;
  const others = operation.parameters.filter((one) => !request.values.some(([shown]) => shown.name === one.name));
  return (
    <section class="sheet pad js-only" aria-labelledby="console">
      <h2 id="console">Console</h2>
      <form
        class="console"
        data-console
        data-method={operation.method}
        data-path={operation.path}
        data-prices={isOpen ? "" : prices.join(",")}
        data-unit={unit.replace("each", "per")}
      >
        <div class="fields">
          {operation.scope === undefined || isOpen ? null : <KeyField />}
          {request.values.map(([parameter, text]) => (
            <ParameterField key={parameter.name} parameter={parameter} value={text} />
          ))}
          {request.body === undefined ? null : (
            <label>
              Body
              <textarea name="body" rows={7} spellcheck={false}>
                {JSON.stringify(request.body, null, 2)}
              </textarea>
            </label>
          )}
        </div>
        <div class="acts">
          {others.length === 0 ? null : <OtherParameters parameters={others} />}
          <button type="submit" class="btn prime">
            {prices[0] === undefined || isOpen ? "Send" : `Send for ${usd(prices[0])}`}
          </button>
        </div>
      </form>
      <output class="result" aria-live="polite" />
    </section>
  );
};

const KeyField = (): JSX.Element => (
  <>
    <label>
      API key
      <input
        id="console-key"
        type="password"
        name="key"
        required
        pattern="\s*[!-~]+\s*"
        title="An API key: letters, digits and signs without spaces"
        autocomplete="off"
      />
    </label>
    <p class="tiny muted">
      Kept in this tab only. <a href="/dashboard/keys">Create a key</a>
    </p>
  </>
);

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
}

const ParameterField = ({ parameter: { name, in: location, required, schema }, value }: ParameterFieldProps) => {
  const attributes = { id: `console-${name}`, name, "data-in": location, required: required === true };
  return (
    <label for={attributes.id}>
      {name}
      {schema.enum === undefined ? (
        <input {...attributes} value={value} spellcheck={false} autocomplete="off" />
      ) : (
        <select {...attributes}>
          {["", ...schema.enum].map((word) => (
            <option key={word} selected={word === value}>
              {word}
            </option>
          ))}
        </select>
      )}
    </label>
  );
};

/** The parameters that the example does not have; scripts add a field for the chosen one. */
const OtherParameters = ({ parameters }: { readonly parameters: readonly Parameter[] }): JSX.Element => (
  <select aria-label="Add a parameter" data-add>
    <option value="">Add parameter</option>
    {parameters.map((parameter) => (
      <option key={parameter.name} data-values={parameter.schema.enum?.join(" ")} data-example={exampleText(parameter)}>
        {parameter.name}
      </option>
    ))}
  </select>
);
