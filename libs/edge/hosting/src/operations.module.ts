import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Readiness } from '@tessera/lifecycle';
import { Log, Metrics } from '@tessera/telemetry';
import { HttpErrorFilter } from './error-filter.js';
import { HealthController, OwnState } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { ServedVersions } from './served-versions.js';

export interface OperationsOptions {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly versions: ServedVersions;
  /** Users' chains in the KV pool; left out: the process has none. */
  readonly chains?: OwnState['chains'];
  /** Left out: its keys and values are its own. */
  readonly kvStore?: OwnState['kvStore'];
  /** Left out: the process scores no texts. */
  readonly relevance?: OwnState['relevance'];
  /** Left out: the process follows no cluster log. */
  readonly clusterLog?: OwnState['clusterLog'];
  readonly log: Log;
}

/** Health and metrics over HTTP, as every process has them; failures by the table of errors. */
@Module({})
export class OperationsModule {
  static register(options: OperationsOptions): DynamicModule {
    const { readiness, metrics, versions, log } = options;
    return {
      module: OperationsModule,
      controllers: [HealthController, MetricsController],
      providers: [
        { provide: Readiness, useValue: readiness },
        { provide: Metrics, useValue: metrics },
        { provide: ServedVersions, useValue: versions },
        { provide: OwnState, useValue: new OwnState(options) },
        { provide: Log, useValue: log },
        { provide: APP_FILTER, useValue: new HttpErrorFilter(log) },
      ],
    };
  }
}
