/** Child process of a kill test: migrates an accounts file with test migrations. */
import { writeSync } from "node:fs";
import { migrateAccounts } from "../../src/accounts/file/backup.ts";
import { testMigrations } from "./test-migrations.ts";

writeSync(1, "migrates\n");
migrateAccounts(process.argv[2] ?? "", testMigrations);
