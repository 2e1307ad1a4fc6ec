/** A proxy between a service and PostgreSQL that loses connections at a chosen moment. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { onScopeEnd, type Scope } from "./scope.ts";

/** When a connection is lost: before the server has received a statement, or when it has committed it. */
export type LossMoment = "before the commit" | "after the commit";

export class PostgresProxy {
  private loss: { readonly moment: LossMoment; readonly text: string } | undefined;
  private readonly sockets = new Set<Socket>();
  private isRefusing = false;
  private refusesAfterLoss = false;

  private constructor(
    private readonly folder: string,
    private readonly server = createServer((client) => this.relay(client)),
  ) {}

  /** Starts a proxy for the server whose Unix socket is in a folder. */
  static async start(scope: Scope, folder: string): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(folder);
    proxy.server.listen(0, "127.0.0.1");
    await once(proxy.server, "listening");
    onScopeEnd(scope, async () => {
      proxy.server.close();
      for (const socket of proxy.sockets) socket.destroy();
    });
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Loses the connection of the next statement with a text among its parameters. If `isRefusing`, refuses all others from then on, until `accept`. */
  loseNext(moment: LossMoment, text: string, isRefusing = false): void {
    this.loss = { moment, text };
    this.refusesAfterLoss = isRefusing;
  }

  /** Accepts connections again. */
  accept(): void {
    this.isRefusing = false;
  }

  private relay(client: Socket): void {
    if (this.isRefusing) return void client.destroy();
    const server = connect(join(this.folder, ".s.PGSQL.5432"));
    const lose = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on("error", lose).on("close", () => {
        this.sockets.delete(socket);
        lose();
      });
    }
    let isLosing = false;
    client.on("data", (bytes: Buffer) => {
      const moment = this.loss !== undefined && bytes.includes(this.loss.text) ? this.loss.moment : undefined;
      if (moment !== undefined) this.loss = undefined;
      if (moment !== undefined && this.refusesAfterLoss) this.isRefusing = true;
      if (moment === "before the commit") return lose();
      isLosing ||= moment !== undefined;
      server.write(bytes);
    });
    server.on("data", (bytes: Buffer) => (isLosing ? lose() : client.write(bytes)));
  }
}
