/** The client that asks every server: keep-alive connections, the answer read to its end. */
import { Agent, type IncomingMessage, request } from "node:http";
import { UserError } from "../../src/base/user-error.ts";

export interface Message {
  /** A form, posted; without one, the request is a GET. */
  readonly form?: string;
  /** JSON, posted. */
  readonly json?: string;
}

export interface HttpClient {
  /** Returns the body of the response. Fails unless its status is 200. */
  readonly send: (path: string, message?: Message) => Promise<string>;
  close(): void;
}

/** A client of one server; `headers` go with each request. */
export function httpClient(url: string, headers: Readonly<Record<string, string>> = {}): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const sendOnce = (path: string, { form, json }: Message): Promise<string> =>
    new Promise((answered, failed) => {
      const body = form ?? json;
      const type = form === undefined ? "application/json" : "application/x-www-form-urlencoded";
      const entity =
        body === undefined ? {} : { "Content-Type": type, "Content-Length": String(Buffer.byteLength(body)) };
      const options = { agent, method: body === undefined ? "GET" : "POST", headers: { ...headers, ...entity } };
      const sent = request(`${url}${path}`, options, (response) => {
        read(response).then((text) => {
          if (response.statusCode === 200) answered(text);
          else failed(new UserError(`${path}: ${response.statusCode} ${text.slice(0, 500)}`));
        }, failed);
      });
      sent.on("error", (error) =>
        failed(sent.reusedSocket && isReset(error) ? new StaleConnection(path, { cause: error }) : error),
      );
      sent.end(body);
    });
  const send = async (path: string, message: Message = {}): Promise<string> => {
    for (;;) {
      try {
        return await sendOnce(path, message);
      } catch (thrown) {
        if (!(thrown instanceof StaleConnection)) throw thrown;
      }
    }
  };
  return { send, close: () => agent.destroy() };
}

/** The server closed a connection that was idle while the request was on its way: it is sent again. */
class StaleConnection extends Error {}

const isReset = (error: Error): boolean => "code" in error && error.code === "ECONNRESET";

function read(response: IncomingMessage): Promise<string> {
  return new Promise((ended, failed) => {
    const parts: Buffer[] = [];
    response.on("data", (part: Buffer) => parts.push(part));
    response.on("error", failed);
    response.on("end", () => ended(Buffer.concat(parts).toString("utf8")));
  });
}
