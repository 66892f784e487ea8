import { type AdmissionSettings, EdgeAdmission } from '@tessera/admission';
import type { Config } from '@tessera/config';
import { type EmbeddingModels, TEXT_LIMITS } from '@tessera/embedding';
import { engineLimits } from '@tessera/engine';
import type { Queue } from '@tessera/methods';
import type { RecallFacts } from '@tessera/recall';
import { QUEUE_DOCUMENTS_MAX, type RelevanceScorer } from '@tessera/relevance';

export type Admissions = Readonly<Record<'decoder', EdgeAdmission>> &
  Partial<Readonly<Record<Queue, EdgeAdmission>>>;

export interface AdmissionParts {
  readonly config: Pick<Config, 'engine'>;
  readonly facts: Pick<RecallFacts, 'forecast'>;
  /** Left out: no texts are scored. */
  readonly relevance?: Pick<RelevanceScorer, 'profile'> | undefined;
  /** Left out: no texts become vectors. */
  readonly embedding?: Pick<EmbeddingModels, 'backlogUs'> | undefined;
}

const NO_WAIT = { waitUs: 0, turnUs: 0 };

/** Admission of each queue of work. */
export function admissionsOf(parts: AdmissionParts): Admissions {
  const { config, facts, relevance, embedding } = parts;
  const admission = (inFlightMax: number, forecast: NonNullable<AdmissionSettings['forecast']>) =>
    new EdgeAdmission({ forecast, inFlightMax });
  const backlog = (readUs: () => number) => () => ({ waitUs: readUs(), turnUs: 0 });
  return {
    decoder: admission(
      engineLimits(config.engine).queueCapacity,
      (cls) => facts.forecast().classes[cls] ?? NO_WAIT,
    ),
    ...(relevance && {
      relevance: admission(
        QUEUE_DOCUMENTS_MAX,
        backlog(() => relevance.profile().backlogUs),
      ),
    }),
    ...(embedding && {
      embedding: admission(
        TEXT_LIMITS.queueTextsMax,
        backlog(() => embedding.backlogUs()),
      ),
    }),
  };
}
