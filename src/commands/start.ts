/** `carquet start`, which is `npm start`: something to try at once. Fills an empty lake, then serves it. */
import { Command } from "commander";
import { projectPath } from "../base/project.ts";
import { currentVersion } from "../lake/manifest.ts";
import { ingestInto } from "./ingest.ts";
import { type ServeSettings, serveUntilStopped, serving } from "./serve.ts";

export const startCommand = (): Command =>
  serving(new Command("start"))
    .summary("fill an empty lake with the sample, then serve")
    .description(
      "Ingests the sample delivery when nothing has been published yet, prints three requests to try, and serves.",
    )
    .action(async (settings: ServeSettings) => {
      if ((await currentVersion(settings.lake)) === undefined) await ingestInto(projectPath("data/sample"), settings);
      await serveUntilStopped(settings, requestsToTry);
    });

const requestsToTry = (url: string): readonly string[] => [
  `curl '${url}/v1/listings?limit=3'`,
  `curl '${url}/v1/listings?make=toyota,honda&max_price=30000&sort=price&fields=year,make,model,trim,price,miles,city,state'`,
  `curl '${url}/v1/openapi.json'`,
];
