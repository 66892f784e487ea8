import type { LaneDepth } from '@tessera/native';
import { addon } from './addon.js';
import { callNative } from './native-error.js';

/** Threads of each lane of long calls, and calls that wait in it at most. */
export interface TaskLimits {
  readonly threads: number;
  readonly queueMax: number;
}

/** `lane`: build, change, erase, check or end. */
export type TaskDepth = LaneDepth;

/** Before the first long call of the process: opening a catalogue is one. */
export function configureTasks({ threads, queueMax }: TaskLimits): void {
  callNative(() => addon().tasksConfigure(threads, queueMax));
}

/** Long calls of the engine's library, which never hold up what a request needs. */
export function taskDepths(): readonly TaskDepth[] {
  return callNative(() => addon().tasksDepths());
}
