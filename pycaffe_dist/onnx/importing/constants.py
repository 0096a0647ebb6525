"""Operators that read constants only are computed beforehand.

A file may ask for anything: so they are operators that move values or change them one by one, on
amounts that follow from what the file holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError

_MOVING = "Cast Constant Flatten Identity Reshape Split Squeeze Transpose Unsqueeze"
_PLAIN = """Abs Add And Ceil Clip Concat Cos Div Equal Erf Exp Floor Gather Greater GreaterOrEqual
    Less LessOrEqual Log MatMul Max Mean Min Mod Mul Neg Not Or Pow Reciprocal ReduceL1 ReduceL2
    ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Round Shape Sigmoid
    Sign Sin Size Slice Sqrt Sub Sum Tanh Where Xor"""
_SLOW = "CumSum GatherElements GatherND NonZero ScatterElements ScatterND Trilu"
MOVING = frozenset(_MOVING.split())  # these make no more than they are given
PLAIN = MOVING.union(_PLAIN.split())
GROWING = frozenset(("ConstantOfShape", "Expand", "Pad", "Range", "Tile"))
SLOW = frozenset(_SLOW.split())
MOST_VALUES = 1 << 24  # of a constant that is computed here: weights are not
MOST_GIVEN = {PLAIN: 1 << 26, GROWING: 1 << 26, SLOW: 1 << 16}  # bytes that each kind may read
SMALL = 1 << 12  # bytes of which nothing large can be made, whatever is made of them
ROOM = 1 << 28  # bytes of all constants that are computed, besides what the file holds


class Computing:
    """Computes operators on constants.

    Args:
        path: of the model, for messages.
        opsets: the versions of the operators.
        given: bytes of the model's own constants.
    """

    def __init__(self, path: str, opsets: list[onnx.OperatorSetIdProto], given: int) -> None:
        self.path, self.opsets = path, opsets
        self._room = ROOM + 3 * given

    def outputs(
        self,
        node: onnx.NodeProto,
        constants: Mapping[str, Array],
        shapes: Mapping[str, tuple[int, ...]],
    ) -> dict[str, Array] | None:
        """The values that a node makes of constants; None if their size is not known yet.

        Raises:
            FileError: it is an operator that is not computed here, or its values are too many.
        """
        used = sum(constants[name].nbytes for name in node.input if name)
        wanted = shapes.get(node.output[0])
        if not self._is_allowed(node, used, wanted):
            return None
        if node.op_type == "MatMul" and wanted is not None:  # sums of products take time
            self._take(prod(wanted) * prod(constants[node.input[0]].shape[-1:]))
        try:
            made = self._run(node, constants)
        except Exception as e:  # the library raises what it likes
            words = (str(e).strip().splitlines() or [type(e).__name__])[0]
            raise self._error(node, f"cannot be computed beforehand: {words}") from e
        self._take(sum(values.nbytes for values in made.values()))
        return made

    def _take(self, room: int) -> None:
        self._room -= room
        if self._room < 0:
            raise FileError(f"{self.path}: more is computed from constants than the file holds")

    def _is_allowed(self, node: onnx.NodeProto, used: int, wanted: tuple[int, ...] | None) -> bool:
        kinds = next((k for k in (PLAIN, GROWING, SLOW) if node.op_type in k), None)
        if kinds is None or node.domain not in ("", "ai.onnx"):
            raise self._error(node, "reads constants only, and is not computed beforehand")
        if node.op_type in MOVING:
            return True
        if used > MOST_GIVEN[kinds] or (wanted and prod(wanted) > MOST_VALUES):
            raise self._error(node, "is computed from too many constants")
        return wanted is not None or (used <= SMALL and kinds is not GROWING)

    def _run(self, node: onnx.NodeProto, constants: Mapping[str, Array]) -> dict[str, Array]:
        names = [name for name in node.output if name]
        if node.op_type == "Identity":
            return {names[0]: constants[node.input[0]]}
        infos = [onnx.helper.make_empty_tensor_value_info(name) for name in names]
        given = [n for n in dict.fromkeys(node.input) if n]
        if node.op_type == "Cast":  # by NumPy, as the evaluator makes copies of large arrays
            to = onnx.helper.get_node_attr_value(node, "to")
            return {names[0]: constants[given[0]].astype(onnx.helper.tensor_dtype_to_np_dtype(to))}
        tensors = [numpy_helper.from_array(constants[name], name) for name in given]
        graph = onnx.helper.make_graph([node], "constant", [], infos, tensors)
        model = onnx.helper.make_model(graph, opset_imports=self.opsets)
        made = ReferenceEvaluator(model).run(None, {})
        return dict(zip(names, map(np.asarray, made), strict=True))

    def _error(self, node: onnx.NodeProto, words: str) -> FileError:
        name = node.name or node.output[0]
        return FileError(f'{self.path}: the operator "{name}" ({node.op_type}) {words}')
