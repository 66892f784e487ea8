"""vLLM on the processor as a peer of relevance: its engine with prefix caching, one token a prompt
and the log-probabilities of the labels. Their difference is the log-odds, as that of logits is.

What its cache holds is of prompts asked before; each question is of tokens of its own.

stdin: {"prompts": [[token]], "labels": [token]} a line; stdout: {"totalMs", "logits": [[number]]}.
usage: relevance_vllm_peer.py MODEL THREADS float32|bfloat16
"""

import json
import os
import sys
import time

from answers import ANSWERS

folder, threads, dtype = sys.argv[1:]
os.environ.update({
    "VLLM_CPU_KVCACHE_SPACE": "2",
    "VLLM_CPU_OMP_THREADS_BIND": f"0-{int(threads) - 1}",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "HF_HUB_OFFLINE": "1",
})

from vllm import LLM, SamplingParams  # noqa: E402


def main() -> None:
    llm = LLM(model=folder, skip_tokenizer_init=True, dtype=dtype, max_model_len=4096,
              enable_prefix_caching=True, disable_log_stats=True)
    print("ready", file=ANSWERS, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        labels = asked["labels"]
        how = SamplingParams(max_tokens=1, temperature=0, detokenize=False,
                             logprob_token_ids=labels)
        prompts = [{"prompt_token_ids": prompt} for prompt in asked["prompts"]]
        start = time.perf_counter()
        outputs = llm.generate(prompts, how, use_tqdm=False)
        total = time.perf_counter() - start
        logits = [[out.outputs[0].logprobs[0][label].logprob for label in labels]
                  for out in outputs]
        answer = {"totalMs": 1000 * total, "logits": logits}
        print(json.dumps(answer), file=ANSWERS, flush=True)


main()
