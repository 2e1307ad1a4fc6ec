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

interface CachedPhoto {
  readonly type: string;
  readonly content: Buffer;
}

/** The media types of photos, and the bytes that their files begin with. SVG is not among them, because it can contain scripts. */
const formats: readonly (readonly [type: string, start: RegExp])[] = [
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/png", /^\x89PNG\r\n/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
  ["image/avif", /^.{4}ftypavif/s],
];

/** Returns the media type of a photo by its first bytes; undefined for any other file. */
function photoTypeOf(content: Buffer): string | undefined {
  const start = content.toString("latin1", 0, 16);
  return formats.find(([, pattern]) => pattern.test(start))?.[0];
}

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
    const fetched = this.load(key, new URL(url)).finally(() => this.arriving.delete(key));
    this.arriving.set(key, fetched);
    return fetched;
  }

  private readonly pathOf = (name: string): string => join(this.settings.folder, name);

  private async readFolder(): Promise<void> {
    await mkdir(this.settings.folder, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.settings.folder)).filter((name) => /^[0-9a-f]{64}/.test(name));
    const found = await Promise.all(
      names.map(async (name) => {
        const { size, mtimeMs } = await stat(this.pathOf(name));
        return { name, size, mtimeMs };
      }),
    );
    for (const { name, size } of found.sort((one, other) => one.mtimeMs - other.mtimeMs)) this.files.set(name, size);
  }

  /** Returns a cached photo, and records for later processes that it has been requested. */
  private async readFile(key: string): Promise<CachedPhoto | undefined> {
    try {
      const content = await readFile(this.pathOf(key));
      const type = photoTypeOf(content);
      if (type === undefined) return undefined;
      if (this.files.get(key) === undefined) this.files.set(key, content.length);
      const seconds = this.clock.wallMs() / 1000;
      await utimes(this.pathOf(key), seconds, seconds);
      return { type, content };
    } catch {
      this.files.delete(key);
      return undefined;
    }
  }

  private async load(key: string, url: URL): Promise<CachedPhoto | undefined> {
    try {
      const signal = AbortSignal.timeout(requestMs);
      const headers = { Accept: "image/*", "User-Agent": "Carquet" };
      const photo = await photoIn(await requestPublic(url, { headers, signal }, this.settings));
      // A photo that cannot be stored is shown.
      await this.store(key, photo.content).catch(() => undefined);
      return photo;
    } catch {
      this.failed.set(key, true);
      return undefined;
    }
  }

  /** Stores a photo under its name when it is complete. */
  private async store(key: string, content: Buffer): Promise<void> {
    const path = this.pathOf(key);
    const unfinished = `${path}.${process.pid}`;
    await writeFile(unfinished, content, { mode: 0o600 });
    await rename(unfinished, path);
    this.files.set(key, content.length);
    if (!this.files.has(key)) await rm(path, { force: true });
  }
}

/** Reads a photo. Throws if the response is something else, or too large. */
async function photoIn(response: IncomingMessage): Promise<CachedPhoto> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    if (response.statusCode !== 200) throw new TypeError(`Response ${response.statusCode}: expected a photo.`);
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > photoBytesMax) throw new RangeError(`Response too large: expected at most ${photoBytesMax} bytes.`);
      chunks.push(chunk);
    }
  } finally {
    response.destroy();
  }
  const content = Buffer.concat(chunks);
  const type = photoTypeOf(content);
  if (type === undefined) throw new TypeError("Response of another type: expected a photo.");
  return { type, content };
}
