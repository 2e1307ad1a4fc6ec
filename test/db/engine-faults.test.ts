/** Faults of the engines and the system, provoked for real. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { messageOf, UserError } from "../../src/base/user-error.ts";
import { DuckDatabase as DuckDb, type Session } from "../../src/db/duckdb.ts";
import { classifyFault, type EngineFault, lockHolderOf } from "../../src/db/engine-faults.ts";
import { connectPostgres, PostgresFault } from "../../src/db/postgres.ts";
import { literal, sql } from "../../src/db/sql.ts";
import { createPrivateFile, SqliteDatabase as Sqlite } from "../../src/db/sqlite.ts";
import { smallDisk, temporaryFolder } from "../support/lakes/lakes.ts";

const run = promisify(execFile);
const options = { busyMs: 10 } as const;

/** Creates a SQLite file with a table of one row. */
function sqliteFile(path: string): Sqlite {
  createPrivateFile(path);
  const database = Sqlite.open(path, options);
  database.run(sql`CREATE TABLE words (word TEXT PRIMARY KEY) STRICT`);
  database.run(sql`INSERT INTO words VALUES ('one')`);
  return database;
}

const duckDb = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
  const database = await DuckDb.open();
  try {
    return await database.using(work);
  } finally {
    database.close();
  }
};

const copyTo = (path: string): Promise<void> =>
  duckDb((session) => session.run(sql`COPY (SELECT md5(range::VARCHAR) FROM range(200000)) TO ${literal(path)}`));

type Provoke = (folder: string) => unknown;

const unreachable = "postgres://carquet@127.0.0.1:1/none";

