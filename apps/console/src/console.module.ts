import { type DynamicModule, Module } from '@nestjs/common';
import { AskedOutcomes } from './asked-outcomes.js';
import { Audits } from './audits.js';
import { CatalogueNames } from './catalogue-names.js';
import { ClusterNodes } from './cluster-nodes.js';
import { ConsoleParts } from './console-parts.js';
import { ExportJobs } from './export-jobs.js';
import { Gate } from './gate.js';
import { AboutController } from './http/about.controller.js';
import { ConsoleAdaptersController } from './http/adapters.controller.js';
import { AnalysisController } from './http/analysis.controller.js';
import { ConsoleCatalogueController } from './http/catalogue.controller.js';
import { ConsoleClusterController } from './http/cluster.controller.js';
import { ComparisonController } from './http/comparison.controller.js';
import { ExportsController } from './http/exports.controller.js';
import { LoginController } from './http/login.controller.js';
import { QuestionsController } from './http/questions.controller.js';
import { RecallsController } from './http/recalls.controller.js';
import { ConsoleRelevanceController } from './http/relevance.controller.js';
import { SqlController } from './http/sql.controller.js';
import { UsersController } from './http/users.controller.js';
import { Imports } from './imports.js';
import { Notes } from './notes.js';
import { RecallLists } from './recall-lists.js';
import { Recorded } from './recorded.js';
import { UserChanges } from './user-changes.js';

/** The API that the pages of the console ask. */
@Module({})
export class ConsoleModule {
  static register(parts: ConsoleParts): DynamicModule {
    return {
      module: ConsoleModule,
      controllers: [
        LoginController,
        AboutController,
        ConsoleClusterController,
        RecallsController,
        ConsoleRelevanceController,
        UsersController,
        ConsoleCatalogueController,
        ConsoleAdaptersController,
        ComparisonController,
        SqlController,
        AnalysisController,
        ExportsController,
        QuestionsController,
      ],
      providers: [
        { provide: ConsoleParts, useValue: parts },
        ...[Audits, Gate, Recorded, Notes, Imports, ClusterNodes, UserChanges, ExportJobs],
        ...[RecallLists, CatalogueNames, AskedOutcomes],
      ],
    };
  }
}
