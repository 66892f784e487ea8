import { type Channel, endProcess, sendAll } from './channel.js';
import { type SentError, sentError } from './sent-error.js';

/** Call of the service to a child; each is answered once. */
export interface ChildCall {
  readonly number: number;
  readonly method: string;
  readonly values: readonly unknown[];
}

export type ChildReply =
  | { readonly number: number; readonly answer: unknown }
  | { readonly number: number; readonly error: SentError };

/** Call that the process itself answers: its thread takes calls. */
export const PING = 'ping';

/** The other end of `ChildLink`: answers calls as long as there is a channel to the service. */
export function serveCalls(
  channel: Channel,
  answer: (method: string, values: readonly unknown[]) => Promise<unknown>,
): void {
  channel.on('disconnect', endProcess);
  channel.on('message', (message: unknown) => {
    const { number, method, values } = message as ChildCall;
    const answering = method === PING ? Promise.resolve() : answer(method, values);
    answering
      .then(
        (answered): ChildReply => ({ number, answer: answered }),
        (thrown: unknown): ChildReply => ({ number, error: sentError(thrown) }),
      )
      .then((reply) => sendAll(channel, reply))
      .catch(endProcess);
  });
}
