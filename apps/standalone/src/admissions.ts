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
  readonly facts: Pick<RecallFacts, 'forecast'>;
  /** Left out: no texts are scored. */
  readonly relevance?: Pick<RelevanceScorer, 'profile'> | undefined;
  /** Left out: no texts become vectors. */
  readonly embedding?: Pick<EmbeddingModels, 'backlogUs'> | undefined;
  /** Told the code of each refusal. */
  readonly onRefused: (code: string) => void;
}

/** Milliseconds for which a forecast that was read counts. */
const FRESH_MS = 1;

/** Reads at most once a millisecond, whatever the number of calls. */
function fresh<Value>(read: () => Value): () => Value {
  let readMs = Number.NEGATIVE_INFINITY;
  let value: Value;
  return () => {
    const now = performance.now();
    if (now - readMs > FRESH_MS) {
      value = read();
      readMs = now;
    }
    return value;
  };
}

/** The engine's own forecast, which hears of the calls that were refused by it. */
function decoderForecast(facts: AdmissionParts['facts']): Forecast {
  const refused = [0, 0, 0];
  const read = fresh(() => {
    const read = facts.forecast(refused);
    refused.fill(0);
    return read;
  });
  return {
    of: (cls) => read().classes[cls] ?? NO_WAIT,
    get requestUs() {
      return read().requestUs;
    },
    get turnsShare() {
      return read().turnsShare;
    },
    noteRefused: (cls) => {
      refused[cls] = (refused[cls] ?? 0) + 1;
    },
  };
}

const NO_WAIT = { waitUs: 0, turnUs: 0 };

/** A queue without classes. */
function backlogForecast(readUs: () => number): Forecast {
  const read = fresh(() => ({ waitUs: readUs(), turnUs: 0 }));
  return { of: read, requestUs: 0, turnsShare: 1, noteRefused: () => undefined };
}

/** Admission of each queue of work: the forecast is the queue's own. */
export function admissionsOf(parts: AdmissionParts): Admissions {
  const { config, facts, relevance, embedding } = parts;
  const onRefused = () => parts.onRefused('ENGINE_OVERLOADED');
  const admission = (inFlightMax: number, forecast: Forecast) =>
    new EdgeAdmission({ forecast, inFlightMax, onRefused });
  return {
    decoder: admission(config.engine.queueCapacity, decoderForecast(facts)),
    ...(relevance && {
      relevance: admission(
        config.relevance.queueCapacity,
        backlogForecast(() => relevance.profile().backlogUs),
      ),
    }),
    ...(embedding && {
      embedding: admission(
        config.embedding.queueTextsMax,
        backlogForecast(() => embedding.backlogUs()),
      ),
    }),
  };
}
