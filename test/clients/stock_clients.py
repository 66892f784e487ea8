"""Clients of other services against a service that runs, each by its defaults: prints what they
were given as JSON. Words: address over HTTP, name of the embedding model, JSON of query and
documents."""

import json
import sys

import cohere
from huggingface_hub import InferenceClient
from langchain_openai import OpenAIEmbeddings
from openai import BadRequestError, OpenAI

url, model, asked = sys.argv[1:]
asked = json.loads(asked)
texts = asked["documents"][:2]

openai = OpenAI(api_key="none", base_url=f"{url}/v1")
listed = [entry.id for entry in openai.models.list()]
vectors = [row.embedding for row in openai.embeddings.create(model=model, input=texts).data]
plain = openai.embeddings.create(model=model, input=texts, encoding_format="float", user="somebody")
short = openai.embeddings.create(model=model, input=texts[0], dimensions=5)
try:
    openai.embeddings.create(model=model, input=[[1, 2]])
    refused = None
except BadRequestError as error:
    refused = error.message

chain = OpenAIEmbeddings(model=model, api_key="none", base_url=f"{url}/v1",
                         check_embedding_ctx_length=False)
ranked = cohere.ClientV2(api_key="none", base_url=url).rerank(
    model="relevance", query=asked["query"], documents=asked["documents"], top_n=3)
print(json.dumps({
    "listed": listed,
    "openai": vectors,
    "plain": [row.embedding for row in plain.data],
    "short": len(short.data[0].embedding),
    "refused": refused,
    "langchain": chain.embed_documents(texts),
    "langchainQuery": chain.embed_query(texts[0]),
    "huggingface": InferenceClient(base_url=url).feature_extraction(texts[0]).tolist(),
    "cohere": [[row.index, row.relevance_score] for row in ranked.results],
}))
