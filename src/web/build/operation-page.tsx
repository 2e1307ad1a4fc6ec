/** The page of an operation: its parameters are the form of a request; beside them its code and the answer, below what it answers. */
import type { JSX } from "preact";
import { effectiveLimits } from "../../accounts/account.ts";
import { tierLimits } from "../../accounts/policy/tiers.ts";
import { resolve } from "../../contract/document.ts";
import type { ResponseObject } from "../../contract/operations.ts";
import { CodeBox } from "../components/code-box.tsx";
import { Spec } from "../components/sheet.tsx";
import type { PageContent } from "../shell/document.tsx";
import { count, usd } from "../shell/format.ts";
import type { Visitor } from "../shell/visitor.ts";
import { AnswerFields } from "./answer-fields.tsx";
import { buildPage } from "./build-page.tsx";
import { Prose } from "./markdown.tsx";
import { conventionsPath, errorsPath, groupOfTag } from "./navigation.ts";
import { type OperationDocs, type OperationValues, priceOf } from "./operation-docs.ts";
import { ParameterForm } from "./parameter-form.tsx";
import { AnswerBox, SampleBox } from "./sample-box.tsx";
import type { SampleKey } from "./samples.ts";
import type { SentAnswer } from "./send.ts";

interface OperationPageProps {
  readonly docs: OperationDocs;
  readonly request: OperationValues;
  readonly visitor: Visitor | undefined;
  readonly origin: string;
  readonly key: SampleKey;
  /** The fields of the address or the form: the language, and whether the key is shown. */
  readonly fields: URLSearchParams;
  readonly answer?: SentAnswer | undefined;
}

export function operationPage(props: OperationPageProps): PageContent {
  const { docs, request, visitor, origin, key, fields, answer } = props;
  const { path, title, tag } = docs;
  const page = buildPage({
    path,
    title,
    group: groupOfTag(tag),
    lede: ledeOf(props),
    visitor,
    columns: 2,
    children: (
      <>
        <div class="stack asked">
          <ParameterForm docs={docs} request={request} visitor={visitor} />
          <div class="stack reference">
            <OperationReference docs={docs} />
          </div>
        </div>
        <div class="stack stick" id="code">
          <SampleBox
            sampled={{ docs, request, origin, key }}
            language={fields.get("language")}
            isKeyShown={fields.has("key")}
          />
          <div id="answer" class="stack" aria-live="polite">
            <AnswerBox docs={docs} answer={answer} />
          </div>
          <KeyNote {...props} />
        </div>
      </>
    ),
  });
  const { micros } = answer ?? {};
  return { ...page, bundles: ["build.js"], ...(micros === undefined ? {} : { micros }) };
}

/** Returns the first sentence on an operation, its price, and how many requests the visitor may send. */
function ledeOf({ docs, request, visitor, key: { isOpen } }: OperationPageProps): string {
  const [sentence = ""] = /^.*?[.](?=\s|$)/s.exec(docs.description) ?? [];
  const micros = priceOf(docs, request);
  const price =
    isOpen || micros === undefined ? "Free" : `${usd(micros)} ${docs.unit === "" ? "a request" : docs.unit}`;
  const { per10s } = visitor === undefined ? tierLimits[1] : effectiveLimits(visitor.identity.cached.account);
  const isKeyless = isOpen || docs.operation.scope === undefined;
  const limit = isKeyless ? "no key needed" : `you may send ${count(per10s)} in 10 seconds`;
  return `${sentence} ${price}; ${limit}.`;
}

/** Where the key of the samples comes from. */
const KeyNote = ({ docs, visitor, key, fields }: OperationPageProps): JSX.Element | null => {
  if (docs.operation.scope === undefined || key.isOpen || visitor === undefined) return null;
  const isKnown = key.secret !== undefined;
  return (
    <p class="small">
      {isKnown ? "Your key is filled in because you are signed in." : "Programs need a key, which is shown once."}{" "}
      {!isKnown ? null : (
        <>{fields.has("key") ? <a href={docs.path}>Hide it</a> : <a href={`${docs.path}?key=shown`}>Show it</a>} · </>
      )}
      <a href="/account#keys">{isKnown ? "Make another" : "Make one"}</a>
    </p>
  );
};

/** What the document says of an operation besides its parameters. */
const OperationReference = ({ docs }: Pick<OperationPageProps, "docs">): JSX.Element => {
  const { method, path, deprecated, scope } = docs.operation;
  const [plain, ...others] = docs.prices;
  const variants = others.map((micros, index) => `${usd(micros)} ${variantWords[index]}`);
  return (
    <>
      <section aria-labelledby="about">
        <h2 id="about">What it does</h2>
        <Prose text={docs.description} />
        <Spec
          facts={[
            [
              "Request",
              <code key="request">{`${method.toUpperCase()} ${path}${deprecated ? ", deprecated" : ""}`}</code>,
            ],
            ["Scope of the key", scope === undefined ? "none, and no key" : <code>{scope}</code>],
            ["Price", plain === undefined ? "free" : <b key="price">{usd(plain)}</b>],
          ]}
        />
        {variants.length === 0 ? null : <p class="small">Other prices: {variants.join(", ")}.</p>}
      </section>
      {docs.sql === "" ? null : (
        <CodeBox
          title="The example in SQL"
          code={docs.sql}
          language="sql"
          open={{ path: `/sql?${new URLSearchParams({ statement: docs.sql })}`, text: "Open in SQL" }}
        />
      )}
      <Responses docs={docs} />
      <section aria-labelledby="errors">
        <h2 id="errors">Errors</h2>
        <p class="values">
          {docs.errors.map((code) => (
            <a key={code} href={`${errorsPath}#${code}`}>
              <code>{code}</code>
            </a>
          ))}
        </p>
      </section>
    </>
  );
};

/** When a request has a price, by its variant. */
const variantWords = ["historical", "with dealer_id", "with dealer_id and historical", "with include"];

/** The answers that are no errors, each with its fields and its formats. */
const Responses = ({ docs: { operation } }: Pick<OperationPageProps, "docs">): JSX.Element => (
  <section aria-labelledby="responses">
    <h2 id="responses">What it answers</h2>
    {Object.entries(operation.responses)
      .filter(([status]) => Number(status) < 400)
      .map(([status, referable]) => {
        const { description, content = {} } = resolve<ResponseObject>(referable);
        const { "application/json": json, ...formats } = content;
        const types = Object.keys(formats).join(", ");
        return (
          <div key={status}>
            <h3>
              <code>{status}</code>
            </h3>
            <Prose text={description} />
            {json?.schema === undefined ? null : <AnswerFields schema={json.schema} />}
            {types === "" ? null : (
              <p class="small">
                Also as <code>{types}</code>: <a href={`${conventionsPath}#formats`}>formats</a>.
              </p>
            )}
          </div>
        );
      })}
  </section>
);
