import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { RecordProducer } from '@tessera/kafka';
import { Log } from '@tessera/telemetry';
import { BehaviourEdge, type BehaviourParts } from './behaviour-edge.js';
import { behaviourHandlers } from './behaviour-handlers.js';
import { BehaviourTopicController } from './kafka/behaviour-topic.controller.js';

export interface FeatureOptions extends BehaviourParts {
  /** Absent where no Kafka is served. */
  readonly producer?: RecordProducer | undefined;
}

/** Behaviours in: over gRPC and, where there is a broker, from their topic. */
@Module({})
export class FeatureModule {
  static register(options: FeatureOptions): DynamicModule {
    const { producer } = options;
    return {
      module: FeatureModule,
      controllers: producer === undefined ? [] : [BehaviourTopicController],
      providers: [
        { provide: BehaviourEdge, useValue: new BehaviourEdge(options) },
        { provide: Log, useValue: options.log },
        ...(producer === undefined ? [] : [{ provide: RecordProducer, useValue: producer }]),
      ],
    };
  }
}

/** The methods of this module. */
export const behaviourMethods = (app: INestApplicationContext) =>
  behaviourHandlers(app.get(BehaviourEdge));
