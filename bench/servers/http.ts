/** The HTTP client of the suite: keep-alive connections, whole bodies, no redirects. */
import { Agent, type IncomingMessage, request } from "node:http";
import { UserError } from "../../src/base/user-error.ts";

/** A body to POST. Without one, the request is a GET. */
export interface RequestBody {
  /** URL-encoded form. */
  readonly form?: string;
  readonly json?: string;
}

export interface HttpClient {
  /** Returns the body of the response. Throws a `UserError` unless the status is 200. */
  readonly send: (path: string, body?: RequestBody) => Promise<string>;
  close(): void;
}

/** Creates a client of one server. `headers` are sent with each request. */
export function httpClient(url: string, headers: Readonly<Record<string, string>> = {}): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const sendOnce = (path: string, { form, json }: RequestBody): Promise<string> =>
    new Promise((resolve, reject) => {
      const body = form ?? json;
      const type = form === undefined ? "application/json" : "application/x-www-form-urlencoded";
      const bodyHeaders =
        body === undefined ? {} : { "Content-Type": type, "Content-Length": String(Buffer.byteLength(body)) };
      const options = { agent, method: body === undefined ? "GET" : "POST", headers: { ...headers, ...bodyHeaders } };
      const sent = request(`${url}${path}`, options, (response) => {
        readBody(response).then((text) => {
          if (response.statusCode === 200) resolve(text);
          else reject(unexpectedStatus(path, response.statusCode, text));
        }, reject);
      });
      sent.on("error", (error) =>
        reject(sent.reusedSocket && isReset(error) ? new StaleConnection(path, { cause: error }) : error),
      );
      sent.end(body);
    });
  const send = async (path: string, body: RequestBody = {}): Promise<string> => {
    for (;;) {
      try {
        return await sendOnce(path, body);
      } catch (thrown) {
        if (!(thrown instanceof StaleConnection)) throw thrown;
      }
    }
  };
  return { send, close: () => agent.destroy() };
}

const unexpectedStatus = (path: string, status: number | undefined, body: string): UserError =>
  new UserError(`${path} returned status ${status}: expected 200. ${body.slice(0, 500)}`);

/** The server closed an idle keep-alive connection while a request was on its way. The request is retried. */
class StaleConnection extends Error {}

const isReset = (error: Error): boolean => "code" in error && error.code === "ECONNRESET";

function readBody(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });
}
