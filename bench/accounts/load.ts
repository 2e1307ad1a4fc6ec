/** A load generator over raw sockets: each connection sends its next request when it has the answer. Uses little processor time itself. */
import { connect, type Socket } from "node:net";

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly path: string;
  /** API keys, used by the connections in turn. */
  readonly keys: readonly string[];
}

/** Returns the time of each request in milliseconds, in ascending order. Rejects if an answer has a status other than 200. */
export async function generateLoad(options: LoadOptions): Promise<Float64Array> {
  const { port, connections, seconds, path, keys } = options;
  const requestWith = (key = ""): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const endAtMs = performance.now() + seconds * 1000;
  const times: number[] = [];
  const requests = Array.from({ length: connections }, (_, index) => requestWith(keys[index % keys.length]));
  await Promise.all(requests.map((request) => runConnection(port, request, endAtMs, times)));
  return Float64Array.from(times).sort();
}

/** Sends a request repeatedly until `endAtMs` and appends the time of each to `times`. */
function runConnection(port: number, request: string, endAtMs: number, times: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAtMs = 0;
    let missingBytes = -1;
    const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const send = (): void => {
      sentAtMs = performance.now();
      socket.write(request);
    };
    socket.on("error", reject);
    socket.on("connect", send);
    socket.on("data", (chunk: Buffer) => {
      if (missingBytes < 0) {
        const headEnd = chunk.indexOf("\r\n\r\n");
        const head = chunk.toString("latin1", 0, headEnd);
        if (!head.startsWith("HTTP/1.1 200 ")) return void reject(new Error(chunk.toString("utf8").slice(0, 2000)));
        missingBytes = headEnd + 4 + Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1]);
      }
      missingBytes -= chunk.length;
      if (missingBytes > 0) return;
      missingBytes = -1;
      times.push(performance.now() - sentAtMs);
      if (performance.now() < endAtMs) send();
      else {
        socket.destroy();
        resolve();
      }
    });
  });
}
