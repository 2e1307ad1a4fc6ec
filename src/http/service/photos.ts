/**
 * Photos of listings, which dealers serve. In mode `direct`, browsers request them from the dealers' hosts, which learn who looks; in mode `proxy`,
 * the service requests each once, and caches it on disk. The photos least recently requested are removed when the cache is full.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../accounts/clock.ts";
import { type PublicRequestOptions, requestPublic } from "./public-requests.ts";

export type PhotoMode = "off" | "direct" | "proxy";

/** Photos are `off` by default. The folder and its size concern the proxy. */
export interface PhotoSettings extends PublicRequestOptions {
  readonly mode: PhotoMode;
  readonly folder: string;
  readonly bytesMax: number;
}

export interface CachedPhoto {
  readonly type: string;
  readonly content: Buffer;
}

/** The media types of photos by the extension of their files. SVG is not among them, because it can contain scripts. */
const mediaTypes: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  avif: "image/avif",
  gif: "image/gif",
};

/** The size of a photo, the time that it may take to arrive, and how many arrive at once. */
export const photoBytesMax = 5 * 2 ** 20;
const [requestMs, requestsMax] = [10_000, 32];

/** How long a photo that failed is not requested again, and how many of these are remembered. */
const failures = { ttl: 600_000, max: 20_000 };

export class Photos {
  readonly mode: PhotoMode;
  /** The sizes of the cached files by name, the most recently requested last. */
  private readonly files: LRUCache<string, number>;
  private readonly failed = new LRUCache<string, true>(failures);
  private readonly arriving = new Map<string, Promise<CachedPhoto | undefined>>();

  private constructor(
    private readonly settings: PhotoSettings,
    private readonly clock: Clock,
  ) {
    this.mode = settings.mode;
    this.files = new LRUCache({
      maxSize: settings.bytesMax,
      sizeCalculation: (bytes) => Math.max(1, bytes),
      dispose: (_, name, reason) => {
        if (reason === "evict") void rm(this.pathOf(name), { force: true });
      },
    });
  }

  /** Opens the cache, with the files of earlier processes. */
  static async open(settings: PhotoSettings, clock: Clock): Promise<Photos> {
    const photos = new Photos(settings, clock);
    if (settings.mode === "proxy") await photos.readFolder();
    return photos;
  }

  /** Returns a photo, from the cache or from its host. Returns undefined if the host has none, or sends anything but a photo. */
  async read(url: string): Promise<CachedPhoto | undefined> {
    const key = createHash("sha256").update(url).digest("hex");
    if (this.mode !== "proxy" || this.failed.has(key)) return undefined;
    const cached = await this.readFile(key);
    if (cached !== undefined) return cached;
    const arriving = this.arriving.get(key);
    if (arriving !== undefined) return arriving;
    if (this.arriving.size >= requestsMax) return undefined;
    const fetched = this.fetch(key, new URL(url)).finally(() => this.arriving.delete(key));
    this.arriving.set(key, fetched);
    return fetched;
  }

  private readonly pathOf = (name: string): string => join(this.settings.folder, name);

  private async readFolder(): Promise<void> {
    const { folder } = this.settings;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = await readdir(folder);
    await Promise.all(
      names.filter((name) => name.endsWith(".part")).map((name) => rm(this.pathOf(name), { force: true })),
    );
    const known = names.filter((name) => mediaTypes[name.split(".")[1] ?? ""] !== undefined);
    const found = await Promise.all(known.map(async (name) => ({ name, ...(await this.statOf(name)) })));
    for (const { name, size } of found.sort((one, other) => one.atMs - other.atMs)) this.files.set(name, size);
  }

  private async statOf(name: string): Promise<{ readonly size: number; readonly atMs: number }> {
    const { size, mtimeMs } = await stat(this.pathOf(name));
    return { size, atMs: mtimeMs };
  }

  private async readFile(key: string): Promise<CachedPhoto | undefined> {
    for (const [extension, type] of Object.entries(mediaTypes)) {
      const name = `${key}.${extension}`;
      if (this.files.get(name) === undefined) continue;
      try {
        const content = await readFile(this.pathOf(name));
        // The order of requests, for the next process.
        const seconds = this.clock.wallMs() / 1000;
        await utimes(this.pathOf(name), seconds, seconds);
        return { type, content };
      } catch {
        this.files.delete(name);
      }
    }
    return undefined;
  }

  private async fetch(key: string, url: URL): Promise<CachedPhoto | undefined> {
    try {
      const signal = AbortSignal.timeout(requestMs);
      const headers = { Accept: "image/*", "User-Agent": "Carquet" };
      const photo = await photoIn(await requestPublic(url, { headers, signal }, this.settings));
      await this.store(key, photo);
      return photo;
    } catch {
      this.failed.set(key, true);
      return undefined;
    }
  }

  /** Stores a photo under its name when it is complete. */
  private async store(key: string, { type, content }: CachedPhoto): Promise<void> {
    const extension = Object.keys(mediaTypes).find((one) => mediaTypes[one] === type);
    const [name, path] = [`${key}.${extension}`, this.pathOf(key)];
    await writeFile(`${path}.part`, content, { mode: 0o600 });
    await rename(`${path}.part`, this.pathOf(name));
    this.files.set(name, content.length);
    if (!this.files.has(name)) await rm(this.pathOf(name), { force: true });
  }
}

/** Reads a photo. Throws if the response is something else, or too large. */
async function photoIn(response: IncomingMessage): Promise<CachedPhoto> {
  const [type = ""] = (response.headers["content-type"] ?? "").toLowerCase().split(";");
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    if (response.statusCode !== 200 || !Object.values(mediaTypes).includes(type.trim()))
      throw new TypeError(`Response ${response.statusCode} with type ${type}: expected a photo.`);
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > photoBytesMax)
        throw new RangeError(`The photo is too large: expected at most ${photoBytesMax} bytes.`);
      chunks.push(chunk);
    }
  } finally {
    response.destroy();
  }
  return { type: type.trim(), content: Buffer.concat(chunks) };
}
