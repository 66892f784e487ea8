import { TesseraError } from '@tessera/errors';
import { ItemText } from '@tessera/prompt';
import type { RelevanceAnswer, RelevanceRequest, RelevanceScorer } from '@tessera/relevance';
import { relevanceProfile } from '@tessera/testing';
import type { OpenedRelevance } from '../../apps/standalone/src/relevance.js';

const PROFILE = relevanceProfile({ documentsMax: 20 });

/** Scores a text by its own characters, refuses `faulty`, and waits while it is held. */
export class FakeRelevance {
  /** Texts of each call. */
  readonly seen: string[][] = [];
  /** Calls that wait. */
  held = 0;
  private released: Promise<void> = Promise.resolve();
  private resolve: () => void = () => undefined;

  get opened(): OpenedRelevance {
    const relevance: RelevanceScorer = {
      itemText: ItemText.ofTitle,
      checkAdapter: (name, field) => checkAdapter(name, field),
      profile: () => PROFILE,
      score: (request: RelevanceRequest) => this.score(request),
    };
    const nothing = async () => undefined;
    return { relevance, description: 'fake', notes: [], drain: nothing, close: nothing };
  }

  hold(): void {
    this.released = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  release(): void {
    this.resolve();
  }

  private async score(request: RelevanceRequest): Promise<RelevanceAnswer> {
    const { query, documents, failures, adapter = '' } = request;
    checkAdapter(adapter, 'adapter');
    if (query === '') throw invalid('query', 'a text that is not empty', 'none');
    if (documents.length < 1 || documents.length > PROFILE.documentsMax) {
      throw invalid('documents', '1..20 documents', String(documents.length));
    }
    this.seen.push(documents.flatMap((of) => (typeof of === 'string' ? of : [])));
    this.held += 1;
    await this.released;
    this.held -= 1;
    const outcomes = documents.map((of, i) => {
      if (of instanceof TesseraError) return { error: of };
      if (of === 'faulty') return { error: invalid(`documents[${i}]`, 'another text', of) };
      const sum = [...Buffer.from(of)].reduce((all, byte) => (all * 31 + byte) % 9973, 7);
      const { length: promptTokens } = of;
      return { score: sum / 9973, promptTokens, documentTokens: promptTokens, cutTokens: 0 };
    });
    const failed = outcomes.find((of) => 'error' in of);
    if (failures === 'whole' && failed !== undefined && 'error' in failed) throw failed.error;
    const tokens = outcomes.reduce((all, of) => all + ('error' in of ? 0 : of.promptTokens), 0);
    const { model: modelDigest, template } = PROFILE;
    const versions = { modelDigest, template, adapter };
    return { outcomes, promptTokens: tokens, computedTokens: tokens, ...versions };
  }
}

/** Knows `fits`, which changes no score. */
function checkAdapter(name: string, field: string): void {
  if (name === '' || name === 'fits') return;
  const message = `${field}: expected one of fits, base, got '${name}'`;
  throw new TesseraError('ADAPTER_NOT_FOUND', message, { field });
}

function invalid(field: string, expected: string, got: string): TesseraError {
  return new TesseraError('REQUEST_INVALID', `${field}: expected ${expected}, got ${got}`, {
    field,
  });
}
