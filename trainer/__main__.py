"""Command line: `python -m trainer COMMAND --help`."""

import argparse
import importlib
import sys
from collections.abc import Callable

from .errors import InputError
from .flags import amount as _amount
from .flags import balance as _balance
from .flags import count as _count
from .flags import part as _part
from .flags import seed as _seed
from .flags import share as _share

try:
    from tessera_client.commands import add_connection_flags, add_push
except ModuleNotFoundError as absent:
    # One line, as _run_of has for the packages of the other commands.
    sys.exit(f"error: {absent.name}: expected what trainer/requirements.txt installs, got no such "
             "module")
from .follow.flags import add_follow, add_refresh
from .semantic_ids.settings import METHODS, QuantiserPlan
from .settings import DTYPES, FAMILIES, SPLITS, Plan, Shape
from .tiger.flags import add_import


def _run_of(module: str) -> Callable[[argparse.Namespace], int | None]:
    """`run` of a module, imported when it is called: a push needs no PyTorch."""
    def run(args: argparse.Namespace) -> int | None:
        try:
            imported = importlib.import_module(f".{module}", __package__)
        except ModuleNotFoundError as error:
            raise InputError(str(error.name), "what trainer/requirements.txt installs",
                             "no such module") from error
        return imported.run(args)

    return run


def _add_train(commands) -> None:
    parser = commands.add_parser("train", help="sequences and an index -> a model folder",
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--sequences", required=True, help="FILE.json[.gz] or .jsonl[.gz]")
    parser.add_argument("--index", required=True, help="FILE.json[.gz]: item -> codes or tokens")
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--from", dest="start_from",
                        help="folder of a Hugging Face checkpoint to go on from, its vocabulary "
                             "extended by the codes (left out: a model from scratch)")
    parser.add_argument("--codebooks", help="folder of `sids`: served with the model, so that new "
                        "items come with a text or vector; all of its codes get tokens")
    parser.add_argument("--items", help="titles: FILE.tsv[.gz] or FILE.json[.gz]")
    shape, plan = Shape(), Plan()
    parser.add_argument("--family", choices=FAMILIES, default=shape.family, help="of a model from "
                        "scratch; qwen3_5: three of four layers are gated delta nets; t5: an "
                        "encoder-decoder, whose layers are those of each")
    for name in ("layers", "hidden", "heads", "kv_heads", "head_dim", "intermediate"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=_count,
                            default=getattr(shape, name))
    for name in ("epochs", "batch_size", "validate_every", "patience"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=_count,
                            default=getattr(plan, name))
    for name in ("lr", "weight_decay", "minutes"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=_amount,
                            default=getattr(plan, name))
    for name in ("warmup", "decay"):
        parser.add_argument(f"--{name}", type=_share, default=getattr(plan, name))
    parser.add_argument("--label-smoothing", type=_part, default=plan.label_smoothing)
    parser.add_argument("--dropout", type=_part, default=0.2)
    parser.add_argument("--drop-items", type=_part, default=0.0,
                        help="chance that a training row leaves an item out")
    parser.add_argument("--shuffle", type=_amount, default=0.0,
                        help="places that an item may wander in a shuffled row")
    parser.add_argument("--shuffled-share", type=_share, default=0.5)
    parser.add_argument("--prompt", help="prompt.json to train by and to serve (left out: that of "
                        "--from, else <|bos|> and the newest --max-items)")
    parser.add_argument("--max-items", type=_count, help="items that a prompt shows, where no "
                        "template says so (left out: the users' median, in 20 to 100)")
    parser.add_argument("--answers", nargs="+", metavar="ACTION", help="actions of the behaviours "
                        "that the model is to answer with (left out: all)")
    parser.add_argument("--seed", type=_seed, default=plan.seed)
    parser.add_argument("--threads", type=_count, default=2)
    parser.add_argument("--device", default="cpu",
                        help="of PyTorch: cpu, cuda (with torchrun a card each), cuda:1, ...")
    parser.add_argument("--validate-users", type=_count, default=2000)
    parser.add_argument("--validate-beam", type=_count, default=20)
    parser.add_argument("--beam", type=_count, default=50, help="width of the final measurement")
    parser.add_argument("--test-users", type=int, default=0, help="cases of the test (0: all)")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    parser.add_argument("--split", choices=SPLITS, default=SPLITS[0],
                        help="test and validation: a user's last two items, or the newest shares")
    parser.add_argument("--split-share", type=_part, default=0.05,
                        help="of the behaviours, each for test and validation by time")
    parser.add_argument("--tie-embeddings", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--autocast", action=argparse.BooleanOptionalAction, default=None,
                        help="BF16 products in training (left out: where processor or card has "
                        "them)")
    parser.set_defaults(run=_run_of("train"))