const table: readonly (readonly [what: string, fault: EngineFault, provoke: Provoke])[] = [
  ["a PostgreSQL that cannot be reached", "unreachable", () => connectPostgres(unreachable, options)],
  [
    "a SQLite file that another connection writes",
    "busy",
    (folder) => {
      const first = sqliteFile(join(folder, "a.db"));
      const second = Sqlite.open(join(folder, "a.db"), options);
      first.transaction(() => second.transaction(() => undefined));
    },
  ],
  [
    "a change of a SQLite file that is opened to be read",
    "io error",
    (folder) => {
      sqliteFile(join(folder, "a.db")).close();
      Sqlite.openToRead(join(folder, "a.db")).run(sql`INSERT INTO words VALUES ('two')`);
    },
  ],
  [
    "a duplicate key in a SQLite table",
    "constraint",
    (folder) => sqliteFile(join(folder, "a.db")).run(sql`INSERT INTO words VALUES ('one')`),
  ],
  [
    "an abort by a SQLite trigger",
    "constraint",
    (folder) => {
      const database = sqliteFile(join(folder, "a.db"));
      database.run(sql`CREATE TRIGGER never BEFORE DELETE ON words BEGIN SELECT RAISE(ABORT, 'never'); END`);
      database.run(sql`DELETE FROM words`);
    },
  ],
  [
    "a text with a NUL in a SQLite statement",
    "invalid value",
    (folder) => sqliteFile(join(folder, "a.db")).run(sql`INSERT INTO words VALUES (${"a\0"})`),
  ],
  [
    "a number that is no integer in a SQLite statement",
    "invalid value",
    (folder) => sqliteFile(join(folder, "a.db")).all(sql`SELECT * FROM words LIMIT ${1e308}`),
  ],
  [
    "a SQLite file with foreign content",
    "damaged",
    async (folder) => {
      await writeFile(join(folder, "a.db"), "nothing that could be opened".repeat(400));
      Sqlite.open(join(folder, "a.db"), options);
    },
  ],
  [
    "a SQLite file with a page overwritten",
    "damaged",
    async (folder) => {
      sqliteFile(join(folder, "a.db")).close();
      const file = await open(join(folder, "a.db"), "r+");
      await file.write(Buffer.alloc(4000, 0xff), 0, 4000, 4096);
      await file.close();
      Sqlite.open(join(folder, "a.db"), options).all(sql`SELECT * FROM words`);
    },
  ],
  [
    "a SQLite statement with a mistake",
    "other",
    (folder) => sqliteFile(join(folder, "a.db")).run(sql`DELETE FROM nothing`),
  ],
  [
    "a DuckDB file with foreign content",
    "damaged",
    async (folder) => {
      await writeFile(join(folder, "a.duckdb"), "nothing that could be opened".repeat(400));
      await duckDb((session) => session.run(sql`ATTACH ${literal(join(folder, "a.duckdb"))} AS a`));
    },
  ],
  [
    "a DuckDB statement beyond the memory limit",
    "out of memory",
    () =>
      duckDb(async (session) => {
        await session.run(sql`SET memory_limit = '32MiB'`);
        await session.row(sql`SELECT list(range ORDER BY -range) FROM range(20_000_000)`);
      }),
  ],
  [
    "a truncated Parquet file",
    "damaged",
    async (folder) => {
      await writeFile(join(folder, "a.parquet"), "PAR1garbagegarbagePAR1");
      await duckDb((session) => session.rows(sql`SELECT * FROM read_parquet(${join(folder, "a.parquet")})`));
    },
  ],
  [
    "a Parquet file with foreign content",
    "damaged",
    async (folder) => {
      await writeFile(join(folder, "a.parquet"), "nothing that could be read".repeat(40));
      await duckDb((session) => session.rows(sql`SELECT * FROM read_parquet(${join(folder, "a.parquet")})`));
    },
  ],
  [
    "a Parquet file of a few bytes",
    "damaged",
    async (folder) => {
      await writeFile(join(folder, "a.parquet"), "damaged");
      await duckDb((session) => session.rows(sql`SELECT * FROM read_parquet(${join(folder, "a.parquet")})`));
    },
  ],
  [
    "a Parquet file that is missing",
    "missing",
    (folder) => duckDb((session) => session.rows(sql`SELECT * FROM read_parquet(${join(folder, "a.parquet")})`)),
  ],
  ["a file that is missing", "missing", (folder) => readFile(join(folder, "a.db"))],
  // Reading the memory of a process at address 0 fails with EIO.
  [
    "a DuckDB file that the disk does not return",
    "io error",
    () => duckDb((session) => session.run(sql`ATTACH '/proc/self/mem' AS a`)),
  ],
  ["a file that the disk does not return", "io error", () => readFile("/proc/self/mem")],
  ["DuckDB writing to a full device", "disk full", () => copyTo("/dev/full")],
  ["Node.js writing to a full device", "disk full", () => writeFile("/dev/full", "more")],
  [
    "a defect of the program",
    "other",
    () => {
      throw new TypeError("The disk is full of defects.");
    },
  ],
];

/** Faults that end a process which writes an export: what it has printed is all that is known of them. */
const ofProcesses: readonly EngineFault[] = ["damaged", "missing", "io error", "disk full", "out of memory"];

const inProcess = (thrown: unknown): Error => new Error(`The process failed: carquet: ${messageOf(thrown)}`);

for (const [what, fault, provoke] of table)
  test(`${what}: ${fault}`, async (t) => {
    const folder = await temporaryFolder(t);
    const thrown = await thrownBy(() => provoke(folder));
    assert.equal(classifyFault(thrown), fault, String(thrown));
    assert.equal(
      classifyFault(new UserError("It failed.", { cause: thrown })),
      fault,
      "also as the cause of another error",
    );
    if (ofProcesses.includes(fault))
      assert.equal(classifyFault(inProcess(thrown)), fault, "also as the output of a process");
    assert.equal(lockHolderOf(thrown), undefined);
  });

