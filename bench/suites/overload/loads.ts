/** Loads that a service is measured under, and the bars of what becomes of their calls. */
export interface LoadForm {
  readonly name: string;
  readonly connections: number;
  /** Callers that each wait for an answer; or calls a second, as a multiple of the capacity. */
  readonly callers?: number;
  readonly factor?: number;
  /** Least goodput over the capacity. */
  readonly goodputBar: number;
  /** Milliseconds of the 99th percentile of the event loop's delay. */
  readonly loopBarMs: number | null;
  /** Behind it is measured how soon the service is itself again. */
  readonly isFlood: boolean;
}

const CONNECTIONS = 8;
const GOODPUT_BAR = 0.9;
const FLOOD_GOODPUT_BAR = 0.8;
const FLOOD_LOOP_BAR_MS = 30;

const closed = (name: string, callers: number, connections = CONNECTIONS): LoadForm => ({
  name,
  connections,
  callers,
  goodputBar: GOODPUT_BAR,
  loopBarMs: null,
  isFlood: false,
});

const open = (factor: number): LoadForm => ({
  name: `${factor}x`,
  connections: CONNECTIONS,
  factor,
  goodputBar: GOODPUT_BAR,
  loopBarMs: null,
  isFlood: false,
});

/** Refusals at ten times the capacity cost more than all answers. */
const flood = (factor: number): LoadForm =>
  Object.assign(open(factor), {
    goodputBar: FLOOD_GOODPUT_BAR,
    loopBarMs: FLOOD_LOOP_BAR_MS,
    isFlood: true,
  });

export const LOAD_FORMS = [
  closed('closed32', 32),
  closed('closed256', 256),
  closed('sockets256', 256, 256),
  open(1.5),
  open(3),
  flood(10),
] as const;

export const LOAD_NAMES = LOAD_FORMS.map(({ name }) => name);

/** Callers and deadline of the closed loop whose good answers a second are the capacity. */
export const CAPACITY_CALLERS = 32;
export const CAPACITY_CONNECTIONS = CONNECTIONS;
export const CAPACITY_DEADLINE_MS = 1000;
