/** The pages about all operations: the overview, the conventions of the document, and the errors. */
import type { JSX } from "preact";
import { document } from "../../contract/document.ts";
import { errors } from "../../contract/errors.ts";
import { usd } from "../shell/format.ts";
import { CodeChoice } from "./code.tsx";
import { codeSamples } from "./code-samples.ts";
import { ErrorTable } from "./definitions.tsx";
import { proseHtml } from "./markdown.tsx";
import { conventionsPath, docsGroups } from "./navigation.ts";
import { errorCodes, type OperationDocs, operationDocs } from "./operation-docs.ts";

/** Why one would read a page of the first group. */
const startWords = [
  "Two commands, the first request, the first page.",
  "From a dealer's export to a search, in ten minutes.",
  "What happens between a feed and an answer, in one picture.",
  "Messages, their causes and their cures.",
];

export const OverviewPage = ({ isOpen }: { readonly isOpen: boolean }): JSX.Element => (
  <article class="stack5 wide">
    <div>
      <h1>Documentation</h1>
      <p class="lead">
        Version {document.info.version} of the API. Every page follows from{" "}
        <a href="/v1/openapi.json">the OpenAPI document</a>, as this service answers it.
      </p>
    </div>
    <ul class="starts">
      {docsGroups[0]?.links.map(({ path, title }, index) => (
        <li key={path} class="sheet pad">
          <h2>
            <a href={path}>{title}</a>
          </h2>
          <p class="soft small">{startWords[index]}</p>
        </li>
      ))}
    </ul>
    <FirstRequest isOpen={isOpen} />
    {document.tags.map(({ name, description }) => (
      <section key={name} aria-labelledby={`tag-${name}`}>
        <h2 id={`tag-${name}`}>{name}</h2>
        <p class="soft small">{description}</p>
        <table>
          <tbody>{operationDocs.filter(({ tag }) => tag === name).map(OperationRow)}</tbody>
        </table>
      </section>
    ))}
  </article>
);

const OperationRow = ({ path, title, operation, prices: [micros] }: OperationDocs): JSX.Element => (
  <tr key={path}>
    <td>
      <a href={path}>{title}</a>
      <div class="small muted mono">{`${operation.method.toUpperCase()} ${operation.path}`}</div>
    </td>
    <td class="num small">{micros === undefined ? "free" : usd(micros)}</td>
  </tr>
);

/** A request that works on this service, and where its key comes from. */
const FirstRequest = ({ isOpen }: { readonly isOpen: boolean }): JSX.Element => (
  <section aria-labelledby="first-request">
    <h2 id="first-request">A first request</h2>
    {isOpen ? null : (
      <p class="soft small">
        <code>CARQUET_KEY</code> is <a href="/dashboard/keys">a key of your account</a>; see{" "}
        <a href={`${conventionsPath}#authentication`}>keys and scopes</a>.
      </p>
    )}
    {operationDocs.slice(0, 1).map((docs) => (
      <CodeChoice key={docs.path} samples={codeSamples(docs, isOpen)} />
    ))}
  </section>
);

export const ConventionsPage = (): JSX.Element => (
  <article class="prose wide">
    <h1>Conventions</h1>
    <div dangerouslySetInnerHTML={{ __html: proseHtml(document.info.description) }} />
  </article>
);

export const ErrorsPage = (): JSX.Element => (
  <article class="stack5 wide">
    <h1>Errors</h1>
    <p class="soft">
      Branch on <code>code</code>. The message names the parameter, the value and what was expected; its wording can
      change.
    </p>
    <ErrorTable
      codes={errorCodes}
      more={(code) => (
        <details>
          <summary>{`${errors[code][1]}: where it can happen`}</summary>
          <ul class="columns">
            {operationDocs
              .filter((docs) => docs.errors.includes(code))
              .map(({ path, title }) => (
                <li key={path}>
                  <a href={path}>{title}</a>
                </li>
              ))}
          </ul>
        </details>
      )}
    />
  </article>
);
