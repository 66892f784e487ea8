import { type DynamicModule, Module } from '@nestjs/common';
import { OperationsModule, type OperationsOptions } from '@tessera/hosting';
import { FeatureModule, type FeatureOptions } from './feature.module.js';

/** The whole wiring of the feature app where it is a process of its own. */
@Module({})
export class FeatureProcessModule {
  static register(operations: OperationsOptions, feature: FeatureOptions): DynamicModule {
    return {
      module: FeatureProcessModule,
      imports: [OperationsModule.register(operations), FeatureModule.register(feature)],
    };
  }
}
