/** The API requests behind a page, with their prices, and the main one as code. */
import type { JSX } from "preact";
import { Code } from "../shell/blocks.tsx";
import { usd } from "../shell/format.ts";
import type { ChargedRequest, MissingPart, PageRequests } from "../shell/page-requests.ts";
import { equivalentSql } from "../shop/equivalent-sql.ts";

interface ApiRequestsProps {
  /** The origin of the service, for example `https://api.example.com`. */
  readonly origin: string;
  readonly requests: Pick<PageRequests, "charged" | "main">;
}

export const ApiRequests = ({ origin, requests: { charged, main } }: ApiRequestsProps): JSX.Element | null => {
  if (main === undefined) return null;
  return (
    <details class="api" id="api">
      <summary>
        <h2>API requests of this view</h2>
      </summary>
      <ul class="requests">
        {charged.map((request) => (
          <li key={request.requestId}>
            <code>GET {targetOf(request)}</code>
            {request.micros === 0 ? null : <span>{usd(request.micros)}</span>}
          </li>
        ))}
      </ul>
      <RequestCode origin={origin} request={main} />
    </details>
  );
};

interface RequestCodeProps {
  readonly origin: string;
  readonly request: Pick<ChargedRequest, "path" | "querystring">;
}

/** A request as code, which can be copied. */
export const RequestCode = ({ origin, request }: RequestCodeProps): JSX.Element => (
  <>
    {codeOf(`${origin}${targetOf(request)}`, request).map(([language, code]) => (
      <Code key={language} label={language} text={code} />
    ))}
  </>
);

/** Why parts of a page are missing; nothing if it is complete. */
export const MissingParts = ({ missing }: { readonly missing: readonly MissingPart[] }): JSX.Element | null =>
  missing.length === 0 ? null : (
    <div class="notice" role="status">
      {missing.map(({ name, reason }) => (
        <p key={`${name} ${reason}`}>{`Missing: ${name}. ${reason}`}</p>
      ))}
    </div>
  );

const targetOf = ({ path, querystring }: RequestCodeProps["request"]): string =>
  querystring === "" ? path : `${path}?${querystring}`;

/** Returns a request in some languages. Quotes cannot occur in its URL, because they are percent-encoded. */
function codeOf(
  url: string,
  request: RequestCodeProps["request"],
): readonly (readonly [language: string, code: string])[] {
  const isFile = request.path === "/v1/exports";
  const quoted = JSON.stringify(url);
  const statement = equivalentSql(request.path, new URLSearchParams(request.querystring));
  return [
    ["curl", `curl -H "Authorization: Bearer $CARQUET_KEY" ${isFile ? "-OJ " : ""}\\\n  '${url}'`],
    [
      "Python",
      `import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    ${quoted},\n    headers={"Authorization": f"Bearer {os.environ['CARQUET_KEY']}"},\n)\nwith urllib.request.urlopen(request) as response:\n    ${isFile ? 'open("listings", "wb").write(response.read())' : "answer = json.load(response)"}`,
    ],
    [
      "TypeScript",
      `const response = await fetch(\n  ${quoted},\n  { headers: { Authorization: \`Bearer \${process.env.CARQUET_KEY}\` } },\n);\n${isFile ? "const file = await response.blob();" : "const { data, pagination } = await response.json();"}`,
    ],
    ...(statement === undefined ? [] : [["SQL (carquet sql)", statement] as const]),
  ];
}
