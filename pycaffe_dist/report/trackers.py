"""Training told to Weights & Biases or MLflow, by the same events as everything else.

Both work without a network: WANDB_MODE=offline, and MLflow's files unless MLFLOW_TRACKING_URI says
otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pycaffe_dist import events as e
from pycaffe_dist.files import make_folder
from pycaffe_dist.optional import require
from pycaffe_dist.report.metrics import by_name


class Tracker:
    """Subscriber that logs losses, rates and scores with their iteration, until it is closed."""

    def __call__(self, event: e.Event) -> None:
        if isinstance(event, e.Displayed):
            outputs = by_name((f"train/output/{o.name}", o.value) for o in event.outputs)
            self.log({"train/loss": event.loss, **outputs}, event.iteration)
        elif isinstance(event, e.RateChosen):
            self.log({"train/lr": event.rate}, event.iteration)
        elif isinstance(event, e.Tested):
            outputs = by_name((f"test{event.net}/{o.name}", o.value) for o in event.outputs)
            self.log(outputs, event.iteration)

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(failed=kind is not None)

    def log(self, values: Mapping[str, float], iteration: int) -> None:
        raise NotImplementedError

    def close(self, failed: bool) -> None:
        raise NotImplementedError


class WandB(Tracker):
    """A run of Weights & Biases; the project is WANDB_PROJECT, or else pycaffe_dist."""

    def __init__(self, folder: str, settings: dict[str, str]) -> None:
        wandb = require("wandb", "track", "--report wandb")
        make_folder(folder)
        project = os.environ.get("WANDB_PROJECT", "pycaffe_dist")
        self.run = wandb.init(project=project, name=Path(folder).name, dir=folder, config=settings)

    def log(self, values: Mapping[str, float], iteration: int) -> None:
        self.run.log(dict(values), step=iteration)

    def close(self, failed: bool) -> None:
        self.run.finish(exit_code=int(failed))


class MLflow(Tracker):
    """A run of MLflow, in the folder ``mlruns`` of the run unless MLFLOW_TRACKING_URI is set."""

    def __init__(self, folder: str, settings: dict[str, str]) -> None:
        self.mlflow = require("mlflow", "track", "--report mlflow")
        if "MLFLOW_TRACKING_URI" not in os.environ:
            make_folder(folder)
            # Newer versions want a database for that, which mlflow-skinny does not bring.
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
            self.mlflow.set_tracking_uri(Path(folder, "mlruns").absolute().as_uri())
        self.mlflow.start_run(run_name=Path(folder).name)
        self.mlflow.log_params({name: value[:500] for name, value in settings.items()})

    def log(self, values: Mapping[str, float], iteration: int) -> None:
        # Its names have no brackets, which further elements of an output have.
        named = {name.replace("[", ".").replace("]", ""): value for name, value in values.items()}
        self.mlflow.log_metrics(named, step=iteration)

    def close(self, failed: bool) -> None:
        self.mlflow.end_run("FAILED" if failed else "FINISHED")


TRACKERS: dict[str, type[WandB] | type[MLflow]] = {"wandb": WandB, "mlflow": MLflow}
