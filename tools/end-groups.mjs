/**
 * Ends the process groups that these processes head; one that has ended by itself is left out.
 * @param {Iterable<{ pid?: number | undefined }>} heads
 * @param {NodeJS.Signals} signal
 */
export function endGroups(heads, signal) {
  for (const { pid } of heads) {
    if (pid === undefined) continue;
    try {
      process.kill(-pid, signal);
    } catch (thrown) {
      if (thrown.code !== 'ESRCH') throw thrown;
    }
  }
}
