import { LANES } from '@tessera/native';
import { addon } from './addon.js';
import { callNative } from './native-error.js';

/** Threads of each lane of long calls, and calls that wait in it at most. */
export interface TaskLimits {
  readonly threads: number;
  readonly queueMax: number;
}

export interface TaskDepth {
  /** build, change, erase, check or end. */
  readonly lane: string;
  readonly waiting: number;
  readonly running: number;
}

/** Before the first long call of the process: opening a catalogue is one. */
export function configureTasks({ threads, queueMax }: TaskLimits): void {
  callNative(() => addon().tasksConfigure(threads, queueMax));
}

/** Long calls of the engine's library, which never hold up what a request needs. */
export function taskDepths(): TaskDepth[] {
  const depths = callNative(() => addon().tasksDepths());
  return LANES.map((lane, i) => ({
    lane,
    waiting: depths[2 * i] ?? 0,
    running: depths[2 * i + 1] ?? 0,
  }));
}
