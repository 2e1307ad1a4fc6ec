/** Types of the part of `yauzl` that is used. */
declare module "yauzl" {
  import type { Readable } from "node:stream";

  export interface Entry {
    readonly fileName: string;
    readonly uncompressedSize: number;
    isEncrypted(): boolean;
  }

  export interface ZipFile {
    readonly entryCount: number;
    on(event: "entry", listener: (entry: Entry) => void): this;
    on(event: "end", listener: () => void): this;
    on(event: "error", listener: (error: Error) => void): this;
    readEntry(): void;
    openReadStream(entry: Entry, callback: (error: Error | null, stream: Readable) => void): void;
    close(): void;
  }

  export function open(
    path: string,
    options: { readonly lazyEntries: true; readonly autoClose: false; readonly strictFileNames: true },
    callback: (error: Error | null, zip: ZipFile) => void,
  ): void;
}
