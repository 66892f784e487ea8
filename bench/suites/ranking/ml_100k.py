"""MovieLens 100K as exposures: rated is shown, four stars and more are liked.

usage: ml_100k.py DATA OUT: DATA has RecBole's ml-100k.inter.gz and ml-100k.item.gz. OUT gets the
behaviours of the first 70 % of time for a base (`sequences.jsonl`), vectors of items made of them
(`items.npy`), `items.tsv`, and of all users `histories.jsonl` and `exposures.tsv`.
ml_100k.py years CATALOGUE: the years of its items become numbers.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy

TRAINED_SHARE = 0.7
TASTES = 32  # numbers of an item by who has seen it, and by who has liked it
LIKED = 4


def lines(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt") as file:
        return [line.split("\t") for line in file.read().splitlines()[1:]]


def tastes(of: numpy.ndarray) -> numpy.ndarray:
    scaled = of / numpy.sqrt(1 + numpy.abs(of).sum(1, keepdims=True))
    left, sizes, _ = numpy.linalg.svd(scaled, full_matrices=False)
    return 4 * left[:, :TASTES] * sizes[:TASTES]


def vectors(items: list[list[str]], ratings: list[tuple], until: int) -> numpy.ndarray:
    places = {item[0]: place for place, item in enumerate(items)}
    users = {user: place for place, user in enumerate(sorted({row[0] for row in ratings}, key=int))}
    seen = numpy.zeros((len(items), len(users)))
    liked = numpy.zeros_like(seen)
    for user, item, stars, time in ratings:
        if time < until:
            seen[places[item], users[user]] = 1
            liked[places[item], users[user]] = stars - LIKED + 0.5
    genres = sorted({genre for item in items for genre in item[3].split()})
    of_genres = numpy.array([[genre in item[3].split() for genre in genres] for item in items])
    years = numpy.array([[float(item[2]) if item[2].isdigit() else 1990] for item in items])
    years = (years - years.mean()) / years.std()
    parts = [tastes(seen), tastes(liked), 0.5 * of_genres, 0.3 * years]
    return numpy.concatenate(parts, 1).astype(numpy.float32)


def history(user: str, rows: list[tuple]) -> str:
    return json.dumps({
        "user": user,
        "history": [item for item, _, _ in rows],
        "times": [time for _, _, time in rows],
        "actions": [f"r{stars}" for _, stars, _ in rows],
    }) + "\n"


def prepare(data: Path, out: Path) -> None:
    rows = lines(data / "ml-100k.inter.gz")
    ratings = [(user, item, int(float(r)), int(float(t))) for user, item, r, t in rows]
    ratings.sort(key=lambda row: row[3])
    items = lines(data / "ml-100k.item.gz")
    until = ratings[int(len(ratings) * TRAINED_SHARE)][3]
    out.mkdir(parents=True, exist_ok=True)
    numpy.save(out / "items.npy", vectors(items, ratings, until))
    table = ["\t".join(item[:4]) for item in [["item", "title", "year", "genres"], *items]]
    (out / "items.tsv").write_text("\n".join(table) + "\n")
    by_user: dict[str, list[tuple]] = {}
    for user, item, stars, time in ratings:
        by_user.setdefault(user, []).append((item, stars, time))
    before = {user: [row for row in own if row[2] < until] for user, own in by_user.items()}
    trained = [history(user, own) for user, own in before.items() if len(own) > 1]
    (out / "sequences.jsonl").write_text("".join(trained))
    (out / "histories.jsonl").write_text("".join(map(history, by_user, by_user.values())))
    first = {user: own[0][2] for user, own in by_user.items()}
    shown = [f"{u}\t{t}\t{i}\t{int(r >= LIKED)}" for u, i, r, t in ratings if t > first[u]]
    (out / "exposures.tsv").write_text("\n".join(["user\ttime\titem\tlike", *shown]) + "\n")


def years(catalogue: Path) -> None:
    items = [json.loads(line) for line in catalogue.read_text().splitlines()]
    for item in items:
        year = item.get("attributes", {}).get("year", "")
        if str(year).isdigit():
            item["attributes"]["year"] = int(year)
    catalogue.write_text("".join(json.dumps(item) + "\n" for item in items))


if sys.argv[1] == "years":
    years(Path(sys.argv[2]))
else:
    prepare(Path(sys.argv[1]), Path(sys.argv[2]))
