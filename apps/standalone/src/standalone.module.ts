import { type DynamicModule, Module } from '@nestjs/common';
import { OperationsModule, type OperationsOptions } from '@tessera/hosting';
import { FeatureModule, type FeatureOptions } from '../../feature/src/index.js';
import { RetrievalModule, type RetrievalOptions } from '../../retrieval/src/index.js';

export interface StandaloneOptions {
  readonly operations: OperationsOptions;
  readonly retrieval: RetrievalOptions;
  /** Absent where behaviours come from a file alone. */
  readonly feature: FeatureOptions | undefined;
}

/** The whole wiring of this process. */
@Module({})
export class StandaloneModule {
  static register({ operations, retrieval, feature }: StandaloneOptions): DynamicModule {
    const imports = [OperationsModule.register(operations), RetrievalModule.register(retrieval)];
    if (feature !== undefined) imports.push(FeatureModule.register(feature));
    return { module: StandaloneModule, imports };
  }
}
