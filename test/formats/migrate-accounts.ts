/** Migrates the accounts file that is named, by steps that no release has, for a test that kills it. */
import { writeSync } from "node:fs";
import { migrateAccounts } from "../../src/accounts/file/backup.ts";
import { nextSteps } from "./next-steps.ts";

writeSync(1, "migrates\n");
migrateAccounts(process.argv[2] ?? "", nextSteps);
