/** The connection thread of a `PostgresDatabase`, as the thread sees it that waits for its replies. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from "node:worker_threads";
import { startWorker } from "../base/worker-threads.ts";
import type {
  ConnectionRequest,
  ConnectionSettings,
  StatementReply,
  StatementsReply,
  StatementsRequest,
} from "./postgres-connection.ts";
import { PostgresFault } from "./postgres-fault.ts";

const connectionModule = new URL("./postgres-connection.ts", import.meta.url);

export class BlockingConnection {
  private readonly replies = new Int32Array(new SharedArrayBuffer(4));
  private readonly thread: Worker;
  private readonly port: MessagePort;
  private isClosed = false;

  constructor(settings: Omit<ConnectionSettings, "replies">) {
    this.thread = startWorker(connectionModule, { ...settings, replies: this.replies } satisfies ConnectionSettings);
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.thread.postMessage(port2, [port2]);
    // Neither keeps the process running: this thread waits for each reply itself.
    this.thread.unref();
    this.port.unref();
  }

  /** Sends statements, waits for the reply, and returns their results. Throws a PostgresFault if one of them fails. */
  exchange(request: StatementsRequest): readonly StatementReply[] {
    if (this.isClosed) throw new TypeError("The database is closed.");
    this.port.postMessage(JSON.stringify(request));
    for (;;) {
      const known = Atomics.load(this.replies, 0);
      const received: { readonly message: string } | undefined = receiveMessageOnPort(this.port);
      if (received === undefined) {
        if (known === -1) throw new TypeError("The connection thread has exited.");
        Atomics.wait(this.replies, 0, known);
        continue;
      }
      const reply: StatementsReply = JSON.parse(received.message);
      if ("error" in reply) throw new PostgresFault(reply.error);
      return reply.results;
    }
  }

  /** Ends the thread. Idempotent. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.port.postMessage(JSON.stringify(null satisfies ConnectionRequest));
    this.port.close();
  }
}
