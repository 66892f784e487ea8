/** The words after the command that starts a process. */ const SWITCHES = {
    '--print-config': 'printConfig',
    '--json-log': 'jsonLog'
};
/** The variable that a flag with a value sets. */ const SETTINGS = {
    '--kafka': (value)=>({
            'kafka.brokers': value
        }),
    '--redis': (value)=>({
            'behaviours.store': 'redis',
            'behaviours.redis': value
        }),
    '--etcd': (value)=>({
            'cluster.etcd': value
        }),
    '--behaviours': (value)=>({
            'behaviours.store': 'remote',
            'behaviours.remote': value
        })
};
export const FLAG_LINES = `  --config FILE           configuration
  --print-config          print the effective configuration and end
  --json-log              the standard output has the log as JSON lines, and nothing else
  --kafka HOST:PORT       serve the topics of a broker (kafka.brokers)
  --redis HOST:PORT       keep behaviours in Redis (behaviours.redis)
  --etcd HOST:PORT        be a node, or a gateway, of the cluster there (cluster.etcd)`;
export function parseStartFlags(words) {
    let file;
    const switches = {
        printConfig: false,
        jsonLog: false
    };
    let values = {};
    for(let at = 0; at < words.length; at += 1){
        const word = words[at];
        if (word === '--help') return 'help';
        const name = Object.hasOwn(SWITCHES, word) ? SWITCHES[word] : undefined;
        if (name !== undefined) {
            switches[name] = true;
            continue;
        }
        const setting = Object.hasOwn(SETTINGS, word) ? SETTINGS[word] : undefined;
        if (word !== '--config' && setting === undefined) {
            const known = [
                '--config',
                ...Object.keys(SWITCHES),
                ...Object.keys(SETTINGS)
            ].join(', ');
            return {
                reason: `${word}: expected one of ${known}`
            };
        }
        at += 1;
        const value = words[at];
        if (value === undefined) return {
            reason: `${word}: expected a value, got nothing`
        };
        if (setting === undefined) file = value;
        else values = {
            ...values,
            ...setting(value)
        };
    }
    return {
        file,
        ...switches,
        values
    };
}

//# sourceMappingURL=start-flags.js.map