/** The pages about all operations: the overview, the conventions of the document, and the errors. */
import type { JSX } from "preact";
import { document } from "../../contract/document.ts";
import { errors } from "../../contract/errors.ts";
import { usd } from "../shell/format.ts";
import { proseHtml } from "./markdown.tsx";
import { docsGroups } from "./navigation.ts";
import { operationDocs } from "./operation-docs.ts";

/** Why one would read a page of the first group. */
const startWords = [
  "Two commands, the first request, the first page.",
  "From a dealer's export to a search, in ten minutes.",
  "What happens between a feed and an answer, in one picture.",
  "Messages, their causes and their cures.",
];

export const OverviewPage = (): JSX.Element => (
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
    {document.tags.map((tag) => (
      <TagTable key={tag.name} {...tag} />
    ))}
  </article>
);

const TagTable = ({ name, description }: (typeof document.tags)[number]): JSX.Element => (
  <section aria-labelledby={`tag-${name}`}>
    <h2 id={`tag-${name}`}>{name}</h2>
    <p class="soft small">{description}</p>
    <table>
      <tbody>
        {operationDocs
          .filter(({ tag }) => tag === name)
          .map(({ page, object, operation, prices }) => (
            <tr key={page}>
              <td>
                <a href={page}>{object.summary}</a>
                <div class="small muted mono">{`${operation.method.toUpperCase()} ${operation.path}`}</div>
              </td>
              <td class="num small">{prices[0] === undefined ? "free" : usd(prices[0])}</td>
            </tr>
          ))}
      </tbody>
    </table>
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
    <dl class="params">
      {Object.entries(errors).map(([code, [status, type, , message]]) => (
        <div key={code} id={code}>
          <dt>
            <code>{code}</code>
            <span class="muted small">{`${status}, ${type}`}</span>
          </dt>
          <dd>
            {message}
            <details>
              <summary>Where it can happen</summary>
              <ul class="columns">
                {operationDocs
                  .filter((docs) => docs.errors.some((one) => one === code))
                  .map(({ page, object }) => (
                    <li key={page}>
                      <a href={page}>{object.summary}</a>
                    </li>
                  ))}
              </ul>
            </details>
          </dd>
        </div>
      ))}
    </dl>
  </article>
);
