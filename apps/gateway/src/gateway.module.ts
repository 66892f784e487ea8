import { type DynamicModule, Module } from '@nestjs/common';
import { OperationsModule, type OperationsOptions } from '@tessera/hosting';
import { RecallRequests } from '@tessera/kafka';
import { Log } from '@tessera/telemetry';
import { Cluster } from './cluster.js';
import { ClusterController } from './http/cluster.controller.js';
import { ForwardedBehaviours } from './kafka/forwarded-behaviours.js';
import type { GatewayTopics } from './kafka/gateway-topics.js';
import { TopicsController } from './kafka/topics.controller.js';

/** The whole wiring of a gateway over HTTP and topics. */
@Module({})
export class GatewayModule {
  static register(
    operations: OperationsOptions,
    cluster: Cluster,
    topics: GatewayTopics | undefined,
  ): DynamicModule {
    return {
      module: GatewayModule,
      imports: [OperationsModule.register(operations)],
      controllers: [ClusterController, ...(topics === undefined ? [] : [TopicsController])],
      providers: [
        { provide: Cluster, useValue: cluster },
        { provide: Log, useValue: operations.log },
        { provide: RecallRequests, useValue: topics?.requests },
        { provide: ForwardedBehaviours, useValue: topics?.behaviours },
      ],
    };
  }
}
