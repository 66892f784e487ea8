/**
 * The process goes on where the reader of its lines is gone, or their disk is full: what awaits a
 * line hears of it by the callback of its write.
 */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
