/** Presets: mappings of common layouts in `data/mappings/`, by name, and which of them fits a file's columns. */
import { projectPath, projectText } from "../../base/project-files.ts";
import { foldName } from "./column-matching.ts";
import { mappingOf } from "./mapping.ts";
import type { Mapping } from "./rules.ts";

export const presetNames = [
  "cargurus",
  "frazer-dealercarsearch",
  "frazer-dealerwebsites",
  "google-ads",
  "google-listings",
  "homenet",
  "meta",
  "provider-pipe",
  "vauto",
  "vauto-web",
] as const;

export type PresetName = (typeof presetNames)[number];

const loaded = new Map<PresetName, Mapping>();

/** Returns the mapping of a preset. */
export function preset(name: PresetName): Mapping {
  const mapping = loaded.get(name) ?? mappingOf(JSON.parse(projectText(presetFile(name))), name);
  loaded.set(name, mapping);
  return mapping;
}

const presetFile = (name: PresetName): string => `data/mappings/${name}.json`;

export const presetPath = (name: PresetName): string => projectPath(presetFile(name));

/** Returns the preset of files with these columns: of those whose columns to recognize are all there, that with the most. */
export function recognizedPreset(columns: readonly string[]): Mapping | undefined {
  const names = new Set(columns.map(foldName));
  const fitting = presetNames
    .map(preset)
    .filter(({ recognize = [] }) => recognize.every((name) => names.has(foldName(name))));
  return fitting.sort((one, other) => (other.recognize?.length ?? 0) - (one.recognize?.length ?? 0))[0];
}
