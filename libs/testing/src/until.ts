import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;
/** Patience of a wait for what has to come: on a busy machine a process takes its time to start. */
const PATIENCE_MS = 240_000;

/**
 * Looks until `holds`: for what announces itself by no event, such as another process's state.
 * @throws Error naming `what` where it does not hold within the patience
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what}: not so within ${patienceMs} ms`);
    await pause(LOOK_EVERY_MS);
  }
}
