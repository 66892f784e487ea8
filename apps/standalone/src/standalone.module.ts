import { type DynamicModule, Module } from '@nestjs/common';
import { FeatureModule, type FeatureOptions } from '../../feature/src/index.js';
import { RetrievalModule, type RetrievalOptions } from '../../retrieval/src/index.js';

export interface StandaloneOptions {
  readonly retrieval: RetrievalOptions;
  /** Absent where behaviours come from a file alone. */
  readonly feature: FeatureOptions | undefined;
}

/** The whole wiring of this process. */
@Module({})
export class StandaloneModule {
  static register({ retrieval, feature }: StandaloneOptions): DynamicModule {
    const imports = [RetrievalModule.register(retrieval)];
    if (feature !== undefined) imports.push(FeatureModule.register(feature));
    return { module: StandaloneModule, imports };
  }
}
