/** A lake that refuses deliveries, and shows that none of them changed anything. */
import assert from "node:assert/strict";
import { UserError } from "../../../src/base/user-error.ts";
import { currentVersion } from "../../../src/lake/manifest.ts";
import type { Scope } from "../scope.ts";
import { contentsOf, faultsOf, marketOf, strayFilesIn } from "./contents.ts";
import { ingestPath, lakeOf, samplePath } from "./lakes.ts";

export interface Refusing {
  readonly lake: string;
  /** Fails unless the delivery at a path is refused in one line, and every byte of the lake is as it was. */
  refuses(said: RegExp, path: string, day?: string): Promise<void>;
  /** Fails unless the market is as it was, and the sample's second day is published now with nothing left over. */
  takesTheNextDay(): Promise<void>;
}

/** A lake with the sample's first day. */
export async function refusing(scope: Scope): Promise<Refusing> {
  const { lake } = await lakeOf(scope, samplePath, { day: "2026-11-18" });
  const before = { contents: await contentsOf(lake), market: await marketOf(lake) };
  return {
    lake,
    async refuses(said, path, day) {
      await assert.rejects(ingestPath(lake, path, day === undefined ? {} : { day }), (thrown) => {
        assert.ok(thrown instanceof Error);
        assert.match(thrown.message, said);
        assert.ok(thrown instanceof UserError, `told with a stack: ${thrown.message}`);
        assert.doesNotMatch(thrown.message, /\n/);
        return true;
      });
      assert.equal(await currentVersion(lake), "2026-11-18.1");
      assert.deepEqual(await contentsOf(lake), before.contents);
    },
    async takesTheNextDay() {
      assert.equal(await marketOf(lake), before.market);
      await ingestPath(lake, samplePath, { day: "2026-11-19" });
      assert.equal(await currentVersion(lake), "2026-11-19.1");
      assert.deepEqual(await strayFilesIn(lake), []);
      assert.deepEqual(await faultsOf(lake), []);
    },
  };
}
