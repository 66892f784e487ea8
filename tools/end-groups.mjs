import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
/** For a group to end by itself: npm takes a while to put its cache in order. */
const GRACE_MS = 10_000;
/** A killed process has ended by then, or is a zombie that nothing reaps. */
const LAST_MS = 2000;

/** False where the group of the process has ended by itself. */
function told(pid, signal) {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (thrown) {
    if (thrown.code !== 'ESRCH') throw thrown;
    return false;
  }
}

/**
 * Ends the process groups that these processes head, and waits until no process of them is left:
 * one that goes on would write into folders that others work in by then.
 * @param {Iterable<{ pid?: number | undefined }>} heads
 * @param {NodeJS.Signals} signal
 * @param {number} graceMs after which they are killed
 */
export async function endGroups(heads, signal, graceMs = GRACE_MS) {
  const groups = [...heads].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  let left = groups.filter((pid) => told(pid, signal));
  for (let waitedMs = 0; left.length > 0 && waitedMs < graceMs + LAST_MS; waitedMs += POLL_MS) {
    await sleep(POLL_MS);
    const last = waitedMs < graceMs ? 0 : 'SIGKILL';
    left = left.filter((pid) => told(pid, last));
  }
}
