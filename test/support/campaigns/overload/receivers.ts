/** Receivers of webhooks: one that keeps what it gets, and hostile ones that accept a message and never answer it. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { isObject } from "../../../../src/base/json.ts";
import { onScopeEnd, type Scope } from "../../scope.ts";

/** Listens on a free port until the scope ends; returns the address of the server. */
export async function listenLocally(scope: Scope, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onScopeEnd(scope, async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Sends a text again and again until the connection closes. */
export function sendForever(socket: Socket, sent: string, everyMs: number): void {
  const timer = setInterval(() => void (socket.destroyed ? clearInterval(timer) : socket.write(sent)), everyMs);
  socket.once("close", () => clearInterval(timer));
}

/** What hostile receivers do with a connection. */
const hostileAnswers: readonly ((socket: Socket) => void)[] = [
  () => undefined,
  (socket) => sendForever(socket.resume(), "H", 1000),
  (socket) => {
    socket.resume().write("HTTP/1.1 200 OK\r\n");
    sendForever(socket, "X-A: b\r\n", 1000);
  },
];

/** Starts hostile receivers; returns their addresses. */
export const startHostileReceivers = (scope: Scope): Promise<readonly string[]> =>
  Promise.all(hostileAnswers.map((answer) => listenLocally(scope, createServer(answer))));

/** A message that was received, and when, on the clock of `Date.now`. */
export interface ReceivedMessage {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

/** A receiver that verifies messages, and keeps them by the id of their search. */
export class GoodReceiver {
  readonly secrets = new Map<string, string>();
  /** Messages of each search, without repeated ones. */
  readonly received = new Map<string, ReceivedMessage[]>();
  repeated = 0;
  private url = "";

  constructor(private readonly onProblem: (kind: string, details: string) => void) {}

  async start(scope: Scope): Promise<void> {
    const server = createHttpServer(async (request, response) => {
      const body = await text(request).catch(() => undefined);
      if (body !== undefined) this.receive(body, request.headers);
      response.writeHead(204).end();
    });
    this.url = await listenLocally(scope, server);
  }

  get address(): string {
    return this.url;
  }

  private receive(body: string, headers: Readonly<Record<string, unknown>>): void {
    const parsed: unknown = JSON.parse(body);
    const data = isObject(parsed) && isObject(parsed.data) ? parsed.data : {};
    const search = String(data.search_id);
    const secret = this.secrets.get(search);
    // The client of the search has not received its secret, because the service was killed.
    if (secret === undefined) return;
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    try {
      new Webhook(secret).verify(body, texts);
    } catch (thrown) {
      this.onProblem("message signed wrongly", String(thrown));
    }
    this.keep(search, {
      id: String(headers["webhook-id"]),
      type: isObject(parsed) ? String(parsed.type) : "",
      data,
      atMs: Date.now(),
    });
  }

  private keep(search: string, message: ReceivedMessage): void {
    const messages = this.received.get(search) ?? [];
    this.received.set(search, messages);
    const known = messages.find(({ id }) => id === message.id);
    if (known === undefined) messages.push(message);
    else {
      this.repeated += 1;
      if (JSON.stringify(known.data) !== JSON.stringify(message.data))
        this.onProblem("repeated message differs", `${message.id} of search ${search}`);
    }
  }
}
