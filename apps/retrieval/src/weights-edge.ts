import type { AccessControl, Credentials } from '@tessera/access';
import type { ServedWeights, WeightsState, WeightsUpdate } from '@tessera/adapter';
import type { AdapterAudits } from './adapter-audits.js';

export interface WeightsEdgeParts {
  readonly weights: Pick<ServedWeights, 'current' | 'update' | 'rollBack'>;
  readonly access: Pick<AccessControl, 'authorize'>;
  readonly audits: Pick<AdapterAudits, 'audited' | 'principal'>;
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
    return audits.audited({ ...action, actor }, act, ({ digest, drainedUs, swappedUs }) => ({
      digest,
      detail: `waited ${drainedUs} us for the requests that ran, swapped in ${swappedUs} us`,
    }));
  }
}
