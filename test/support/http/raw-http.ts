/** Raw HTTP over a TCP connection, for requests that an HTTP client would not send. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";

/** Sends bytes to a service and returns everything received until the connection closes. */
export function exchangeRaw(url: string, ...sent: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  for (const bytes of sent) socket.write(bytes);
  return text(socket).catch(() => "");
}
