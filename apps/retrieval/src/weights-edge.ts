import type { AccessControl, Credentials, Scope } from '@tessera/access';
import type { ServedWeights, WeightsState, WeightsUpdate } from '@tessera/adapter';
import { TesseraError } from '@tessera/errors';
import type { AdapterAudits } from './adapter-audits.js';

export interface WeightsEdgeParts {
  readonly weights: Pick<ServedWeights, 'current' | 'update' | 'rollBack'>;
  readonly access: Pick<AccessControl, 'authorize'>;
  readonly audits: Pick<AdapterAudits, 'audited' | 'note'>;
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
    await this.parts.access.authorize(who, 'read' satisfies Scope);
    return this.parts.weights.current();
  }

  /** Who is refused is audited as well. */
  private async audited(
    who: Credentials,
    name: string,
    act: () => Promise<WeightsUpdate>,
  ): Promise<WeightsUpdate> {
    const { access, audits } = this.parts;
    const action = { action: 'update-weights', name, digest: '', detail: '' } as const;
    let actor = '';
    try {
      actor = (await access.authorize(who, 'activate' satisfies Scope)).name;
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      await audits.note({ ...action, actor, detail: error.message }, error.code);
      throw error;
    }
    return audits.audited({ ...action, actor }, act, ({ digest, drainedUs, swappedUs }) => ({
      digest,
      detail: `waited ${drainedUs} us for the requests that ran, swapped in ${swappedUs} us`,
    }));
  }
}
