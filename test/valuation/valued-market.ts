/** A generated market that the tests of values share, and a service on it. */
import { startService } from "../support/http/service.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { groupScope } from "../support/scope.ts";

export const { lake } = await createLake(groupScope, await generateFeeds(groupScope, { days: 6 }));
export const client = await startService(groupScope, lake);
