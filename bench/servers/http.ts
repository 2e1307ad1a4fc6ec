/** The client that asks every server: keep-alive connections, the answer read to its end. */
import { Agent, type IncomingMessage, request } from "node:http";
import { Failure } from "../../src/base/failure.ts";

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
  const send = (path: string, { form, json }: Message = {}): Promise<string> =>
    new Promise((answered, failed) => {
      const body = form ?? json;
      const type = form === undefined ? "application/json" : "application/x-www-form-urlencoded";
      const entity =
        body === undefined ? {} : { "Content-Type": type, "Content-Length": String(Buffer.byteLength(body)) };
      const options = { agent, method: body === undefined ? "GET" : "POST", headers: { ...headers, ...entity } };
      request(`${url}${path}`, options, (response) => {
        read(response).then((text) => {
          if (response.statusCode === 200) answered(text);
          else failed(new Failure(`${path}: ${response.statusCode} ${text.slice(0, 500)}`));
        }, failed);
      })
        .on("error", failed)
        .end(body);
    });
  return { send, close: () => agent.destroy() };
}

function read(response: IncomingMessage): Promise<string> {
  return new Promise((ended, failed) => {
    const parts: Buffer[] = [];
    response.on("data", (part: Buffer) => parts.push(part));
    response.on("error", failed);
    response.on("end", () => ended(Buffer.concat(parts).toString("utf8")));
  });
}
