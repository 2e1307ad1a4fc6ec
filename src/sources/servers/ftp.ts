/** Feeds on an FTP server, by default over TLS. */
import { PassThrough } from "node:stream";
import { Client, FTPError } from "basic-ftp";
import { messageOf, UserError } from "../../base/user-error.ts";
import { TransferFault } from "../../replication/source.ts";
import { type Connection, type FeedServer, findFiles, type ListFolder, type SecretOf } from "../feed-server.ts";
import type { FtpSettings } from "../sources-file.ts";

const secured = { explicit: true, implicit: "implicit", none: false } as const;

export async function connectFtp(settings: FtpSettings & Connection, secret: SecretOf): Promise<FeedServer> {
  const { host, username: user, tls, path: root, pattern, stallMs, signal } = settings;
  const { port = tls === "implicit" ? 990 : 21 } = settings;
  const client = new Client(stallMs);
  signal.addEventListener("abort", () => client.close(), { once: true });
  const password = secret("ftp.passwordVariable", settings.passwordVariable) ?? "guest";
  await orFault(client.access({ host, port, user, password, secure: secured[tls] }));
  const listFolder: ListFolder = async (folder) =>
    (await orFault(client.list(pathOf(root, folder)))).map(({ name, isDirectory, size: bytes, modifiedAt }) => ({
      ...{ name, bytes, modifiedMs: modifiedAt?.getTime(), isFolder: isDirectory },
    }));
  return {
    list: () => findFiles(pattern, listFolder),
    open: async (file) => {
      const content = new PassThrough().on("error", () => undefined);
      client
        .downloadTo(content, pathOf(root, file.path))
        .catch((thrown: unknown) => content.destroy(faultOfReply(thrown)));
      return { ...file, content };
    },
  };
}

const pathOf = (root: string, path: string): string =>
  root === "." ? path || "." : `${root.replace(/\/$/, "")}/${path}`;

const orFault = <T>(work: Promise<T>): Promise<T> =>
  work.catch((thrown: unknown) => {
    throw faultOfReply(thrown);
  });

/** Returns the error of a failed command: a UserError for a reply that is final (5xx), as of a wrong password, and for a certificate that is not trusted. */
function faultOfReply(thrown: unknown): Error {
  const text = messageOf(thrown);
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const isFinal = thrown instanceof FTPError ? thrown.code >= 500 : /CERT|SIGNATURE/.test(String(code));
  return isFinal ? new UserError(`${text}.`) : new TransferFault(text);
}
