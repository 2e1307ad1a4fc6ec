/**
 * Passwords: scrypt hashes with the parameters that OWASP recommends, as PHC strings that name their parameters. Hashing runs on libuv's
 * thread pool and takes 128 MiB and about half a second, so at most two hashes are computed at once and few wait.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { slotPool } from "../../db/fair-pool.ts";
import { Job } from "../../db/job.ts";

/** Hashes that are computed at once, each in 128 MiB, and those that wait. */
const runningMax = 2;
const waitingMax = 20;

/** The cost parameters of a hash: N = 2 ** ln. */
interface ScryptCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

const currentCost: ScryptCost = { ln: 17, r: 8, p: 1 };
const saltBytes = 16;
const hashBytes = 32;
/** The accepted lengths, in characters. There are no rules of composition. */
export const passwordLengths = { min: 12, max: 256 } as const;

export const passwordRule = `${passwordLengths.min} to ${passwordLengths.max} characters`;

export function isAcceptedPassword(password: string): boolean {
  const { length } = [...password.normalize("NFKC")];
  return passwordLengths.min <= length && length <= passwordLengths.max;
}

/** Returns the hash of a password as a PHC string, `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`. Refuses with `overloaded`. */
export async function hashPassword(password: string, source: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return phcString(currentCost, salt, await derive(password, salt, currentCost, source));
}

/** A hash that no password matches: verifying against it takes as long as against any other. */
const decoyHash = phcString(currentCost, Buffer.alloc(saltBytes), Buffer.alloc(hashBytes));

/** Returns true if a password has this hash. Without a hash, does the same work and returns false. Refuses with `overloaded`. */
export async function matchesPassword(password: string, phc: string | undefined, source: string): Promise<boolean> {
  const { cost, salt, hash } = parsePhcString(phc ?? decoyHash);
  const isEqual = timingSafeEqual(await derive(password, salt, cost, source), hash);
  return isEqual && phc !== undefined;
}

function phcString({ ln, r, p }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$${unpaddedBase64(salt)}$${unpaddedBase64(hash)}`;
}

function unpaddedBase64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

const phcPattern = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function parsePhcString(phc: string): { readonly cost: ScryptCost; readonly salt: Buffer; readonly hash: Buffer } {
  const [, ln, r, p, salt = "", hash = ""] = phcPattern.exec(phc) ?? [];
  if (hash === "") throw new TypeError("Invalid password hash: expected a PHC string of scrypt.");
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64"),
    hash: Buffer.from(hash, "base64"),
  };
}

const pool = slotPool(runningMax, waitingMax);

/** Computes a hash in the turn of its source, a client's network or an account: hashes are divided between them as writers of exports are. */
function derive(password: string, salt: Buffer, { ln, r, p }: ScryptCost, source: string): Promise<Buffer> {
  const options = { N: 2 ** ln, r, p, maxmem: 2 * 128 * r * 2 ** ln };
  const work = (): Promise<Buffer> =>
    new Promise((resolve, reject) =>
      scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, hash) =>
        error === null ? resolve(hash) : reject(error),
      ),
    );
  return pool.use(new Job(source), work);
}
