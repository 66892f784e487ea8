import { type Observable, Subject } from 'rxjs';

/** Messages of a call as Nest's gRPC server wants them, one by one. */
export interface RequestStream {
  readonly subject: { asObservable(): Observable<unknown> };
  readonly next: (message: unknown) => void;
  readonly error: (reason: unknown) => void;
  readonly complete: () => void;
}

/**
 * Keeps the messages of a call until its handler listens, in their order. Nest's own buffer calls
 * itself drained before it is: a message that comes in between overtakes those before it.
 */
export function requestStream(): RequestStream {
  const subject = new Subject<unknown>();
  let waiting: (() => void)[] | undefined = [];
  const inOrder = (act: () => void) => {
    if (waiting === undefined) act();
    else waiting.push(act);
  };
  let isDraining = false;
  const drainBuffer = () => {
    if (isDraining) return;
    isDraining = true;
    // The handler, which Nest calls next, subscribes before this runs.
    setImmediate(() => {
      for (let act = waiting?.shift(); act !== undefined; act = waiting?.shift()) act();
      waiting = undefined;
    });
  };
  return {
    subject: {
      asObservable: () => Object.assign(subject.asObservable(), { drainBuffer }),
    },
    next: (message) => inOrder(() => subject.next(message)),
    error: (reason) => inOrder(() => subject.error(reason)),
    complete: () => inOrder(() => subject.complete()),
  };
}
