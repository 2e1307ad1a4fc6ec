/** Migrations that no release has: typical of the accounts file, and slow enough to be killed. */
import { type Migration, migrations, versionAfter } from "../../src/accounts/file/migrations.ts";
import { sql } from "../../src/db/sql.ts";

const newest = versionAfter(migrations);

export const testMigrations: readonly Migration[] = [
  ...migrations,
  {
    to: newest + 1,
    statements: [
      sql`ALTER TABLE accounts ADD COLUMN label TEXT`,
      sql`CREATE TABLE padding (n INTEGER PRIMARY KEY, content BLOB) STRICT`,
      sql`INSERT INTO padding
          WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 4000)
          SELECT n, randomblob(4000) FROM counter`,
    ],
  },
  { to: newest + 2, statements: [sql`UPDATE accounts SET label = 'tier ' || tier`] },
];
