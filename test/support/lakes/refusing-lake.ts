/** Checks that refused deliveries leave a lake unchanged. */
import assert from "node:assert/strict";
import { UserError } from "../../../src/base/user-error.ts";
import { currentVersion } from "../../../src/lake/manifest.ts";
import type { Scope } from "../scope.ts";
import { activeListingsText, hashLakeFiles, lakeFaults, unreferencedFiles } from "./contents.ts";
import { createLake, ingestPath, samplePath } from "./lakes.ts";

export interface RefusingLake {
  readonly lake: string;
  /** Fails unless the delivery at a path is refused in one line and every byte of the lake is unchanged. */
  refuses(message: RegExp, path: string, day?: string): Promise<void>;
  /** Fails unless the listings are unchanged and the sample's second day is published with nothing left over. */
  takesTheNextDay(): Promise<void>;
}

/** Creates a lake of the sample's first day. */
export async function createRefusingLake(scope: Scope): Promise<RefusingLake> {
  const { lake } = await createLake(scope, samplePath, { day: "2026-11-18" });
  const before = { contents: await hashLakeFiles(lake), market: await activeListingsText(lake) };
  return {
    lake,
    async refuses(message, path, day) {
      await assert.rejects(ingestPath(lake, path, day === undefined ? {} : { day }), (thrown) => {
        assert.ok(thrown instanceof Error);
        assert.match(thrown.message, message);
        assert.ok(thrown instanceof UserError, `reported with a stack: ${thrown.message}`);
        assert.doesNotMatch(thrown.message, /\n/);
        return true;
      });
      assert.equal(await currentVersion(lake), "2026-11-18.1");
      assert.deepEqual(await hashLakeFiles(lake), before.contents);
    },
    async takesTheNextDay() {
      assert.equal(await activeListingsText(lake), before.market);
      await ingestPath(lake, samplePath, { day: "2026-11-19" });
      assert.equal(await currentVersion(lake), "2026-11-19.1");
      assert.deepEqual(await unreferencedFiles(lake), []);
      assert.deepEqual(await lakeFaults(lake), []);
    },
  };
}