def _add_fixtures(commands) -> None:
    parser = commands.add_parser("fixtures", help="random checkpoints with recorded answers")
    parser.add_argument("--out", default="test/fixtures/parity")
    parser.add_argument("--family", help="only this one")
    parser.set_defaults(run=_run_of("fixtures"))


def _add_adapter_fixtures(commands) -> None:
    parser = commands.add_parser("adapter-fixtures", help="random adapters with recorded logits")
    parser.add_argument("--models", default="test/fixtures/parity")
    parser.add_argument("--out", default="test/fixtures/adapters")
    parser.add_argument("--name", help="only this one")
    parser.set_defaults(run=_run_of("adapter_fixtures"))


def _add_cross_encoder_fixtures(commands) -> None:
    parser = commands.add_parser("cross-encoder-fixtures",
                                 help="random classifiers of pairs with recorded scores")
    parser.add_argument("--out", default="test/fixtures/cross-encoders")
    parser.set_defaults(run=_run_of("cross_encoder_fixtures"))


def _add_ranking_fixtures(commands) -> None:
    parser = commands.add_parser("ranking-fixtures",
                                 help="random heads and adapters with recorded answers")
    parser.add_argument("--models", default="test/fixtures/parity")
    parser.add_argument("--out", default="test/fixtures/ranking")
    parser.set_defaults(run=_run_of("ranking_fixtures"))


def _add_relevance_fixtures(commands) -> None:
    parser = commands.add_parser("relevance-fixtures",
                                 help="a random model that judges texts, with recorded scores")
    parser.add_argument("--out", default="test/fixtures/relevance")
    parser.set_defaults(run=_run_of("relevance_fixtures"))


def _add_prompt_fixtures(commands) -> None:
    parser = commands.add_parser("prompt-fixtures", help="prompts of random users by templates")
    parser.add_argument("--out", default="test/fixtures/prompts")
    parser.set_defaults(run=_run_of("prompt_fixtures"))


def _add_encoder_fixtures(commands) -> None:
    parser = commands.add_parser("encoder-fixtures", help="random encoders with recorded vectors")
    parser.add_argument("--out", default="test/fixtures/encoders")
    parser.add_argument("--fixture", help="only this one")
    parser.set_defaults(run=_run_of("encoder_fixtures"))


def _add_encoder_parity(commands) -> None:
    parser = commands.add_parser("encoder-parity",
                                 help="npm run embed against SentenceTransformers")
    parser.add_argument("--model", required=True)
    parser.add_argument("--texts", type=_count, default=300)
    parser.add_argument("--record", help="folder to write texts and SentenceTransformers' vectors "
                        "to, instead of comparing them")
    parser.add_argument("--dtype", choices=("f32", "bf16", "w8a8", "w8a8-static"), default="f32")
    parser.add_argument("--seed", type=_seed, default=7)
    parser.set_defaults(run=_run_of("encoder_parity"))


def _add_demo(commands) -> None:
    parser = commands.add_parser("demo", help="generated ads and users -> models/demo")
    parser.add_argument("--out", default="models/demo")
    parser.add_argument("--epochs", type=_count, default=8)
    parser.add_argument("--seed", type=_seed, default=7)
    parser.add_argument("--threads", type=_count, default=2)
    parser.add_argument("--heads-only", action=argparse.BooleanOptionalAction, default=False,
                        help="of the model that --out has")
    parser.set_defaults(run=_run_of("demo"))


