/** A map of the US: states in shades, and places as dots. It is drawn by the service, without tiles. */
import type { JSX } from "preact";
import { rounded } from "./axis.ts";
import { mapSize, placeOnMap, type StateShape, stateShapes } from "./us-states.ts";

interface ShadedState {
  readonly code: string;
  /** The shade, from 1 to `shadesMax`; 0 if it has no value. */
  readonly shade: number;
  /** The name and value of the state, as a tooltip. */
  readonly title: string;
  /** The target of the state's link. */
  readonly path: string;
  readonly isChosen: boolean;
}

export interface MapDot {
  readonly longitude: number;
  readonly latitude: number;
  readonly size: number;
  readonly title: string;
}

interface UsMapProps {
  readonly label: string;
  readonly states: readonly ShadedState[];
  readonly dots: readonly MapDot[];
  /** The code of the state that fills the map; all states without one. */
  readonly focus?: string | undefined;
}

const shadesMax = 5;

/** Returns the upper bounds of the shades, so that each has about as many of the states with these values. */
export function shadeBounds(values: readonly number[]): readonly number[] {
  const sorted = [...values].sort((one, other) => one - other);
  const bounds = Array.from(
    { length: shadesMax },
    (_, index) => sorted[Math.ceil(((index + 1) * sorted.length) / shadesMax) - 1] ?? 0,
  );
  return [...new Set(bounds)];
}

/** Returns the shade of a value, given the bounds of the shades. */
export const shadeOf = (value: number, bounds: readonly number[]): number =>
  bounds.findIndex((bound) => value <= bound) + 1;

/** The radius of the smallest and of the largest dot, on a map of all states. */
const radiusMin = 2;
const radiusMax = 11;

export const UsMap = ({ label, states, dots, focus }: UsMapProps): JSX.Element => {
  const shaded = new Map(states.map((state) => [state.code, state]));
  const isChosen = ({ state }: MapStateProps): number => (state?.isChosen ? 1 : 0);
  // Chosen states are drawn last, so that their outlines are whole.
  const shapes = stateShapes().map((shape) => ({ shape, state: shaded.get(shape.code) }));
  const ordered = shapes.sort((one, other) => isChosen(one) - isChosen(other));
  const view = viewOf(shapes.find(({ shape }) => shape.code === focus)?.shape);
  const largest = Math.max(1, ...dots.map(({ size }) => size));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields, and an image may not contain links
    <svg class="us-map" viewBox={view.box} role="group" aria-label={label}>
      {ordered.map(({ shape, state }) => (
        <MapState key={shape.code} shape={shape} state={state} />
      ))}
      {dots.map((dot, index) => {
        const place = placeOnMap(dot.longitude, dot.latitude);
        if (place === undefined) return null;
        const radius = view.scale * Math.max(radiusMin, radiusMax * Math.sqrt(dot.size / largest));
        return (
          <circle key={index} class="place" cx={rounded(place[0])} cy={rounded(place[1])} r={rounded(radius)}>
            <title>{dot.title}</title>
          </circle>
        );
      })}
    </svg>
  );
};

interface MapStateProps {
  readonly shape: StateShape;
  readonly state: ShadedState | undefined;
}

/** A state. Keyboards reach its link in the table of the map. */
const MapState = ({ shape, state }: MapStateProps): JSX.Element => {
  const outline = (
    <path class={`state shade-${state?.shade ?? 0}${state?.isChosen ? " chosen" : ""}`} d={shape.path}>
      <title>{state?.title ?? shape.name}</title>
    </path>
  );
  if (state === undefined) return outline;
  return (
    <a href={state.path} tabIndex={-1} aria-label={state.title}>
      {outline}
    </a>
  );
};

/** Returns the box of a state with what surrounds it, or of all states, and how large a unit of the map of all states is in it. */
function viewOf(shape: StateShape | undefined): { readonly box: string; readonly scale: number } {
  const { width, height } = mapSize;
  const [[left, top], [right, bottom]] = shape?.box ?? [
    [0, 0],
    [width, height],
  ];
  const scale = shape === undefined ? 1 : Math.max((right - left) / width, (bottom - top) / height) * 1.15;
  const corner = [left + right - scale * width, top + bottom - scale * height].map((size) => size / 2);
  return { box: [...corner, scale * width, scale * height].map(rounded).join(" "), scale };
}

interface ShadeKeyProps {
  /** The meaning of each shade, from the first. */
  readonly texts: readonly string[];
}

export const ShadeKey = ({ texts }: ShadeKeyProps): JSX.Element => (
  <ul class="shade-key">
    {["none", ...texts].map((text, index) => (
      <li key={text}>
        <svg width="14" height="14" aria-hidden="true">
          <rect class={`state shade-${index}`} width="14" height="14" />
        </svg>
        {text}
      </li>
    ))}
  </ul>
);
