import { spawnSync } from "node:child_process";
/** Addresses that belong to nobody (RFC 2544). */ const PREFIX = `198.18.${process.pid % 250}`;
const NAME = `tessera-${process.pid}`;
/** Of the kernel: 15 characters. */ const link = (at, end)=>`t${process.pid % 1_000_000}${end}${at}`;
/** A network of four addresses for each place: of the router, and of the place. */ const routerAt = (at)=>`${PREFIX}.${4 * at + 1}`;
const placeAt = (at)=>`${PREFIX}.${4 * at + 2}`;
function ip(...words) {
    const { status, stderr, error } = spawnSync('ip', words, {
        encoding: 'utf8'
    });
    if (status === 0) return;
    throw new Error(`ip ${words.join(' ')}: ${error?.message ?? stderr.trim()}`);
}
/**
 * Places joined by a router, which passes on what comes from one for another, or does not: for
 * each direction alone. The tests are a place as well. Nothing leaves this machine.
 */ export class Network {
    namespaces = [];
    joined = 0;
    router = `${NAME}-router`;
    /** @throws Error where the system refuses namespaces, which takes root */ static open() {
        const network = new Network();
        try {
            network.add(network.router);
            const forwarding = 'echo 1 > /proc/sys/net/ipv4/ip_forward';
            ip('netns', 'exec', network.router, 'sh', '-c', forwarding);
            const here = network.join(undefined);
            ip('route', 'add', `${PREFIX}.0/24`, 'via', routerAt(0), 'dev', link(0, 'p'));
            if (here !== placeAt(0)) throw new Error(`expected ${placeAt(0)}, got ${here}`);
            return network;
        } catch (error) {
            network.close();
            throw error;
        }
    }
    /** Where the tests are. */ get here() {
        return placeAt(0);
    }
    place(name) {
        const namespace = `${NAME}-${name}`;
        this.add(namespace);
        return {
            namespace,
            address: this.join(namespace)
        };
    }
    /** From now on nothing that the one sends arrives at the other. @returns what mends that */ drop(from, to) {
        const rule = [
            'from',
            from,
            'to',
            to,
            'blackhole'
        ];
        ip('-n', this.router, 'rule', 'add', ...rule);
        return ()=>ip('-n', this.router, 'rule', 'del', ...rule);
    }
    /** Links go with the namespaces that their other ends are in. */ close() {
        for (const namespace of this.namespaces.reverse())ip('netns', 'del', namespace);
    }
    add(namespace) {
        ip('netns', 'add', namespace);
        this.namespaces.push(namespace);
    }
    /** Undefined: the tests' own. @returns its address */ join(namespace) {
        const at = this.joined;
        this.joined += 1;
        const [routed, own] = [
            link(at, 'r'),
            link(at, 'p')
        ];
        const inside = namespace === undefined ? [] : [
            '-n',
            namespace
        ];
        ip('link', 'add', routed, 'type', 'veth', 'peer', 'name', own);
        ip('link', 'set', routed, 'netns', this.router);
        if (namespace !== undefined) ip('link', 'set', own, 'netns', namespace);
        ip('-n', this.router, 'addr', 'add', `${routerAt(at)}/30`, 'dev', routed);
        ip('-n', this.router, 'link', 'set', routed, 'up');
        ip(...inside, 'addr', 'add', `${placeAt(at)}/30`, 'dev', own);
        ip(...inside, 'link', 'set', own, 'up');
        if (namespace === undefined) return placeAt(at);
        ip(...inside, 'link', 'set', 'lo', 'up');
        ip(...inside, 'route', 'add', 'default', 'via', routerAt(at));
        return placeAt(at);
    }
}

//# sourceMappingURL=network.js.map