import type { EdgeAdmission } from '@tessera/admission';
import { type Call, type Handler, plain, type Read, service } from '@tessera/call';
import type {
  WireEmbedRequest,
  WireEstimateRequest,
  WireEstimateResponse,
  WireExplainRequest,
  WireRankRequest,
  WireRecallBatchRequest,
  WireRecallRequest,
  WireRelevanceRequest,
  WireScoreRequest,
} from '@tessera/contracts';
import { type RecallRequest, readEligibility } from '@tessera/recall';
import type { EmbeddingEdge } from '../embedding-edge.js';
import { classOf, type Parsed, type RecallEdge } from '../recall-edge.js';
import type { RelevanceEdge } from '../relevance-edge.js';
import { parseWireEmbed, toWireEmbed } from '../wire/embedding.mapper.js';
import {
  type AskedExplanation,
  parseWireExplain,
  questionOf,
  toWireExplanation,
} from '../wire/explain.mapper.js';
import { JSON_FORM } from '../wire/json-form.js';
import { parseWireRank, toWireRanking } from '../wire/rank.mapper.js';
import {
  type AskedRecall,
  parseWireRecall,
  recallOf,
  toWireResponse,
} from '../wire/recall.mapper.js';
import { parseWireRelevance, toWireRelevance } from '../wire/relevance.mapper.js';
import { parseWireScore, toWireScores } from '../wire/score.mapper.js';
import { priorityOf } from '../wire/user-source.js';
import { type AskedBatch, recallBatch } from './recall-batch.js';

/** Edges that answer requests of models. */
export interface RequestEdges {
  readonly admission: Pick<EdgeAdmission, 'forecast' | 'inFlight'>;
  readonly recall: RecallEdge;
  readonly relevance: RelevanceEdge;
  readonly embedding: EmbeddingEdge;
}

/** Recall, score, rank, explain, relevance and embeddings. */
export function requestHandlers({ admission, recall, relevance, embedding }: RequestEdges) {
  return [
    ...service('tessera.recall.v1.RecallService', {
      Recall: async (read: Read<WireRecallRequest>, call: Call) =>
        toWireResponse(await recall.recall(() => parseWireRecall(read()), call)),
      RecallBatch: (read: Read<WireRecallBatchRequest>, call: Call) =>
        recallBatch(recall, read(), parseWireRecall, call),
      Estimate: plain(({ priority }: WireEstimateRequest): WireEstimateResponse => {
        const { waitUs, turnUs } = admission.forecast(classOf({ priority: priorityOf(priority) }));
        return { waitUs, turnUs, inFlight: admission.inFlight };
      }),
    }),
    ...service('tessera.score.v1.ScoreService', {
      Score: async (read: Read<WireScoreRequest>, call: Call) =>
        toWireScores(await recall.score(() => parseWireScore(read()), call)),
    }),
    ...service('tessera.ranking.v1.RankingService', {
      Rank: async (read: Read<WireRankRequest>, call: Call) =>
        toWireRanking(await recall.rank(() => parseWireRank(read()), call)),
    }),
    ...service('tessera.explain.v1.ExplainService', {
      Explain: async (read: Read<WireExplainRequest>, call: Call) =>
        toWireExplanation(await recall.explain(() => parseWireExplain(read()), call)),
    }),
    ...service('tessera.relevance.v1.RelevanceService', {
      Score: async (read: Read<WireRelevanceRequest>, call: Call) =>
        toWireRelevance(await relevance.score(() => parseWireRelevance(read()), call)),
    }),
    ...service('tessera.embedding.v1.EmbeddingService', {
      Embed: async (read: Read<WireEmbedRequest>, call: Call) => {
        // The edge reads the message, so that a refusal of it is counted.
        const parse = () => parseWireEmbed(read());
        return toWireEmbed(await embedding.embed(parse, call), read());
      },
    }),
  ];
}

/** Its eligibility is the object of the eligibility page of the docs. */
type JsonRecall = AskedRecall & { readonly eligibility: object | undefined };

/** The recall of a JSON body. @throws TesseraError REQUEST_INVALID with the field */
export function readJsonRecall(body: unknown): Parsed<RecallRequest> {
  return jsonRecallOf(
    JSON_FORM.readRequest<JsonRecall>('tessera.recall.v1.RecallService.Recall', body),
  );
}

function jsonRecallOf(asked: JsonRecall): Parsed<RecallRequest> {
  return recallOf(asked, asked.eligibility && readEligibility(asked.eligibility));
}

/** Handlers whose JSON has another form of eligibility than the message. */
export function jsonRequestHandlers({ recall }: RequestEdges): [string, Handler][] {
  return [
    ...service('tessera.recall.v1.RecallService', {
      Recall: async (read: Read<JsonRecall>, call: Call) =>
        toWireResponse(await recall.recall(() => jsonRecallOf(read()), call)),
      RecallBatch: (read: Read<AskedBatch<JsonRecall>>, call: Call) =>
        recallBatch(recall, read(), jsonRecallOf, call),
    }),
    ...service('tessera.explain.v1.ExplainService', {
      Explain: async (read: Read<AskedExplanation<JsonRecall>>, call: Call) =>
        toWireExplanation(await recall.explain(() => questionOf(read(), jsonRecallOf), call)),
    }),
  ];
}
