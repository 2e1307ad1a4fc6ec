/** The HTTP client of the bench suite. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { test } from "node:test";
import { httpClient } from "../../bench/servers/http.ts";

const answer = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`;

/** Starts a server; `serve` gets a connection, its number, and the number of the request on it, both from 0. */
async function startServer(serve: (socket: Socket, connection: number, request: number) => void): Promise<Server> {
  let connections = 0;
  const server = createServer((socket) => {
    const connection = connections;
    connections += 1;
    let requests = 0;
    socket.on("data", () => {
      serve(socket, connection, requests);
      requests += 1;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function withClient(
  serve: (socket: Socket, connection: number, request: number) => void,
  use: (send: ReturnType<typeof httpClient>["send"]) => Promise<void>,
): Promise<void> {
  const server = await startServer(serve);
  const { port } = server.address() as AddressInfo;
  const client = httpClient(`http://127.0.0.1:${port}`);
  try {
    await use(client.send);
  } finally {
    client.close();
    server.close();
  }
}

test("a request is sent again if the server closes an idle connection", async () => {
  await withClient(
    (socket, connection, request) => {
      if (connection === 0 && request === 1) socket.destroy();
      else socket.write(answer("200 OK", `connection ${connection}`));
    },
    async (send) => {
      assert.equal(await send("/"), "connection 0");
      assert.equal(await send("/"), "connection 1");
    },
  );
});

test("a request fails if its first connection is closed or its status is not 200", async () => {
  await withClient(
    (socket, connection) => {
      if (connection === 0) socket.destroy();
      else socket.write(answer("503 Service Unavailable", "too busy"));
    },
    async (send) => {
      await assert.rejects(send("/a"), /hang up/);
      await assert.rejects(send("/b"), /\/b returned status 503: expected 200\. too busy/);
    },
  );
});
