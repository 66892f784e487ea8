import { TesseraError } from '@tessera/errors';

/** A caller that waits for its turn. */
export interface TurnTaker {
  readonly cancelled: boolean;
  /** Milliseconds since 1970; Infinity: it waits as long as it takes. */
  readonly deadlineMs: number;
}

/** One act after another, in the order in which they were asked for. */
export class ChangeTurn {
  private last: Promise<unknown> = Promise.resolve();

  /**
   * Rejects as `act` does, and with CANCELLED or DEADLINE_EXCEEDED where the caller no longer waits
   * when its turn comes: then nothing was begun.
   */
  run<Answer>(caller: TurnTaker, act: () => Promise<Answer>): Promise<Answer> {
    const own = this.last.then(() => {
      checkWaiting(caller);
      return act();
    });
    this.last = own.catch(() => undefined);
    return own;
  }
}

function checkWaiting({ cancelled, deadlineMs }: TurnTaker): void {
  const isLate = Date.now() >= deadlineMs;
  if (!cancelled && !isLate) return;
  const what = isLate ? 'the deadline passed' : 'the caller went away';
  const message = `${what} before the turn of this change came: no node was asked`;
  throw new TesseraError(isLate ? 'DEADLINE_EXCEEDED' : 'CANCELLED', message);
}
