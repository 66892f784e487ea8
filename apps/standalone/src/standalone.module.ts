import { type DynamicModule, Module } from '@nestjs/common';
import { type HttpCalls, OperationsModule, type OperationsOptions } from '@tessera/hosting';
import { ConsoleModule, type ConsoleParts } from '../../console/src/index.js';
import { FeatureModule, type FeatureOptions } from '../../feature/src/index.js';
import { RetrievalModule, type RetrievalOptions } from '../../retrieval/src/index.js';

export interface StandaloneOptions {
  readonly operations: OperationsOptions;
  readonly retrieval: RetrievalOptions;
  /** Absent where behaviours come from a file alone. */
  readonly feature: FeatureOptions | undefined;
  /** Absent where no console is served. */
  readonly console: ConsoleParts | undefined;
}

/** The whole wiring of this process. */
@Module({})
export class StandaloneModule {
  static register(options: StandaloneOptions, calls: HttpCalls): DynamicModule {
    const { operations, retrieval, feature, console } = options;
    const imports = [
      OperationsModule.register(operations),
      RetrievalModule.register(retrieval, calls),
    ];
    if (feature !== undefined) imports.push(FeatureModule.register(feature));
    if (console !== undefined) imports.push(ConsoleModule.register(console));
    return { module: StandaloneModule, imports };
  }
}
