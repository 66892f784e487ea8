const CONNECTION_MANAGER = 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.' + 'HttpConnectionManager';
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';
const HTTP_OPTIONS = 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const address = (host, port)=>({
        socket_address: {
            address: host,
            port_value: port
        }
    });
const listener = {
    name: 'tessera_grpc',
    address: address('127.0.0.1', 50_051),
    filter_chains: [
        {
            filters: [
                {
                    name: 'envoy.filters.network.http_connection_manager',
                    typed_config: {
                        '@type': CONNECTION_MANAGER,
                        stat_prefix: 'tessera',
                        codec_type: 'HTTP2',
                        route_config: {
                            virtual_hosts: [
                                {
                                    name: 'nodes',
                                    domains: [
                                        '*'
                                    ],
                                    routes: [
                                        {
                                            match: {
                                                prefix: '/'
                                            },
                                            route: {
                                                cluster: 'tessera_nodes',
                                                timeout: '70s',
                                                hash_policy: [
                                                    {
                                                        header: {
                                                            header_name: 'x-tessera-user'
                                                        }
                                                    }
                                                ],
                                                retry_policy: {
                                                    retry_on: 'connect-failure,refused-stream',
                                                    num_retries: 2
                                                }
                                            }
                                        }
                                    ]
                                }
                            ]
                        },
                        http_filters: [
                            {
                                name: 'envoy.filters.http.router',
                                typed_config: {
                                    '@type': ROUTER
                                }
                            }
                        ]
                    }
                }
            ]
        }
    ]
};
function endpointOf({ host, httpPort, grpcPort }) {
    return {
        endpoint: {
            address: address(host, grpcPort),
            health_check_config: {
                port_value: httpPort
            }
        }
    };
}
/**
 * Envoy before the nodes, by its own ring over the header x-tessera-user, bounded at 1.25 of the
 * mean of requests: users keep their node, but it is not the node that a gateway would choose.
 */ export function envoyConfig(nodes) {
    const cluster = {
        name: 'tessera_nodes',
        type: 'STATIC',
        connect_timeout: '1s',
        lb_policy: 'RING_HASH',
        ring_hash_lb_config: {
            minimum_ring_size: 65_536,
            hash_function: 'XX_HASH'
        },
        common_lb_config: {
            consistent_hashing_lb_config: {
                hash_balance_factor: 125
            }
        },
        health_checks: [
            {
                timeout: '1s',
                interval: '0.5s',
                unhealthy_threshold: 2,
                healthy_threshold: 1,
                http_health_check: {
                    path: '/health/ready',
                    codec_client_type: 'HTTP1'
                }
            }
        ],
        typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
                '@type': HTTP_OPTIONS,
                explicit_http_config: {
                    http2_protocol_options: {}
                }
            }
        },
        load_assignment: {
            cluster_name: 'tessera_nodes',
            endpoints: [
                {
                    lb_endpoints: nodes.map(endpointOf)
                }
            ]
        }
    };
    const bounds = {
        max_requests: 4096,
        max_pending_requests: 4096
    };
    const guarded = Object.assign(cluster, {
        circuit_breakers: {
            thresholds: [
                bounds
            ]
        }
    });
    return JSON.stringify({
        static_resources: {
            listeners: [
                listener
            ],
            clusters: [
                guarded
            ]
        }
    }, null, 2);
}

//# sourceMappingURL=envoy.js.map