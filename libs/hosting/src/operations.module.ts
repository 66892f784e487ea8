import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Readiness } from '@tessera/lifecycle';
import { Log, Metrics } from '@tessera/telemetry';
import { HttpErrorFilter } from './error-filter.js';
import { HealthController, KeptChains } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { ServedVersions } from './served-versions.js';

export interface OperationsOptions {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly versions: ServedVersions;
  /** Users' chains in the KV pool; left out: the process has none. */
  readonly chains?: KeptChains['count'];
  readonly log: Log;
}

/** Health and metrics over HTTP, as every process has them; failures by the table of errors. */
@Module({})
export class OperationsModule {
  static register({ readiness, metrics, versions, chains, log }: OperationsOptions): DynamicModule {
    return {
      module: OperationsModule,
      controllers: [HealthController, MetricsController],
      providers: [
        { provide: Readiness, useValue: readiness },
        { provide: Metrics, useValue: metrics },
        { provide: ServedVersions, useValue: versions },
        { provide: KeptChains, useValue: new KeptChains(chains) },
        { provide: Log, useValue: log },
        { provide: APP_FILTER, useValue: new HttpErrorFilter(log) },
      ],
    };
  }
}
