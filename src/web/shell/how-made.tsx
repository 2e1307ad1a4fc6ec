/** How a page was made: the API requests with their prices, and the same in SQL. It ends every page that searches. */
import type { JSX } from "preact";
import { CodeBox } from "../components/code-box.tsx";
import { usd } from "./format.ts";
import type { ChargedRequest } from "./page-requests.ts";

interface HowMadeProps {
  readonly requests: readonly ChargedRequest[];
  /** The statement that answers the same, if there is one. */
  readonly sql?: string | undefined;
}

export const HowMade = ({ requests, sql }: HowMadeProps): JSX.Element | null => {
  const [first] = requests;
  if (first === undefined) return null;
  const text = requests
    .map(({ path, querystring, micros }) =>
      [`GET ${path}`, querystring === "" ? "" : `?${querystring}`, micros === 0 ? "" : `  # ${usd(micros)}`].join(""),
    )
    .join("\n");
  return (
    <details class="how">
      <summary>How this page was made: the API {requests.length === 1 ? "request" : "requests"} and the SQL</summary>
      <div class="two">
        <CodeBox
          title={requests.length === 1 ? "Request" : `${requests.length} requests`}
          code={text}
          open={{ path: first.buildPath, text: "Open in Build" }}
        />
        {sql === undefined ? null : (
          <CodeBox
            title="The same in SQL"
            code={sql}
            language="sql"
            open={{ path: `/sql?${new URLSearchParams({ statement: sql })}`, text: "Open in SQL" }}
          />
        )}
      </div>
    </details>
  );
};
