import {
  type Carrier,
  carrierOf,
  type Edge,
  type ForwardedObservation,
  type Tracing,
} from '@tessera/telemetry';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import { errorOf } from './node-failure.js';

/** The headers of a call, of which the trace is read and, for the nodes, put in. */
export interface TracedCall {
  header(name: string): string | undefined;
  put(headers: Carrier): void;
}

/** A call of nobody's trace. */
export const UNTRACED: TracedCall = { header: () => undefined, put: () => undefined };

/**
 * Counts an answer under the path of its method, with the time that its caller waited, and makes it
 * a span of the caller's trace, which the nodes continue.
 */
export type Counted = <Answer>(
  path: string,
  call: TracedCall,
  act: () => Promise<Answer>,
) => Promise<Answer>;

export const counting =
  (observe: (seen: ForwardedObservation) => void, edge: Edge, tracing: Tracing): Counted =>
  (path, call, act) => {
    const begunMs = performance.now();
    // `/tessera.recall.v1.RecallService/Recall`; a route that is no method has its own name.
    const method = path.startsWith('/tessera.') ? (path.split('.').at(-1) ?? path) : path;
    const note = (code: string) => {
      const seconds = (performance.now() - begunMs) / MILLISECONDS_PER_SECOND;
      observe({ edge, method, code, seconds });
    };
    return tracing.serve(`forward ${method}`, carrierOf(call.header), async (span) => {
      span.set({ 'tessera.edge': edge });
      call.put(tracing.outgoing());
      try {
        const answer = await act();
        note('OK');
        return answer;
      } catch (thrown) {
        note(errorOf(thrown).code);
        throw thrown;
      }
    });
  };
