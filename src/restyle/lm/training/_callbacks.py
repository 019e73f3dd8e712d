"""What a person sees of a training while it runs, and what stops it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from accelerate.utils import broadcast_object_list
from transformers import TrainerCallback, TrainerState

from restyle.progress import progress_bar


def has_converged(state: TrainerState, patience: int) -> bool:
    """Whether the last `patience` evaluations were no better than one before them.

    The evaluations that a checkpoint remembers decide, so that a resumed run stops where an undisturbed one does.
    """
    losses = [entry["eval_loss"] for entry in state.log_history if "eval_loss" in entry]
    return bool(losses) and len(losses) - 1 - int(np.argmin(losses)) >= patience


class Stopping(TrainerCallback):
    """Stops when the dev pairs are no better known than before, or when the time is up."""

    def __init__(self, patience: int, seconds: float | None, out_of_time: Callable[[int], None]) -> None:
        """`seconds` are for all steps, of which a resumed run has a share left; `out_of_time` is told the last step."""
        self._patience, self._seconds, self._out_of_time = patience, seconds, out_of_time
        self._deadline: float | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Set the clock."""
        if self._seconds is not None:
            self._deadline = time.monotonic() + self._seconds * (1 - state.global_step / state.max_steps)

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Stop for the clock: what was learned is evaluated and kept first."""
        if self._deadline is None:
            return
        late = [time.monotonic() > self._deadline]
        broadcast_object_list(late)  # of several processes the first one's clock is right
        if late[0]:
            self._out_of_time(state.global_step)
            control.should_evaluate = control.should_save = control.should_training_stop = True

    def on_evaluate(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Stop for want of progress."""
        if has_converged(state, self._patience):
            control.should_training_stop = True


class Progress(TrainerCallback):
    """A bar with an ETA, and after every evaluation the dev loss and a few sentences as the model now writes them."""

    def __init__(
        self, what: str, shown: bool | None, samples: Sequence[str], write: Callable[[Sequence[str]], list[str]],
        log: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._what, self._shown, self._samples, self._write, self._log = what, shown, samples, write, log
        self._open = ExitStack()
        self._advance: Callable[[int], None] = lambda steps: None

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Draw the bar, from where a resumed run stands; of several processes the first draws one."""
        shown = self._shown if state.is_world_process_zero else False
        bar = progress_bar(self._what, state.max_steps, shown=shown, done=state.global_step)
        self._advance = self._open.enter_context(bar)

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """One step more."""
        self._advance(1)

    def on_evaluate(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Say how good it is, and show it."""
        if not state.is_world_process_zero:
            return
        self._log(f"step {state.global_step}/{state.max_steps}: dev loss {others['metrics']['eval_loss']:.4f}")
        for before, after in zip(self._samples, self._write(self._samples), strict=True):
            self._log(f"    {before}  ->  {after}")

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Take the bar away."""
        self._open.close()
