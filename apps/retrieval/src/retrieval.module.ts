import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { ChangeAudits } from '@tessera/access';
import { EdgeAdmission } from '@tessera/admission';
import { HttpCalls, type OwnMethods } from '@tessera/hosting';
import { RecordProducer } from '@tessera/kafka';
import { RecallOperations, type RecallServing } from '@tessera/recall';
import type { RelevanceScorer } from '@tessera/relevance';
import { Log, Metrics } from '@tessera/telemetry';
import { AdapterEdge } from './adapter-edge.js';
import { EmbeddingEdge } from './embedding-edge.js';
import { adapterHandlers } from './handlers/adapters.js';
import { catalogueHandlers, jsonCatalogueHandlers } from './handlers/catalogue.js';
import { kvPoolHandlers } from './handlers/kv-pool.js';
import { jsonRequestHandlers, requestHandlers } from './handlers/requests.js';
import { weightsHandlers } from './handlers/weights.js';
import { EmbeddingHttpController } from './http/embedding.controller.js';
import { ModelsHttpController, ServedModels, type TextModels } from './http/models.controller.js';
import { RerankHttpController } from './http/rerank.controller.js';
import { AdapterTopicController, FetchSource } from './kafka/adapter-topic.controller.js';
import { CatalogueTopicController } from './kafka/catalogue-topic.controller.js';
import { RecallTopicController, RecallTopicSettings } from './kafka/recall-topic.controller.js';
import { KvEdge, type KvEdgeParts } from './kv-edge.js';
import { type EdgeParts, RecallEdge } from './recall-edge.js';
import { RelevanceEdge, type RelevanceEdgeParts } from './relevance-edge.js';
import { WeightsEdge } from './weights-edge.js';
import { JSON_FORM } from './wire/json-form.js';

export interface RetrievalOptions
  extends EdgeParts,
    KvEdgeParts,
    Omit<RelevanceEdgeParts, 'facts'> {
  readonly facts: KvEdgeParts['facts'] & RelevanceEdgeParts['facts'];
  readonly serving: RecallServing;
  readonly operations: RecallOperations;
  readonly changes: ChangeAudits;
  /** Admission to the decoder's queue. */
  readonly admission: EdgeAdmission;
  readonly adapters: AdapterEdge;
  readonly weights: WeightsEdge;
  readonly embedding: TextModels;
  readonly relevance?: RelevanceScorer | undefined;
  /** Absent where no Kafka is served. */
  readonly topics?:
    | {
        readonly producer: RecordProducer;
        readonly settings: RecallTopicSettings;
        /** Absent where no announced versions are fetched. */
        readonly fetchSource?: FetchSource | undefined;
      }
    | undefined;
}

/**
 * The edges of recall, score and explain, changes of the catalogue, versions of adapters,
 * operations on the KV pool.
 */
@Module({})
export class RetrievalModule {
  static register(options: RetrievalOptions, calls: HttpCalls): DynamicModule {
    const { topics } = options;
    return {
      module: RetrievalModule,
      controllers: [
        RerankHttpController,
        EmbeddingHttpController,
        ModelsHttpController,
        ...(topics === undefined ? [] : [RecallTopicController, CatalogueTopicController]),
        ...(topics?.fetchSource === undefined ? [] : [AdapterTopicController]),
      ],
      providers: [
        { provide: EdgeAdmission, useValue: options.admission },
        { provide: RecallEdge, useValue: new RecallEdge(options) },
        { provide: RelevanceEdge, useValue: new RelevanceEdge(options) },
        {
          provide: EmbeddingEdge,
          useValue: new EmbeddingEdge(Object.assign({ models: options.embedding }, options)),
        },
        { provide: HttpCalls, useValue: calls },
        { provide: ServedModels, useValue: new ServedModels(options) },
        { provide: KvEdge, useValue: new KvEdge(options) },
        { provide: AdapterEdge, useValue: options.adapters },
        { provide: WeightsEdge, useValue: options.weights },
        { provide: RecallOperations, useValue: options.operations },
        { provide: Metrics, useValue: options.metrics },
        { provide: ChangeAudits, useValue: options.changes },
        { provide: Log, useValue: options.log },
        ...(topics === undefined
          ? []
          : [
              { provide: RecordProducer, useValue: topics.producer },
              { provide: RecallTopicSettings, useValue: topics.settings },
              { provide: FetchSource, useValue: topics.fetchSource },
            ]),
      ],
    };
  }
}

/** The methods of this module, and those whose JSON is read otherwise than the message. */
export function retrievalMethods(app: INestApplicationContext): Required<OwnMethods> {
  const requests = {
    admission: app.get(EdgeAdmission),
    recall: app.get(RecallEdge),
    relevance: app.get(RelevanceEdge),
    embedding: app.get(EmbeddingEdge),
  };
  const catalogues = { operations: app.get(RecallOperations), changes: app.get(ChangeAudits) };
  return {
    handlers: new Map([
      ...requestHandlers(requests),
      ...catalogueHandlers(catalogues),
      ...kvPoolHandlers(app.get(KvEdge)),
      ...adapterHandlers(app.get(AdapterEdge)),
      ...weightsHandlers(app.get(WeightsEdge)),
    ]),
    json: {
      form: JSON_FORM,
      handlers: new Map([...jsonRequestHandlers(requests), ...jsonCatalogueHandlers(catalogues)]),
    },
  };
}
