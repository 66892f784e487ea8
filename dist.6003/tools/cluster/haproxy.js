import { PARTITION_COUNT } from "../../libs/cluster/routing/src/index.js";
/** Where the configuration looks for the table. */ export const HAPROXY_MAP = '/etc/haproxy/tessera.map';
const PLACES = [
    0,
    1,
    2
];
/** Partition and, in their order, its owner and successors; one line each. */ export function haproxyMap(table) {
    const lines = Array.from({
        length: PARTITION_COUNT
    }, (_, partition)=>{
        const names = PLACES.flatMap((place)=>{
            const node = table.nodeAt(partition, place);
            return node === undefined ? [] : [
                table.members[node]?.name
            ];
        });
        return `${partition} ${names.join(':')}`;
    });
    return lines.join('\n');
}
/**
 * HAProxy 2.4 or later before the nodes of a cluster, by the same table as a gateway: callers send
 * the user ID in the header x-tessera-user. It knows nothing of cost, versions and changes.
 */ export function haproxyConfig(nodes) {
    const servers = nodes.map(({ name, host, httpPort, grpcPort })=>`    server ${name} ${host}:${grpcPort} proto h2 check check-proto h1 port ${httpPort}`);
    // A rule whose server is down is passed over: the next one names the successor.
    const rules = PLACES.map((place)=>`    use-server %[var(txn.order),word(${place + 1},:)] if { var(txn.order) -m found }`);
    return [
        '# Written by: npm run -s cluster -- config haproxy',
        `# The table: npm run -s cluster -- config haproxy-map > ${HAPROXY_MAP}`,
        '# A changed table, without a reload: prepare map, add map and commit map on the admin socket.',
        'global',
        '    stats socket /run/haproxy-tessera.sock mode 600 level admin',
        '    maxconn 4096',
        '',
        'defaults',
        '    mode http',
        '    timeout connect 1s',
        '    timeout client 70s',
        '    timeout server 70s',
        '    timeout http-request 10s',
        '    option redispatch 1',
        '    retry-on conn-failure empty-response',
        '    retries 2',
        '',
        'frontend tessera_grpc',
        '    bind 127.0.0.1:50051 proto h2',
        `    http-request set-var(txn.partition) req.hdr(x-tessera-user),xxh32,mod(${PARTITION_COUNT})`,
        `    http-request set-var(txn.order) var(txn.partition),map(${HAPROXY_MAP})`,
        '    default_backend tessera_nodes',
        '',
        'backend tessera_nodes',
        '    balance leastconn',
        '    option httpchk',
        '    http-check send meth GET uri /health/ready ver HTTP/1.1 hdr host 127.0.0.1',
        '    http-check expect status 200',
        '    default-server inter 500ms fall 2 rise 1',
        ...rules,
        ...servers
    ].join('\n');
}

//# sourceMappingURL=haproxy.js.map