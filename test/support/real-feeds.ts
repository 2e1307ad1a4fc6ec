/** A real CSV of used cars from auctions, which is not part of the project: the file that `CARQUET_REAL_CSV` names. */
import { existsSync } from "node:fs";
import { projectPath } from "../../src/base/project-files.ts";

export const realCsvPath = process.env.CARQUET_REAL_CSV ?? projectPath("data/real/usa_cars.csv");

/** Reason to skip a test of real feeds, or false. */
export const skipWithoutRealCsv = existsSync(realCsvPath)
  ? false
  : `${realCsvPath} does not exist: set CARQUET_REAL_CSV`;
