/** The log of a cluster whose nodes are fake runtimes in this process. */ import { join } from "node:path";
import { loadConfig } from "../../libs/ops/config/src/index.js";
import { PendingErasures } from "../../libs/service/erasure/src/index.js";
import { RetrievalNode } from "../../libs/cluster/node/src/index.js";
import { createLog } from "../../libs/ops/telemetry/src/index.js";
import { MemoryEntryStore, MemoryLog, MemoryLogState } from "../../libs/testing/src/index.js";
import { openInspection } from "../../apps/standalone/src/inspection.js";
import { serve } from "../../apps/standalone/src/serve.js";
export class FakeCluster {
    folder;
    state = new MemoryLogState();
    contents = new Map();
    /** @param folder holds a folder per node */ constructor(folder){
        this.folder = folder;
    }
    /** A node of fakes that follows the log; each call has a state of its own. */ async serve(name, parts, variables) {
        const environment = Object.assign({
            TESSERA_NODE_NAME: name,
            TESSERA_CATALOGUE_CHANGES_PATH: join(this.folder, name, 'changes'),
            TESSERA_ADAPTERS_PATH: '',
            TESSERA_WEIGHTS_PATH: ''
        }, variables);
        const { config } = loadConfig({
            environment
        });
        const log = createLog('silent');
        const opened = {
            log: new MemoryLog(this.state),
            store: new MemoryEntryStore(this.contents)
        };
        const { runtime } = parts;
        const inspection = await openInspection(config, log);
        const eraseRecalls = inspection && ((userId)=>inspection.store.eraseUser(userId));
        const load = async ()=>runtime;
        const pending = await PendingErasures.open(join(this.folder, name, 'erasures'));
        const nodeParts = {
            config,
            opened,
            pending,
            eraseRecalls,
            log
        };
        const { clusterNode } = await RetrievalNode.join(nodeParts, load);
        return serve(Object.assign({
            config,
            log,
            inspection,
            serviceVersion: '1',
            clusterNode
        }, parts));
    }
}

//# sourceMappingURL=fake-cluster.js.map