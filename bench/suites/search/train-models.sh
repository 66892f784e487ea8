#!/bin/sh
# The models of the search suite, each trained for at most MINUTES on one thread, into OUT/steam,
# OUT/beauty, OUT/industrial and OUT/ml-100k: a model folder, and the sequences whose last item
# nobody has trained on. OUT/flat is Steam's after three batches.
#
#   sh bench/suites/search/train-models.sh DATA OUT PYTHON ENCODER [MINUTES] [NAME...]
#
# DATA has genrec-timestamped (Tiny-Snow/GenRec-Datasets: steam_100000 as TSV), amazon-beauty
# (NonameUntitled/tiger: events, items and the index of its RQ-VAE), minionerec
# (AkaliKong/MiniOneRec: Industrial_and_Scientific) and ml-100k (RecBole's files). PYTHON has
# trainer/requirements.txt. ENCODER is a folder of all-MiniLM-L6-v2.
#
# Commands and settings are those of `npm run quickstart` (tools/quickstart/steps.ts), but for an
# index that is given where there is one, and for products in F32: BF16 is slow on processors
# without instructions for it.
set -eu
DATA=$1 OUT=$2 PYTHON=$3 ENCODER=$4 MINUTES=${5:-12}
[ $# -gt 5 ] && shift 5 || set -- steam flat beauty industrial ml_100k
export OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0 OMP_NUM_THREADS=1
TRAINING='--layers 3 --hidden 128 --heads 4 --kv-heads 2 --head-dim 32 --intermediate 384
  --epochs 26 --batch-size 96 --lr 2e-3 --dropout 0.15 --label-smoothing 0.1 --shuffle 3
  --validate-every 3 --validate-users 1000 --patience 4 --no-autocast
  --threads 1 --seed 1 --test-users 1000'

# Mean of the tokens' vectors, of length one: what SentenceTransformers makes of a title.
embed() {
  "$PYTHON" - "$1" "$2" "$ENCODER" <<'PYTHON'
import csv, gzip, sys
import numpy, torch
from transformers import AutoModel, AutoTokenizer

torch.set_num_threads(1)
items, out, folder = sys.argv[1:]
titles = [row["title"] for row in csv.DictReader(
    gzip.open(items, "rt", newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)]
tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
vectors = []
with torch.inference_mode():
    for begin in range(0, len(titles), 64):
        batch = tokenizer(titles[begin:begin + 64], padding=True, truncation=True, max_length=128,
                          return_tensors="pt")
        mask = batch["attention_mask"].unsqueeze(-1)
        sums = (model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)
        vectors.append(torch.nn.functional.normalize(sums).numpy())
numpy.save(out, numpy.concatenate(vectors).astype("float32"))
PYTHON
}

# quickstart FOLDER ITEMS BEHAVIOURS [words for sids]
quickstart() {
  folder=$1 items=$2 behaviours=$3
  shift 3
  "$PYTHON" -m trainer sequences --behaviours "$behaviours" --items "$items" \
    --out "$folder/sequences.jsonl"
  "$PYTHON" -m trainer sids --items "$items" "$@" --out "$folder/sids" --threads 1 --seed 1
  "$PYTHON" -m trainer train --sequences "$folder/sequences.jsonl" \
    --index "$folder/sids/index.json" --codebooks "$folder/sids" --items "$items" \
    --out "$folder/model" $TRAINING --minutes "$MINUTES"
}

steam() {
  mkdir -p "$OUT/steam"
  titles=$DATA/genrec-timestamped/steam_100000.titles.tsv.gz
  [ -f "$OUT/steam/titles.npy" ] || embed "$titles" "$OUT/steam/titles.npy"
  quickstart "$OUT/steam" "$titles" "$DATA/genrec-timestamped/steam_100000.events.tsv.gz" \
    --embeddings "$OUT/steam/titles.npy"
}

flat() {
  mkdir -p "$OUT/flat"
  head -n 288 "$OUT/steam/sequences.jsonl" > "$OUT/flat/sequences.jsonl"
  "$PYTHON" -m trainer train --sequences "$OUT/flat/sequences.jsonl" --out "$OUT/flat/model" \
    --index "$OUT/steam/sids/index.json" --codebooks "$OUT/steam/sids" \
    --items "$DATA/genrec-timestamped/steam_100000.titles.tsv.gz" $TRAINING --epochs 1
}

beauty() {
  mkdir -p "$OUT/beauty"
  set -- "$DATA/amazon-beauty/items.tsv.gz" "$OUT/beauty/sequences.jsonl"
  "$PYTHON" -m trainer sequences --items "$1" --out "$2" \
    --behaviours "$DATA/amazon-beauty/events_train_valid.tsv.gz"
  "$PYTHON" -m trainer train --sequences "$2" --index "$DATA/amazon-beauty/index_rqvae.json" \
    --items "$1" --out "$OUT/beauty/model" $TRAINING --minutes "$MINUTES"
}

industrial() {
  mkdir -p "$OUT/industrial"
  set -- "$DATA/minionerec" "$OUT/industrial/sequences.jsonl"
  "$PYTHON" - "$1" "$2" <<'PYTHON'
import json, sys

folder, out = sys.argv[1:]
longest = {}
for kind in ("recovered_train_histories", "valid"):
    for line in open(f"{folder}/Industrial_and_Scientific.{kind}.jsonl"):
        row = json.loads(line)
        items = row["history"] + ([row["target"]] if "target" in row else [])
        if len(items) > len(longest.get(row["user"], ())):
            longest[row["user"]] = items
with open(out, "w") as file:
    for user, items in longest.items():
        file.write(json.dumps({"user": user, "history": items}) + "\n")
PYTHON
  "$PYTHON" -m trainer train --sequences "$2" --out "$OUT/industrial/model" \
    --index "$1/raw/Industrial_and_Scientific.index.json" \
    --items "$1/raw/Industrial_and_Scientific.item.json.gz" $TRAINING --minutes "$MINUTES"
}

ml_100k() {
  mkdir -p "$OUT/ml-100k"
  header='1{s/_id//g;s/:[a-z_]*//g;s/stamp//;s/movie_//}'
  for kind in inter item; do
    gunzip -c "$DATA/ml-100k/ml-100k.$kind.gz" | sed "$header" > "$OUT/ml-100k/$kind.tsv"
  done
  quickstart "$OUT/ml-100k" "$OUT/ml-100k/item.tsv" "$OUT/ml-100k/inter.tsv"
}

for name in "$@"; do "$name"; done
