/** An FTP server of files in memory (RFC 959, 2228, 2428, 3659), with a certificate over explicit TLS. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { onScopeEnd, type Scope } from "../scope.ts";
import { namesInFolder, plainPath, type ServedFiles, servedFiles, smallBytes } from "./served-files.ts";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface FtpServer extends ServedFiles {
  readonly port: number;
  /** The commands that it received, without passwords. */
  readonly commands: string[];
  /** Whether it lists files as Unix does (LIST), without exact times; MDTM says them. */
  isOld: boolean;
}

/** Starts a server on a free port until the scope ends. */
export async function startFtpServer(scope: Scope, certificate?: Certificate): Promise<FtpServer> {
  const commands: string[] = [];
  const served = { ...servedFiles(), commands, port: 0, isOld: false };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    new FtpSession(served, sockets, certificate).begin(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return Object.assign(served, { port: (server.address() as AddressInfo).port });
}

class FtpSession {
  private control: Socket | undefined;
  private data: Promise<Socket> | undefined;
  private isSecure = false;
  private user = "";
  private isLoggedIn = false;

  constructor(
    private readonly served: FtpServer,
    private readonly sockets: Set<Socket>,
    private readonly certificate: Certificate | undefined,
  ) {}

  begin(socket: Socket): void {
    this.listen(socket);
    this.reply("220 ready");
  }

  private listen(socket: Socket): void {
    this.control = socket;
    socket
      .on("error", () => undefined)
      .on("data", (chunk) => {
        for (const line of String(chunk)
          .split("\r\n")
          .filter((text) => text !== ""))
          void this.answer(line);
      });
  }

  private reply(text: string): void {
    this.control?.write(`${text}\r\n`);
  }

  private secured(socket: Socket): TLSSocket {
    return new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ ...this.certificate }) });
  }

  private async answer(line: string): Promise<void> {
    const [, command = "", argument = ""] = /^(\S+) ?(.*)$/.exec(line) ?? [];
    const name = command.toUpperCase();
    this.served.commands.push(name === "PASS" ? "PASS" : line);
    if (name === "AUTH" && this.certificate !== undefined && this.control !== undefined) {
      const plain = this.control.removeAllListeners("data");
      this.reply("234 ok");
      this.isSecure = true;
      return this.listen(this.secured(plain));
    }
    if (name === "USER") this.user = argument;
    if (name === "USER") return this.reply("331 password");
    if (name === "PASS") this.isLoggedIn = this.user === "carquet" && argument === "secret";
    if (name === "PASS") return this.reply(this.isLoggedIn ? "230 welcome" : `530 wrong password: ${argument}`);
    if (name === "FEAT") {
      const lists = this.served.isOld ? " MDTM" : " MLST type*;size*;modify*;";
      return this.reply(`211-Features\r\n${lists}\r\n EPSV\r\n211 end`);
    }
    if (["TYPE", "OPTS", "PBSZ", "PROT", "STRU"].includes(name)) return this.reply("200 ok");
    if (!this.isLoggedIn) return this.reply("530 log in");
    if (name === "PWD") return this.reply('257 "/"');
    if (name === "EPSV") return this.openPort();
    if (name === "RETR" || name === (this.served.isOld ? "LIST" : "MLSD"))
      return this.send(name, plainPath(name === "LIST" ? argument.replace(/^-a ?/, "") : argument));
    const modifiedMs = name === "MDTM" ? this.served.files.get(plainPath(argument))?.modifiedMs : undefined;
    if (modifiedMs !== undefined) return this.reply(`213 ${timeText(modifiedMs)}`);
    return this.reply(name === "QUIT" ? "221 bye" : "502 unknown");
  }

  private async openPort(): Promise<void> {
    const server = createServer({ pauseOnConnect: false });
    this.data = new Promise((resolve) => {
      server.once("connection", (socket) => {
        this.sockets.add(socket.on("error", () => undefined));
        server.close();
        resolve(this.isSecure ? this.secured(socket) : socket);
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    this.reply(`229 Entering Extended Passive Mode (|||${(server.address() as AddressInfo).port}|)`);
  }

  private async send(command: string, path: string): Promise<void> {
    const { files, cutOffs, sent } = this.served;
    const content = command === "RETR" ? files.get(path)?.content : this.listing(path);
    if (content === undefined) return this.reply("550 not found");
    this.reply("150 here it comes");
    const socket = await this.data;
    if (command === "RETR" && cutOffs > 0 && content.length > smallBytes) {
      this.served.cutOffs -= 1;
      socket?.write(content.subarray(0, content.length / 2), () => {
        for (const one of [socket, this.control]) one?.destroy();
      });
      return;
    }
    if (command === "RETR") sent.push(path);
    socket?.end(content);
    this.reply("226 sent");
  }

  private listing(folder: string): Buffer | undefined {
    const lines = namesInFolder(this.served, folder)?.map(({ name, file }) => {
      const size = file?.content.length ?? 0;
      if (this.served.isOld)
        return `${file === undefined ? "d" : "-"}rw-r--r-- 1 ftp ftp ${size} Nov 18 12:00 ${name}\r\n`;
      const time = timeText(file?.modifiedMs ?? 0);
      return `type=${file === undefined ? "dir" : "file"};size=${size};modify=${time}; ${name}\r\n`;
    });
    return lines === undefined ? undefined : Buffer.from(lines.join(""));
  }
}

/** Returns a time as the protocol has it: `20261118120000`. */
const timeText = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+Z/g, "");
