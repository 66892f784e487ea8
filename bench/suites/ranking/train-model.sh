#!/bin/sh
# What the ranking suite's shop takes as --models: a base trained on MovieLens 100K for at most
# MINUTES on one thread, heads on it, and the exposures of the last fifth of time. Prints the
# figures of heads and baselines.
#
#   sh bench/suites/ranking/train-model.sh DATA OUT PYTHON [MINUTES]
#
# DATA has RecBole's ml-100k files. PYTHON has trainer/requirements.txt.
set -eu
DATA=$1 OUT=$2 PYTHON=$3 MINUTES=${4:-12}
export OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0 OMP_NUM_THREADS=1
PREPARE=bench/suites/ranking/ml_100k.py

"$PYTHON" "$PREPARE" "$DATA" "$OUT"
cat > "$OUT/prompt.json" <<'JSON'
{
  "version": 1,
  "name": "ml-100k",
  "levels": ["<a_{code}>", "<b_{code}>"],
  "item": { "prefix": "", "suffix": "" },
  "answer": { "prefix": "", "terminal": [] },
  "segments": [
    { "text": "<|bos|>" },
    {
      "slot": "history",
      "separator": "",
      "maxItems": 40,
      "actionTexts": {
        "r1": "<|r1|>", "r2": "<|r2|>", "r3": "<|r3|>", "r4": "<|r4|>", "r5": "<|r5|>"
      }
    }
  ],
  "maxPromptTokens": 121
}
JSON
"$PYTHON" -m trainer sids --items "$OUT/items.tsv" --embeddings "$OUT/items.npy" \
  --out "$OUT/sids" --levels 2 --codes 64
"$PYTHON" -m trainer train --sequences "$OUT/sequences.jsonl" --index "$OUT/sids/index.json" \
  --codebooks "$OUT/sids" --items "$OUT/items.tsv" --prompt "$OUT/prompt.json" \
  --answers r4 r5 --out "$OUT/model" --layers 2 --hidden 64 --heads 4 --kv-heads 2 \
  --head-dim 16 --intermediate 160 --minutes "$MINUTES" --epochs 30 --batch-size 64 --lr 2e-3 \
  --dropout 0.2 --split time --split-share 0.04 --validate-every 4 --validate-users 300 \
  --test-users 300 --patience 9 --threads 1
"$PYTHON" "$PREPARE" years "$OUT/model/catalogue.jsonl"
"$PYTHON" -m trainer rank --model "$OUT/model" --exposures "$OUT/exposures.tsv" \
  --histories "$OUT/histories.jsonl" --attributes year --rates "$OUT/catalogue.jsonl" \
  --test-out "$OUT/test.tsv" --split 0.7 0.8 --out "$OUT/version"
mv "$OUT/catalogue.jsonl" "$OUT/model/catalogue.jsonl"
mv "$OUT/test.tsv" "$OUT/exposures.tsv"
