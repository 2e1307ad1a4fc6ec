/** An SFTP server of files in memory, by the server of `ssh2`. */
import { createHash } from "node:crypto";
import { type AddressInfo, createServer } from "node:net";
import ssh2, { type SFTPWrapper as ServerSession, type Connection as SshConnection } from "ssh2";
import { onScopeEnd, type Scope } from "../scope.ts";
import {
  type ListedName,
  namesInFolder,
  plainPath,
  type ServedFile,
  type ServedFiles,
  servedFiles,
  smallBytes,
} from "./served-files.ts";

export interface SftpServer extends ServedFiles {
  readonly port: number;
  /** The fingerprint of its key. */
  readonly hostKey: string;
  /** User names of log-ins, with the method. */
  readonly logIns: string[];
  /** Names of links without a target, in the root folder as well. */
  readonly danglingLinks: string[];
  /** Paths that may not be read: of files, of folders, the root folder's empty. */
  readonly denied: Set<string>;
  /** Paths of files that were opened, or could not be. */
  readonly opened: string[];
}

/** A new pair of keys. Not ed25519: the generator of ssh2 drops a leading zero byte of such a key, and it cannot be parsed. */
const newKey = () => ssh2.utils.generateKeyPairSync("ecdsa", { bits: 256 });

/** A key that logs in, besides the password `secret`. */
export const clientKey = newKey();

const status = ssh2.utils.sftp.STATUS_CODE;

/** Starts a server on a free port until the scope ends. */
export async function startSftpServer(scope: Scope): Promise<SftpServer> {
  const hostKey = newKey();
  const [, blob = ""] = hostKey.public.split(" ");
  const digest = createHash("sha256").update(Buffer.from(blob, "base64")).digest("base64").replace(/=$/, "");
  const served = {
    ...servedFiles(),
    logIns: [],
    danglingLinks: [],
    denied: new Set<string>(),
    opened: [],
    hostKey: `SHA256:${digest}`,
    port: 0,
  };
  const connections = new Set<SshConnection>();
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (connection) => {
    connections.add(connection);
    connection.on("error", () => undefined);
    logIn(connection, served.logIns);
    connection.on("session", (accept) => {
      accept().on("sftp", (acceptSftp) => answerSession(acceptSftp(), served, connection));
    });
  });
  const listener = createServer({ noDelay: true }, (socket) => server.injectSocket(socket));
  await new Promise<void>((listening) => listener.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => {
    for (const connection of connections) connection.end();
    listener.close();
  });
  return Object.assign(served, { port: (listener.address() as AddressInfo).port });
}

function logIn(connection: SshConnection, logIns: string[]): void {
  const key = ssh2.utils.parseKey(clientKey.public);
  if (key instanceof Error) throw key;
  connection.on("authentication", (context) => {
    logIns.push(`${context.username} ${context.method}`);
    if (context.method === "password" && context.password === "secret") return context.accept();
    const isKnown = context.method === "publickey" && context.key.data.equals(key.getPublicSSH());
    if (isKnown && context.method === "publickey" && context.blob === undefined) return context.accept();
    if (isKnown && context.signature && key.verify(context.blob ?? "", context.signature) === true)
      return context.accept();
    context.reject(["password", "publickey"]);
  });
}

interface OpenHandle {
  readonly path: string;
  /** The names that are not listed yet. */
  names?: readonly ListedName[];
}

function answerSession(session: ServerSession, served: SftpServer, connection: SshConnection): void {
  const handles: OpenHandle[] = [];
  let isCutOff = false;
  const open = (handle: OpenHandle): Buffer => Buffer.from([handles.push(handle) - 1]);
  const handleOf = (id: Buffer): OpenHandle => handles[id[0] ?? -1] ?? { path: "" };
  session.on("REALPATH", (id, path) =>
    session.name(id, [{ filename: path, longname: path, attrs: attributes(undefined) }]),
  );
  session.on("OPENDIR", (id, path) => {
    const names = namesInFolder(served, plainPath(path));
    if (served.denied.has(plainPath(path))) session.status(id, status.PERMISSION_DENIED);
    else if (names === undefined) session.status(id, status.NO_SUCH_FILE);
    else session.handle(id, open({ path, names }));
  });
  session.on("READDIR", (id, handle) => {
    const opened = handleOf(handle);
    const names = opened.names ?? [];
    opened.names = [];
    if (names.length === 0) return session.status(id, status.EOF);
    const links = plainPath(opened.path) === "" ? served.danglingLinks : [];
    session.name(id, [
      ...names.map(({ name, file }) => ({ filename: name, longname: name, attrs: attributes(file) })),
      ...links.map((name) => ({ filename: name, longname: name, attrs: { ...attributes(undefined), mode: 0o120777 } })),
    ]);
  });
  session.on("STAT", (id, path) =>
    session.status(id, served.denied.has(plainPath(path)) ? status.PERMISSION_DENIED : status.NO_SUCH_FILE),
  );
  session.on("OPEN", (id, path) => {
    served.opened.push(plainPath(path));
    if (served.denied.has(plainPath(path))) session.status(id, status.PERMISSION_DENIED);
    else if (served.files.has(plainPath(path))) session.handle(id, open({ path: plainPath(path) }));
    else session.status(id, status.NO_SUCH_FILE);
  });
  session.on("FSTAT", (id, handle) => session.attrs(id, attributes(served.files.get(handleOf(handle).path))));
  session.on("READ", (id, handle, offset, length) => {
    const { path } = handleOf(handle);
    const content = served.files.get(path)?.content ?? Buffer.alloc(0);
    if (offset >= content.length) return session.status(id, status.EOF);
    if (isCutOff) return;
    if (served.cutOffs > 0 && content.length > smallBytes && offset + length > content.length / 2) {
      served.cutOffs -= 1;
      isCutOff = true;
      return void connection.end();
    }
    session.data(id, content.subarray(offset, offset + length));
  });
  session.on("CLOSE", (id, handle) => {
    const { path, names } = handleOf(handle);
    if (names === undefined) served.sent.push(path);
    session.status(id, status.OK);
  });
}

/** The attributes of a file, or of a folder. */
const attributes = (file: ServedFile | undefined) => {
  const mtime = Math.floor((file?.modifiedMs ?? 0) / 1000);
  return {
    mode: file === undefined ? 0o40755 : 0o100644,
    uid: 0,
    gid: 0,
    size: file?.content.length ?? 0,
    atime: mtime,
    mtime,
  };
};
