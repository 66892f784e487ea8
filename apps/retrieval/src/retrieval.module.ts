import { type DynamicModule, Module } from '@nestjs/common';
import { ChangeAudits } from '@tessera/access';
import { RecordProducer } from '@tessera/kafka';
import { RecallOperations, type RecallServing } from '@tessera/recall';
import type { RelevanceScorer } from '@tessera/relevance';
import { Log, Metrics } from '@tessera/telemetry';
import { AdapterEdge } from './adapter-edge.js';
import { EmbeddingEdge } from './embedding-edge.js';
import { AdapterGrpcController } from './grpc/adapter.controller.js';
import { CatalogueGrpcController } from './grpc/catalogue.controller.js';
import { EmbeddingGrpcController } from './grpc/embedding.controller.js';
import { ExplainGrpcController } from './grpc/explain.controller.js';
import { KvPoolGrpcController } from './grpc/kv-pool.controller.js';
import { RecallGrpcController } from './grpc/recall.controller.js';
import { RelevanceGrpcController } from './grpc/relevance.controller.js';
import { ScoreGrpcController } from './grpc/score.controller.js';
import { WeightsGrpcController } from './grpc/weights.controller.js';
import { CatalogueHttpController } from './http/catalogue.controller.js';
import { EmbeddingHttpController } from './http/embedding.controller.js';
import { KvPoolHttpController } from './http/kv-pool.controller.js';
import { ModelsHttpController, ServedModels, type TextModels } from './http/models.controller.js';
import { RecallHttpController } from './http/recall.controller.js';
import { RerankHttpController } from './http/rerank.controller.js';
import { AdapterTopicController, FetchSource } from './kafka/adapter-topic.controller.js';
import { CatalogueTopicController } from './kafka/catalogue-topic.controller.js';
import { RecallTopicController, RecallTopicSettings } from './kafka/recall-topic.controller.js';
import { KvEdge, type KvEdgeParts } from './kv-edge.js';
import { type EdgeParts, RecallEdge } from './recall-edge.js';
import { RelevanceEdge, type RelevanceEdgeParts } from './relevance-edge.js';
import { WeightsEdge } from './weights-edge.js';

export interface RetrievalOptions
  extends EdgeParts,
    KvEdgeParts,
    Omit<RelevanceEdgeParts, 'facts'> {
  readonly facts: KvEdgeParts['facts'] & RelevanceEdgeParts['facts'];
  readonly serving: RecallServing;
  readonly operations: RecallOperations;
  readonly changes: ChangeAudits;
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
  static register(options: RetrievalOptions): DynamicModule {
    const { topics } = options;
    return {
      module: RetrievalModule,
      controllers: [
        RecallGrpcController,
        ScoreGrpcController,
        ExplainGrpcController,
        RelevanceGrpcController,
        EmbeddingGrpcController,
        CatalogueGrpcController,
        KvPoolGrpcController,
        AdapterGrpcController,
        WeightsGrpcController,
        RecallHttpController,
        RerankHttpController,
        EmbeddingHttpController,
        CatalogueHttpController,
        KvPoolHttpController,
        ModelsHttpController,
        ...(topics === undefined ? [] : [RecallTopicController, CatalogueTopicController]),
        ...(topics?.fetchSource === undefined ? [] : [AdapterTopicController]),
      ],
      providers: [
        { provide: RecallEdge, useValue: new RecallEdge(options) },
        { provide: RelevanceEdge, useValue: new RelevanceEdge(options) },
        {
          provide: EmbeddingEdge,
          useValue: new EmbeddingEdge(Object.assign({ models: options.embedding }, options)),
        },
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