def _add_parity(commands) -> None:
    parser = commands.add_parser("parity", help="lists by transformers, and their comparison",
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", required=True, help="folder with prompt.json and tokenizer")
    parser.add_argument("--catalogue", required=True, help="catalogue.jsonl or an index file")
    parser.add_argument("--prompts", help="FILE.json: lists of token ids")
    parser.add_argument("--sequences", help="take the histories of the first --users of it")
    parser.add_argument("--users", type=_count, default=500)
    parser.add_argument("--hold-out-last", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument("--beam", type=_count, default=50)
    parser.add_argument("--terminal-tokens", default="", help="token ids that end each path")
    parser.add_argument("--dtype", choices=["f64", "f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=_count, default=2)
    parser.add_argument("--out", required=True, help="FILE.json of the lists")
    parser.add_argument("--prompts-out", help="FILE.json: the prompts alone, for an engine")
    parser.add_argument("--compare", help="FILE.json: per prompt a list of {sid, score, items}")
    parser.set_defaults(run=_run_of("parity"))


def _add_finetune(commands) -> None:
    parser = commands.add_parser("finetune", help="new behaviours -> a PEFT folder",
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the model that is served")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--behaviours", help="FILE.jsonl[.gz] of {user_id, item_id, "
                        "time_ms, action, scene}")
    parser.add_argument("--profiles", help="beside --behaviours: users' profiles, as for sequences")
    source.add_argument("--address", help="HOST:PORT of a service, asked for --users")
    parser.add_argument("--users", help="FILE of user ids, for --address")
    add_connection_flags(parser)
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--hours", type=_amount, default=1.0, help="behaviours to learn from")
    parser.add_argument("--from", dest="start_from", metavar="FOLDER", help="of an adapter whose "
                        "factors go on (left out: new ones of --rank)")
    parser.add_argument("--validate", type=_part, default=0.1, help="share of the users that are "
                        "not trained on, but weighed")
    parser.add_argument("--gate", action=argparse.BooleanOptionalAction, default=True,
                        help="writes nothing where these are answered worse than before")
    parser.add_argument("--rank", type=_count, default=8)
    parser.add_argument("--epochs", type=_count, default=4)
    parser.add_argument("--batch-size", type=_count, default=64)
    parser.add_argument("--lr", type=_amount, default=2e-3)
    parser.add_argument("--seed", type=_seed, default=1)
    parser.add_argument("--threads", type=_count, default=2)
    parser.set_defaults(run=_run_of("finetune"))


def _add_rank(commands) -> None:
    parser = commands.add_parser("rank", help="exposures with outcomes -> heads to push",
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the model that is served")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--exposures", help="FILE.tsv[.gz]: user, time, item, a column for each "
                        "head, maybe weight and propensity")
    source.add_argument("--facts", help="folder `facts` of a service: impressions and outcomes")
    parser.add_argument("--histories", help="FILE.jsonl beside --exposures, as for train")
    parser.add_argument("--heads", nargs="+", default=[], metavar="NAME[=ACTION,..]",
                        help="beside --facts: actions that are an outcome")
    parser.add_argument("--impression", default="impression", help="action of --facts")
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--name", default="ranking", help="in ranking.json")
    parser.add_argument("--item", default="{sid}", help="an item's text behind the prompt")
    parser.add_argument("--max-item-tokens", type=_count, default=32)
    parser.add_argument("--attributes", nargs="+", default=[], metavar="NAME[:FUNCTION]",
                        help="numbers of items beside the state; identity, log or log1p of them")
    parser.add_argument("--rates", help="FILE.jsonl: items' rates, and shares of exposures, become "
                        "attributes, and this the catalogue with them, to serve")
    parser.add_argument("--score", action=argparse.BooleanOptionalAction, default=False,
                        help="heads of outcomes of 0 and 1 correct the recall's score")
    parser.add_argument("--adapter", choices=["activated", "lora"], help="trained with the heads "
                        "(left out: the model is frozen)")
    parser.add_argument("--lora-rank", type=_count, default=8)
    parser.add_argument("--split", type=_share, nargs=2, default=[0.7, 0.8], help="shares by time "
                        "before the calibration slice, and before the test")
    parser.add_argument("--calibration", default="auto",
                        choices=["auto", "platt", "isotonic", "none"], help="auto: the kind that "
                        "lowers the log loss of other users' exposures the most")
    parser.add_argument("--propensity-min", type=_share, default=0.05,
                        help="less counts as this, so that no row weighs more than its inverse")
    parser.add_argument("--head-weights", nargs="+", default=[], metavar="NAME=WEIGHT",
                        help="of heads in the loss (left out: 1)")
    parser.add_argument("--hidden", type=_count, nargs="*", default=[32], help="inner layers")
    parser.add_argument("--hidden-activation", choices=["relu", "gelu", "silu", "tanh"],
                        default="gelu")
    parser.add_argument("--epochs", type=_count, default=30)
    parser.add_argument("--patience", type=_count, default=3)
    parser.add_argument("--lr", type=_amount, default=1e-3)
    parser.add_argument("--dropout", type=_part, default=0.1, help="of inner layers")
    parser.add_argument("--weight-decay", type=_amount, default=0.01)
    parser.add_argument("--seed", type=_seed, default=1)
    parser.add_argument("--threads", type=_count, default=2)
    parser.add_argument("--test-out", help="FILE.tsv: the exposures of the test")
    parser.add_argument("--json", action=argparse.BooleanOptionalAction, default=False)
    parser.set_defaults(run=_run_of("rank"))


def _add_sequences(commands) -> None:
    parser = commands.add_parser("sequences", help="a log of behaviours -> sequences",
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--behaviours", required=True,
                        help="FILE.tsv[.gz] with a header: user, item, time, maybe action")
    parser.add_argument("--out", required=True, help="FILE.jsonl to write")
    parser.add_argument("--items", help="FILE.tsv[.gz] or FILE.json[.gz]: behaviours of items that "
                        "it lacks are left out")
    for name in ("user", "item", "time", "action"):
        parser.add_argument(f"--{name}-column", help="where the header has another name")
    parser.add_argument("--scene-columns", nargs="+", default=[], metavar="COLUMN",
                        help="of the log: what a scene says, under the names of the columns")
    parser.add_argument("--profiles", help="FILE.tsv[.gz]: user and a column for each key; or "
                        "FILE.jsonl[.gz] of {user, profile}")
    parser.add_argument("--least-items", type=_count, default=2, help="of a user who is kept")
    parser.set_defaults(run=_run_of("logs"))


def _add_texts(commands) -> None:
    parser = commands.add_parser("texts", help="the texts of items, as an encoder takes them")
    parser.add_argument("--items", required=True, help="FILE.tsv[.gz] or FILE.json[.gz]")
    parser.add_argument("--columns", nargs="+", default=["title"], help="of --items, their texts")
    parser.add_argument("--out", required=True, help="FILE.json: an array, in the order of --items")
    parser.set_defaults(run=_run_of("semantic_ids.item_texts"))


def _add_sids(commands) -> None:
    parser = commands.add_parser("sids", help="texts or vectors of items -> semantic IDs",
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--items", help="FILE.tsv[.gz] or FILE.json[.gz], as for train: its texts, "
                        "or beside --embeddings the ids of the rows")
    parser.add_argument("--embeddings", help="FILE.npy: (items, dimension)")
    parser.add_argument("--encoder", help="FILE.json that `npm run embed -- --out` wrote beside "
                        "--embeddings: the service makes vectors of new texts by this encoder")
    parser.add_argument("--columns", nargs="+", default=["title"], help="of --items, their texts")
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--method", choices=METHODS, default=METHODS[0])
    plan = QuantiserPlan()
    parser.add_argument("--codes", type=_count, help="of each level (left out: 256, fewer where "
                        "there are fewer than 1,024 items)")
    for name in ("levels", "rounds", "hidden", "latent", "epochs", "batch_size"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=_count,
                            default=getattr(plan, name))
    parser.add_argument("--balance", type=_balance, default=plan.balance,
                        help="times its equal share that a code may have in k-means (0: any)")
    parser.add_argument("--lr", type=_amount, default=plan.lr, help="of rqvae")
    parser.add_argument("--dimension", type=_count, default=128, help="of vectors made of texts")
    parser.add_argument("--capacity", type=_count, default=1, help="items that a SID takes")
    parser.add_argument("--seed", type=_seed, default=plan.seed)
    parser.add_argument("--threads", type=_count, default=2)
    parser.add_argument("--resume", action=argparse.BooleanOptionalAction, default=True)
    parser.set_defaults(run=_run_of("semantic_ids.command"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m trainer")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_train(commands)
    _add_demo(commands)
    _add_fixtures(commands)
    _add_adapter_fixtures(commands)
    _add_relevance_fixtures(commands)
    _add_ranking_fixtures(commands)
    _add_cross_encoder_fixtures(commands)
    _add_prompt_fixtures(commands)
    _add_encoder_fixtures(commands)
    _add_encoder_parity(commands)
    _add_parity(commands)
    _add_finetune(commands)
    add_follow(commands, _run_of("follow.command"))
    add_refresh(commands, _run_of("follow.refresh"))
    _add_rank(commands)
    _add_sequences(commands)
    _add_texts(commands)
    _add_sids(commands)
    add_import(commands, _run_of("tiger.command"))
    add_push(commands)
    args = parser.parse_args()
    try:
        return args.run(args) or 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = error.filename or getattr(args, "out", args.command)
        said = InputError(str(where), "what can be read and written, with room",
                          error.strerror or str(error))
        print(f"error: {said}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command resumes", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
