"""The client that openapi-generator makes: python use_openapi.py URL"""

import sys

import openapi_client as tessera
from openapi_client.exceptions import ApiException

clause = tessera.EligibilityClause(
    tessera.EligibilityContains(attribute="labels", contains=[tessera.EligibilityValue("none")])
)
eligibility = tessera.Eligibility(predicate=clause)

with tessera.ApiClient(tessera.Configuration(host=sys.argv[1])) as client:
    api = tessera.DefaultApi(client)
    answer = api.recall(tessera.RecallRequest(user_id="1", result_count=3))
    for item in answer.items:
        print(f"{item.item_id}\t{item.score}")
    none = api.recall(tessera.RecallRequest(user_id="1", eligibility=eligibility))
    assert none.items == [], none.items
    batch = api.recall_batch(
        tessera.RecallBatchRequest(recalls=[tessera.RecallRequest(user_id="1", result_count=3)])
    )
    assert batch.outcomes[0].answer.items == answer.items
    try:
        api.recall(tessera.RecallRequest(user_id="1", result_count=10**6))
        raise SystemExit("expected a refusal")
    except ApiException as refused:
        assert refused.status == 400, refused
