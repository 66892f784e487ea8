function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
import { Module } from "@nestjs/common";
import { AskedOutcomes } from "./asked-outcomes.js";
import { Audits } from "./audits.js";
import { CatalogueNames } from "./catalogue-names.js";
import { ClusterNodes } from "./cluster-nodes.js";
import { ConsoleParts } from "./console-parts.js";
import { ExportJobs } from "./export-jobs.js";
import { Gate } from "./gate.js";
import { AboutController } from "./http/about.controller.js";
import { ConsoleAdaptersController } from "./http/adapters.controller.js";
import { AnalysisController } from "./http/analysis.controller.js";
import { ConsoleCatalogueController } from "./http/catalogue.controller.js";
import { ConsoleClusterController } from "./http/cluster.controller.js";
import { ComparisonController } from "./http/comparison.controller.js";
import { ExportsController } from "./http/exports.controller.js";
import { LoginController } from "./http/login.controller.js";
import { QuestionsController } from "./http/questions.controller.js";
import { RecallsController } from "./http/recalls.controller.js";
import { ConsoleRelevanceController } from "./http/relevance.controller.js";
import { SqlController } from "./http/sql.controller.js";
import { UsersController } from "./http/users.controller.js";
import { Imports } from "./imports.js";
import { Notes } from "./notes.js";
import { RecallLists } from "./recall-lists.js";
import { Recorded } from "./recorded.js";
import { UserChanges } from "./user-changes.js";
export class ConsoleModule {
    static register(parts) {
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
                QuestionsController
            ],
            providers: [
                {
                    provide: ConsoleParts,
                    useValue: parts
                },
                ...[
                    Audits,
                    Gate,
                    Recorded,
                    Notes,
                    Imports,
                    ClusterNodes,
                    UserChanges,
                    ExportJobs
                ],
                ...[
                    RecallLists,
                    CatalogueNames,
                    AskedOutcomes
                ]
            ]
        };
    }
}
ConsoleModule = _ts_decorate([
    Module({})
], ConsoleModule);

//# sourceMappingURL=console.module.js.map