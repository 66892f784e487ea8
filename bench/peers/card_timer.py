"""Times of work on a card, or on the processor where it is tested."""

import statistics
import time

import torch

WARM_UP = 3


class Timer:
    """Microseconds, median of the rounds: a card's own events, else the host's clock."""

    def __init__(self, device: str, rounds: int) -> None:
        self.is_card, self.rounds = device == "cuda", rounds

    def median(self, work) -> float:
        times = [self.once(work) for _ in range(WARM_UP + self.rounds)]
        return statistics.median(times[WARM_UP:])

    def once(self, work) -> float:
        if not self.is_card:
            start = time.perf_counter()
            work()
            return 1e6 * (time.perf_counter() - start)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        return 1e3 * begin.elapsed_time(end)

    def chain(self, work, calls: int) -> float:
        """Time of one of so many calls that differ; a card gets all of them as one graph."""

        def all_calls() -> None:
            for call in range(calls):
                work(call)

        if not self.is_card:
            return self.median(all_calls) / calls
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                all_calls()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            all_calls()
        return self.median(graph.replay) / calls


def card_name(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else "this machine's processor"
