import { type DynamicModule, Module } from '@nestjs/common';
import { OperationsModule, type OperationsOptions } from '@tessera/hosting';
import { Cluster } from './cluster.js';
import { ClusterController } from './http/cluster.controller.js';

/** The whole wiring of a gateway over HTTP. */
@Module({})
export class GatewayModule {
  static register(operations: OperationsOptions, cluster: Cluster): DynamicModule {
    return {
      module: GatewayModule,
      imports: [OperationsModule.register(operations)],
      controllers: [ClusterController],
      providers: [{ provide: Cluster, useValue: cluster }],
    };
  }
}
