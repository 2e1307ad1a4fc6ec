/** Load over plain connections: each asks again as soon as it has been answered. Costs the machine as little as it can. */
import { connect, type Socket } from "node:net";

export interface ChargeLoad {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How long each request took, in milliseconds, the fastest first. Fails when one is not answered with 200. */
export async function load({ port, connections, seconds, path, headers }: ChargeLoad): Promise<Float64Array> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}\r\n`;
  const untilMs = performance.now() + seconds * 1000;
  const taken: number[] = [];
  await Promise.all(Array.from({ length: connections }, () => askUntil(port, request, untilMs, taken)));
  return Float64Array.from(taken).sort();
}

function askUntil(port: number, request: string, untilMs: number, taken: number[]): Promise<void> {
  return new Promise((done, failed) => {
    let [startedAtMs, missing] = [0, -1];
    const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const ask = (): void => {
      startedAtMs = performance.now();
      socket.write(request);
    };
    socket.on("error", failed);
    socket.on("connect", ask);
    socket.on("data", (bytes: Buffer) => {
      if (missing < 0) {
        const end = bytes.indexOf("\r\n\r\n");
        const head = bytes.toString("latin1", 0, end);
        if (!head.startsWith("HTTP/1.1 200 ")) return void failed(new Error(bytes.toString("utf8").slice(0, 2000)));
        missing = end + 4 + Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1]);
      }
      missing -= bytes.length;
      if (missing > 0) return;
      missing = -1;
      taken.push(performance.now() - startedAtMs);
      if (performance.now() < untilMs) ask();
      else {
        socket.destroy();
        done();
      }
    });
  });
}
