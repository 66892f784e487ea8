import type { Principal } from '@tessera/access';
import type { ServedWeights, WantedWeights, WeightsState, WeightsUpdate } from '@tessera/adapter';
import type { Submission } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type { AdapterAudits } from './adapter-audits.js';

export interface WeightsEdgeParts {
  readonly weights: Pick<ServedWeights, 'current' | 'update' | 'rollBack'>;
  readonly audits: Pick<AdapterAudits, 'audited'>;
  readonly readiness: Pick<Readiness, 'fail'>;
}

/** Does and audits updates of whole weights, for all edges and callers that were let in. */
export class WeightsEdge {
  constructor(private readonly parts: WeightsEdgeParts) {}

  update(actor: Principal, wanted: WantedWeights, how: Submission = {}): Promise<WeightsUpdate> {
    return this.audited(actor, wanted.name, () => this.parts.weights.update(wanted, how));
  }

  async rollBack(
    actor: Principal,
    how: Submission = {},
  ): Promise<WeightsUpdate & Pick<WeightsState, 'serving'>> {
    const { weights } = this.parts;
    const { previous } = weights.current();
    const update = await this.audited(actor, previous, () => weights.rollBack(how));
    return { ...update, serving: weights.current().serving };
  }

  get(): WeightsState {
    return this.parts.weights.current();
  }

  private audited(
    actor: Principal,
    name: string,
    act: () => Promise<WeightsUpdate>,
  ): Promise<WeightsUpdate> {
    const { audits } = this.parts;
    const action = { action: 'update-weights', name, digest: '', detail: '' } as const;
    return audits.audited(
      { ...action, actor },
      () => this.watched(act),
      ({ digest, drainedUs, swappedUs, endedAdapters }) => {
        const took = `waited ${drainedUs} us for the requests that ran, swapped in ${swappedUs} us`;
        const ended =
          endedAdapters === undefined ? '' : `, ended ${endedAdapters} adapter versions`;
        return { digest, detail: `${took}${ended}` };
      },
    );
  }

  /** An engine whose weights are of no model refuses all: nobody may be sent here any more. */
  private async watched(act: () => Promise<WeightsUpdate>): Promise<WeightsUpdate> {
    try {
      return await act();
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      if (code === 'ENGINE_UNAVAILABLE') this.parts.readiness.fail(message);
      throw thrown;
    }
  }
}
