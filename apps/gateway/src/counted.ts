import type { Edge, ForwardedObservation } from '@tessera/telemetry';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import { errorOf } from './node-failure.js';

/** Counts an answer under the path of its method, with the time that its caller waited. */
export type Counted = <Answer>(path: string, act: () => Promise<Answer>) => Promise<Answer>;

export const counting =
  (observe: (seen: ForwardedObservation) => void, edge: Edge): Counted =>
  async (path, act) => {
    const begunMs = performance.now();
    // `/tessera.recall.v1.RecallService/Recall`; a route that is no method has its own name.
    const method = path.startsWith('/tessera.') ? (path.split('.').at(-1) ?? path) : path;
    const note = (code: string) => {
      const seconds = (performance.now() - begunMs) / MILLISECONDS_PER_SECOND;
      observe({ edge, method, code, seconds });
    };
    try {
      const answer = await act();
      note('OK');
      return answer;
    } catch (thrown) {
      note(errorOf(thrown).code);
      throw thrown;
    }
  };
