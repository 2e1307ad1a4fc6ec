/** Options of the retention of versions. */
import { Option } from "commander";
import { defaultRetention } from "../lake/maintenance/vacuum.ts";
import { countParser } from "./option-parsers.ts";

export const versionsOption = (): Option =>
  new Option("--versions <days>", "number of days to keep versions")
    .default(defaultRetention.versionDays)
    .argParser(countParser);

/** In minutes. */
export const defaultGrace = 60;

export const graceOption = (): Option =>
  new Option("--grace <minutes>", "minutes between the replacement of a version and its removal")
    .default(defaultGrace)
    .argParser(countParser);
