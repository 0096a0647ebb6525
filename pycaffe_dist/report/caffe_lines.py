"""Training as Caffe logs it, line by line."""

from __future__ import annotations

from pycaffe_dist import caffe_log as log
from pycaffe_dist import events as e


class CaffeLines:
    """Subscriber that turns events into the lines of Caffe's log."""

    def __call__(self, event: e.Event) -> None:
        write = getattr(self, f"on_{type(event).__name__}", None)
        if write is not None:
            write(event)

    def on_SolveBegins(self, event: e.SolveBegins) -> None:
        log.info("solver.cpp:289", "Solving %s", event.net_name)
        log.info("solver.cpp:290", "Learning Rate Policy: %s", event.policy)

    def on_Displayed(self, event: e.Displayed) -> None:
        log.info(
            "solver.cpp:239",
            "Iteration %d (%g iter/s, %gs/%d iters), loss = %g",
            event.iteration,
            event.per_second,
            event.seconds,
            event.display,
            event.loss,
        )
        self._outputs("solver.cpp:258", "Train", event.outputs)

    def on_RateChosen(self, event: e.RateChosen) -> None:
        log.info("sgd_solver.cpp:112", "Iteration %d, lr = %g", event.iteration, event.rate)

    def on_StepPassed(self, event: e.StepPassed) -> None:
        policy = {"multistep": "MultiStep", "plateau": "Plateau"}[event.policy]
        text = f"{policy} Status: Iteration %d, step = %d"
        log.info("sgd_solver.cpp:54", text, event.iteration, event.step)

    def on_Clipped(self, event: e.Clipped) -> None:
        log.info(
            "sgd_solver.cpp:96",
            "Gradient clipping: scaling down gradients (L2 norm %g > %g) by scale factor %g",
            event.norm,
            event.limit,
            event.scale,
        )

    def on_TestBegins(self, event: e.TestBegins) -> None:
        log.info("solver.cpp:347", "Iteration %d, Testing net (#%d)", event.iteration, event.net)

    def on_Tested(self, event: e.Tested) -> None:
        if event.loss is not None:
            log.info("solver.cpp:403", "Test loss: %g", event.loss)
        self._outputs("solver.cpp:414", "Test", event.outputs)

    def on_TestInterrupted(self, event: e.TestInterrupted) -> None:
        log.info("solver.cpp:398", "Test interrupted.")

    def on_Snapshotting(self, event: e.Snapshotting) -> None:
        if event.what == "weights":
            log.info("solver.cpp:464", "Snapshotting to %s file %s", event.format, event.path)
        elif event.what == "state":
            text = "Snapshotting solver state to %s file %s"
            log.info("sgd_solver.cpp:284", text, event.format, event.path)

    def on_LastLoss(self, event: e.LastLoss) -> None:
        log.info("solver.cpp:327", "Iteration %d, loss = %g", event.iteration, event.loss)

    def on_SolveEnds(self, event: e.SolveEnds) -> None:
        if event.early:
            log.info("solver.cpp:317", "Optimization stopped early.")
        else:
            log.info("solver.cpp:332", "Optimization Done.")

    def _outputs(self, place: str, which: str, outputs: list[e.Output]) -> None:
        for output in outputs:
            log.info(place, "    %s net output #%d: %s", which, output.index, with_loss(output))


def with_loss(output: e.Output) -> str:
    """``name = value`` and, where it counts as a loss, its weight and what it adds."""
    text = f"{output.name} = {output.value:g}"
    if output.loss_weight:
        weighted = output.loss_weight * output.value
        text += f" (* {output.loss_weight:g} = {weighted:g} loss)"
    return text
