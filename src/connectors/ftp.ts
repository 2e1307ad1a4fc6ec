/** Files on an FTP server, by default over TLS. */
import { PassThrough } from "node:stream";
import { Client, FTPError } from "basic-ftp";
import { messageOf, UserError } from "../base/user-error.ts";
import { type Connector, type FolderEntry, findFiles, serverPath, TransferFault } from "./connector.ts";

export interface FtpSettings {
  readonly host: string;
  readonly port?: number;
  readonly tls: "explicit" | "implicit" | "none";
  readonly username: string;
  readonly path: string;
}

/** The replies of a server to one command. */
const replyBytesMax = 65_536;

const secured = { explicit: true, implicit: "implicit", none: false } as const;

/** Connects to a server. `stallMs` is how long the connection may be idle; the signal ends it. */
export async function connectFtp(
  { host, tls, username: user, path: root, port = tls === "implicit" ? 990 : 21 }: FtpSettings,
  password: string | undefined,
  stallMs: number,
  signal: AbortSignal,
): Promise<Connector> {
  const client = new Client(stallMs);
  signal.addEventListener("abort", () => client.close(), { once: true });
  limitReplies(client);
  const locationOf = (path: string): string => `ftp://${host}/${serverPath(root, path).replace(/^\//, "")}`;
  await orFault(
    locationOf(""),
    client.access({ host, port, user, password: password ?? "guest", secure: secured[tls] }),
  );
  return {
    locationOf,
    list: (pattern) =>
      findFiles(pattern, async (folder, fits) => {
        const entries = await orFault(locationOf(folder), client.list(serverPath(root, folder)));
        const found: FolderEntry[] = [];
        for (const { name, isDirectory: isFolder, size: bytes, modifiedAt } of entries) {
          const path = [folder, name].filter(Boolean).join("/");
          const isAsked = modifiedAt === undefined && !isFolder && !name.includes("/") && fits(name);
          const modified = isAsked
            ? await orFault(locationOf(path), timeOf(client, serverPath(root, path)))
            : modifiedAt;
          found.push({ name, isFolder, bytes, modifiedMs: modified?.getTime() });
        }
        return found;
      }),
    read: async (path) => {
      const content = new PassThrough().on("error", () => undefined);
      client
        .downloadTo(content, serverPath(root, path))
        .catch((thrown: unknown) => content.destroy(faultOfReply(locationOf(path), thrown)));
      return { offset: 0, bytes: undefined, tag: undefined, content };
    },
  };
}

/** Returns when a file was modified, for servers whose lists have no exact times (without MLSD); undefined if the server does not say it (MDTM). */
const timeOf = (client: Client, path: string): Promise<Date | undefined> =>
  client.lastMod(path).catch((thrown: unknown) => {
    if (thrown instanceof FTPError && thrown.code >= 500) return undefined;
    throw thrown;
  });

/** Ends the connection of a server whose reply has no end: the client would wait for it. Its log has all commands and replies. */
function limitReplies({ ftp }: Client): void {
  let received = 0;
  ftp.log = (text) => {
    received = text.startsWith("> ") ? 0 : received + text.length;
    if (received > replyBytesMax)
      ftp.closeWithError(new Error(`reply too long: expected at most ${replyBytesMax} bytes`));
  };
}

const orFault = <T>(location: string, work: Promise<T>): Promise<T> =>
  work.catch((thrown: unknown) => {
    throw faultOfReply(location, thrown);
  });

/** Returns the error of a failed command: a UserError for a reply that is final (5xx), as of a wrong password, and for a certificate that is not trusted. */
function faultOfReply(location: string, thrown: unknown): Error {
  const text = `${location}: ${messageOf(thrown)}`;
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const isFinal = thrown instanceof FTPError ? thrown.code >= 500 : /CERT|SIGNATURE/.test(String(code));
  return isFinal ? new UserError(`${text}.`) : new TransferFault(text);
}
