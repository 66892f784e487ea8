import { EdgeAdmission, type Forecast } from '@tessera/admission';
import type { Config } from '@tessera/config';
import type { EmbeddingModels } from '@tessera/embedding';
import type { Queue } from '@tessera/methods';
import type { RecallFacts } from '@tessera/recall';
import type { RelevanceScorer } from '@tessera/relevance';

export type Admissions = Readonly<Record<'decoder', EdgeAdmission>> &
  Partial<Readonly<Record<Queue, EdgeAdmission>>>;

export interface AdmissionParts {
  readonly config: Pick<Config, 'engine' | 'relevance' | 'embedding'>;
  readonly facts: Pick<RecallFacts, 'engineStats'>;
  /** Left out: no texts are scored. */
  readonly relevance?: Pick<RelevanceScorer, 'profile'> | undefined;
  /** Left out: no texts become vectors. */
  readonly embedding?: Pick<EmbeddingModels, 'backlogUs'> | undefined;
  /** Told the code of each refusal. */
  readonly onRefused: (code: string) => void;
}

/** Milliseconds for which a forecast that was read counts. */
const FRESH_MS = 1;

/** Reads a forecast at most once a millisecond, whatever the number of calls. */
function forecastOf(readUs: () => number): Forecast {
  let readMs = Number.NEGATIVE_INFINITY;
  let us = 0;
  return {
    waitUs: () => {
      const now = performance.now();
      if (now - readMs > FRESH_MS) {
        us = readUs();
        readMs = now;
      }
      return us;
    },
  };
}

/** Admission of each queue of work: the forecast is the queue's own. */
export function admissionsOf(parts: AdmissionParts): Admissions {
  const { config, facts, relevance, embedding } = parts;
  const onRefused = () => parts.onRefused('ENGINE_OVERLOADED');
  const admission = (inFlightMax: number, readUs: () => number) =>
    new EdgeAdmission({ forecast: forecastOf(readUs), inFlightMax, onRefused });
  const { queueCapacity } = config.engine;
  return {
    decoder: admission(queueCapacity, () => facts.engineStats().backlogUs),
    ...(relevance && {
      relevance: admission(config.relevance.queueCapacity, () => relevance.profile().backlogUs),
    }),
    ...(embedding && {
      embedding: admission(config.embedding.queueTextsMax, () => embedding.backlogUs()),
    }),
  };
}
