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
import { OperationsModule } from "../../../libs/edge/hosting/src/index.js";
import { ConsoleModule } from "../../console/src/index.js";
import { FeatureModule } from "../../feature/src/index.js";
import { RetrievalModule } from "../../retrieval/src/index.js";
export class StandaloneModule {
    static register(options, calls) {
        const { operations, retrieval, feature, console } = options;
        const imports = [
            OperationsModule.register(operations),
            RetrievalModule.register(retrieval, calls)
        ];
        if (feature !== undefined) imports.push(FeatureModule.register(feature));
        if (console !== undefined) imports.push(ConsoleModule.register(console));
        return {
            module: StandaloneModule,
            imports
        };
    }
}
StandaloneModule = _ts_decorate([
    Module({})
], StandaloneModule);

//# sourceMappingURL=standalone.module.js.map