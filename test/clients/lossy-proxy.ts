/** A proxy that loses responses on their way, after the service has sent them. */
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onScopeEnd, type Scope } from "../support/scope.ts";

/** How a response is lost: none of it arrives, or half of its body. Null passes it on. */
export type ResponseLoss = "whole" | "half" | null;

export interface LossyProxy {
  readonly url: string;
  /** The losses of the next responses, in order; later ones are passed on. */
  readonly losses: ResponseLoss[];
  /** The values of `Idempotency-Key` that arrived, in order. */
  readonly keys: (string | undefined)[];
}

/** Starts a proxy in front of a service; it stops when the scope ends. */
export async function startLossyProxy(scope: Scope, serviceUrl: string): Promise<LossyProxy> {
  const proxy: Omit<LossyProxy, "url"> = { losses: [], keys: [] };
  const server = createServer((request, response) => {
    proxy.keys.push(request.headers["idempotency-key"]?.toString());
    const loss = proxy.losses.shift() ?? null;
    get(`${serviceUrl}${request.url}`, { headers: request.headers, agent: false }, async (upstream) => {
      const body = await buffer(upstream);
      if (loss === "whole") return void request.socket.destroy();
      response.writeHead(upstream.statusCode ?? 0, { ...upstream.headers, "content-length": body.length });
      if (loss === null) return void response.end(body);
      response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return { ...proxy, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