test("a write of SQLite that the file system refuses is an I/O error, not damage", async (t) => {
  const path = join(await temporaryFolder(t), "a.db");
  sqliteFile(path).close();
  const code = `
    const { SqliteDatabase } = await import("./src/db/sqlite.ts");
    const { classifyFault } = await import("./src/db/engine-faults.ts");
    const { sql } = await import("./src/db/sql.ts");
    const database = SqliteDatabase.open(process.argv[1], { busyMs: 10 });
    try {
      database.run(sql\`INSERT INTO words VALUES (\${"w".repeat(1_000_000)})\`);
    } catch (thrown) {
      console.log(classifyFault(thrown));
    }`;
  // A larger file than the limit is refused with EFBIG.
  const limited = 'ulimit -f 256; exec "$0" --import tsx/esm --input-type=module -e "$1" "$2"';
  const { stdout } = await run("bash", ["-c", limited, process.execPath, code, path], { cwd: projectPath(".") });
  assert.equal(stdout.trim(), "io error");
});

test("both engines report a full disk", async (t) => {
  const disk = await smallDisk(t, "512k");
  if (disk === undefined) return t.skip("mounting a tmpfs needs root");
  await fillDisk(disk);
});

async function fillDisk(small: string): Promise<void> {
  const database = sqliteFile(join(small, "a.db"));
  try {
    await run("sh", ["-c", `head -c 10M /dev/zero > ${join(small, "ballast")} || true`]);
    const word = "w".repeat(100_000);
    const full = await thrownBy(() => database.run(sql`INSERT INTO words VALUES (${word})`));
    assert.deepEqual([full, inProcess(full)].map(classifyFault), ["disk full", "disk full"]);
    assert.equal(classifyFault(await thrownBy(() => copyTo(join(small, "a.parquet")))), "disk full");
    const options = { temporaryFolder: join(small, "spill"), memoryLimit: "32MiB", threads: 1 };
    const sorted = sql`SELECT max(word) FROM (SELECT md5(range::VARCHAR) AS word FROM range(2000000) ORDER BY word LIMIT 1999999)`;
    const thrown = await thrownBy(() => DuckDb.use(options, (session) => session.rows(sorted)));
    assert.equal(classifyFault(thrown), "disk full", String(thrown));
  } finally {
    database.close();
  }
}

test("a DuckDB file that another process has open is busy, and the fault names that process", async (t) => {
  const path = join(await temporaryFolder(t), "a.duckdb");
  const code = `
    const { DuckDatabase } = await import("./src/db/duckdb.ts");
    const { literal, sql } = await import("./src/db/sql.ts");
    const database = await DuckDatabase.open();
    const session = await database.connect();
    await session.run(sql\`ATTACH \${literal(process.argv[1])} AS held\`);
    console.log("held");
    // A database that nothing refers to is closed when it is collected.
    setInterval(() => [database, session], 1000);`;
  const holder = spawn(process.execPath, ["--import", "tsx/esm", "--input-type=module", "-e", code, path], {
    cwd: projectPath("."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => holder.kill());
  await once(holder.stdout, "data");
  const thrown = await thrownBy(() => duckDb((session) => session.run(sql`ATTACH ${literal(path)} AS a`)));
  assert.deepEqual([classifyFault(thrown), lockHolderOf(thrown)], ["busy", holder.pid]);
});

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (thrown) {
    return thrown;
  }
  return assert.fail("nothing was thrown");
}

test("SQLSTATEs of PostgreSQL are classified", () => {
  const faultOf = (code: string): EngineFault =>
    classifyFault(new PostgresFault(Object.assign(new Error("x"), { code }), false));
  const codes = ["53100", "55P03", "40P01", "23505", "P0001", "XX001", "57P01", "EPIPE", "", "42601"];
  assert.deepEqual(codes.map(faultOf), [
    "disk full",
    "busy",
    "busy",
    "constraint",
    "constraint",
    "damaged",
    "unreachable",
    "unreachable",
    "unreachable",
    "other",
  ]);
});
