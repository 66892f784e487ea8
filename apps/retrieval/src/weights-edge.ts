import type { AccessControl, Credentials } from '@tessera/access';
import type { ServedWeights, WeightsState, WeightsUpdate } from '@tessera/adapter';
import { TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type { AdapterAudits } from './adapter-audits.js';

export interface WeightsEdgeParts {
  readonly weights: Pick<ServedWeights, 'current' | 'update' | 'rollBack'>;
  readonly access: Pick<AccessControl, 'authorize'>;
  readonly audits: Pick<AdapterAudits, 'audited' | 'principal'>;
  readonly readiness: Pick<Readiness, 'fail'>;
}

/** What edges do with whole weights: ask who it is, do it, audit it. */
export class WeightsEdge {
  constructor(private readonly parts: WeightsEdgeParts) {}

  update(who: Credentials, name: string): Promise<WeightsUpdate> {
    return this.audited(who, name, () => this.parts.weights.update(name));
  }

  async rollBack(who: Credentials): Promise<WeightsUpdate & Pick<WeightsState, 'serving'>> {
    const { weights } = this.parts;
    const { previous } = weights.current();
    const update = await this.audited(who, previous, () => weights.rollBack());
    return { ...update, serving: weights.current().serving };
  }

  async get(who: Credentials): Promise<WeightsState> {
    await this.parts.access.authorize(who, 'read');
    return this.parts.weights.current();
  }

  private async audited(
    who: Credentials,
    name: string,
    act: () => Promise<WeightsUpdate>,
  ): Promise<WeightsUpdate> {
    const { audits } = this.parts;
    const action = { action: 'update-weights', name, digest: '', detail: '' } as const;
    const actor = await audits.principal(who, 'activate', action);
    return audits.audited(
      { ...action, actor },
      () => this.watched(act),
      ({ digest, drainedUs, swappedUs }) => ({
        digest,
        detail: `waited ${drainedUs} us for the requests that ran, swapped in ${swappedUs} us`,
      }),
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
