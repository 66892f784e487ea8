import type { LaneDepth, TaskLimits } from '@tessera/native';
import { addon } from './addon.js';
import { callNative } from './native-error.js';

/** `lane`: read and write, which requests wait for; build, change, erase, check or end. */
export type TaskDepth = LaneDepth;

/** Before the first call of the process that takes time: opening a catalogue is one. */
export function configureTasks(limits: TaskLimits): void {
  callNative(() => addon().tasksConfigure(limits));
}

/** Calls into the engine's library that have threads of their own. */
export function taskDepths(): readonly TaskDepth[] {
  return callNative(() => addon().tasksDepths());
}
