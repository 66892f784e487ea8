import { brokerCondition, RecallRequests, serveTopics, topicNames, topicSettings } from "../../../../libs/ops/kafka/src/index.js";
import { ForwardedBehaviours } from "./forwarded-behaviours.js";
import { forwardedRecall, RECALL } from "./forwarded-recalls.js";
import { BEHAVIOURS_PATTERN, RECALLS_PATTERN } from "./topics.controller.js";
const tracedOf = ({ record: { headers } })=>({
        header: (name)=>headers[name]?.toString(),
        put: (own)=>{
            const bytes = Object.entries(own).map(([name, value])=>[
                    name,
                    Buffer.from(value)
                ]);
            Object.assign(headers, Object.fromEntries(bytes));
        }
    });
/**
 * Requests, and behaviours where no feature process takes them: every record is taken by one
 * gateway of those with one `cluster.name`. Undefined where no broker is named.
 */ export async function gatewayTopics(config, { one, cluster, count }, conditions, log) {
    const { behaviours } = config.cluster;
    const names = topicNames(config.kafka.topicPrefix);
    const { requestsTopic, behavioursTopic, responsesTopic } = names;
    const topics = {
        [RECALLS_PATTERN]: requestsTopic,
        ...behaviours === '' ? {
            [BEHAVIOURS_PATTERN]: behavioursTopic
        } : {}
    };
    const onServing = ()=>log.info({}, 'Kafka topics are served');
    const wanted = {
        topics,
        outputTopics: [
            responsesTopic
        ],
        onServing
    };
    const served = await serveTopics(topicSettings(config), wanted, log);
    if (served === undefined) return undefined;
    conditions.add(brokerCondition(served.server));
    const { producer } = served;
    const { defaultDeadlineMs } = config.recall;
    return {
        ...served,
        requests: new RecallRequests({
            producer,
            responsesTopic,
            defaultDeadlineMs,
            answer: (asked)=>count(RECALL, tracedOf(asked), ()=>forwardedRecall(one, asked))
        }),
        behaviours: new ForwardedBehaviours({
            one,
            cluster,
            count,
            producer
        })
    };
}

//# sourceMappingURL=gateway-topics.js.map