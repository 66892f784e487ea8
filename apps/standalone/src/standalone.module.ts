import { type DynamicModule, Module } from '@nestjs/common';
import { RetrievalModule, type RetrievalOptions } from '../../retrieval/src/index.js';

/** The whole wiring of this process. */
@Module({})
export class StandaloneModule {
  static register(options: RetrievalOptions): DynamicModule {
    return { module: StandaloneModule, imports: [RetrievalModule.register(options)] };
  }
}
