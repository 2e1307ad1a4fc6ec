/** A map of the US: states in shades, and places as dots. It is drawn by the service, without tiles. */
import type { JSX } from "preact";
import { mapSize, placeOnMap, type StateShape, stateShapes } from "./us-states.ts";

export interface ShadedState {
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
const [radiusMin, radiusMax] = [2, 11];

export const UsMap = ({ label, states, dots, focus }: UsMapProps): JSX.Element => {
  const shapes = stateShapes();
  const view = viewOf(shapes.find(({ code }) => code === focus));
  const shaded = new Map(states.map((state) => [state.code, state]));
  const largest = Math.max(1, ...dots.map(({ size }) => size));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields, and an image may not contain links
    <svg class="us-map" viewBox={view.box} role="group" aria-label={label}>
      {[...shapes]
        .sort((one, other) => drawOrder(shaded, one) - drawOrder(shaded, other))
        .map((shape) => (
          <MapState key={shape.code} shape={shape} state={shaded.get(shape.code)} />
        ))}
      {dots.map((dot, index) => {
        const place = placeOnMap(dot.longitude, dot.latitude);
        if (place === undefined) return null;
        const radius = view.scale * Math.max(radiusMin, radiusMax * Math.sqrt(dot.size / largest));
        return (
          <circle key={index} class="place" cx={round(place[0])} cy={round(place[1])} r={round(radius)}>
            <title>{dot.title}</title>
          </circle>
        );
      })}
    </svg>
  );
};

/** Chosen states are drawn last, so that their outlines are whole. */
const drawOrder = (shaded: ReadonlyMap<string, ShadedState>, { code }: StateShape): number =>
  shaded.get(code)?.isChosen ? 1 : 0;

interface MapStateProps {
  readonly shape: StateShape;
  readonly state: ShadedState | undefined;
}

/** A state. Keyboards reach its link in the table of the map. */
const MapState = ({ shape, state }: MapStateProps): JSX.Element => {
  if (state === undefined)
    return (
      <path class="state shade-0" d={shape.path}>
        <title>{shape.name}</title>
      </path>
    );
  return (
    <a href={state.path} tabIndex={-1} aria-label={state.title}>
      <path class={`state shade-${state.shade}${state.isChosen ? " chosen" : ""}`} d={shape.path}>
        <title>{state.title}</title>
      </path>
    </a>
  );
};

interface MapView {
  readonly box: string;
  /** The size of a unit of the map of all states. */
  readonly scale: number;
}

/** Returns the view of a state with what surrounds it, or of all states. */
function viewOf(shape: StateShape | undefined): MapView {
  const { width, height } = mapSize;
  if (shape === undefined) return { box: `0 0 ${width} ${height}`, scale: 1 };
  const [[left, top], [right, bottom]] = shape.box;
  const scale = Math.max((right - left) / width, (bottom - top) / height) * 1.15;
  const corner = [(left + right - scale * width) / 2, (top + bottom - scale * height) / 2].map(round);
  return { box: `${corner.join(" ")} ${round(scale * width)} ${round(scale * height)}`, scale };
}

const round = (value: number): number => Math.round(value * 100) / 100;

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
