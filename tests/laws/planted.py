"""Faults for each law of `tests.laws.named`: three places in which a mistake of its class is easily made.

`dev.py laws NAME --planted` plants them one at a time, and the law has to find each. A line of the package that changes
takes its fault along: the text before occurs once in its file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A change of one place of a file under `src/onnxsmith`, and the mistake that it is."""

    path: str
    before: str
    after: str
    reason: str

    @property
    def file(self) -> str:
        """The file from the root of the repository."""
        return f"src/onnxsmith/{self.path}"

    def planted(self, source: str) -> str:
        """The file with the fault. Raises ValueError where its place is not found, or is not the only one."""
        if source.count(self.before) != 1:
            raise ValueError(f"{self.path} has {source.count(self.before)} times {self.before!r}")
        return source.replace(self.before, self.after)


FAULTS: dict[str, tuple[Fault, Fault, Fault]] = {
    "agreement": (
        Fault(
            "graphs/agreement.py",
            "apart > tolerance.allowed(wanted, noise, scale), apart > 0)",
            "apart > tolerance.allowed(wanted, noise, scale), False)",
            "an infinity equals one of the other sign, and NaN any number",
        ),
        Fault(
            "sklearn/verifying.py",
            "far = disagreeing(wanted, found, tolerance, scale=scale)",
            "far = disagreeing(wanted, found, tolerance, scale=max(1.0, scale))",
            "pipelines compare numbers below 1 as if they were 1",
        ),
        Fault(
            "torch/verifying.py",
            "max(self._scales.get(port.name, 0.0), largest_of(other))",
            "max(self._scales.get(port.name, 1e-3), largest_of(other))",
            "exports have a floor below which all numbers are equal",
        ),
    ),
    "aliases": (
        Fault(
            "scripting/staging/tracked_array.py",
            "return is_plain and other_is_plain, why or other_why",
            "return is_plain and other_is_plain, why",
            "an array that one branch alone must not write to is free after both",
        ),
        Fault(
            "scripting/staging/tracked_array.py",
            " or (name in _BY_LAYOUT and not self._is_plain)",
            "",
            "a reshaped array is a view, however its elements lie in memory",
        ),
        Fault(
            "scripting/staging/array_aliases.py",
            "if counts[id(each.owner)] > 1 or state.cell is not None or not owners.is_alone(each):",
            "if counts[id(each.owner)] > 1 or state.cell is not None:",
            "what another variable holds is written to in a loop",
        ),
    ),
    "copying": (
        Fault(
            "graphs/copying.py",
            'return ir.RefAttr(attribute.name, actual.ref_attr_name or "", attribute.type)',
            "return attribute",
            "a reference that a call hands on keeps the name that it has inside",
        ),
        Fault(
            "graphs/copying.py",
            "return ir.AttrGraphs(actual.name, [self.graph(each, values) for each in actual.as_graphs()])",
            "return actual",
            "the graphs of an attribute with several are shared",
        ),
        Fault(
            "graphs/rewriting/copies.py",
            "for named in (*graph.input, *graph.output, *graph.value_info, *graph.initializer, *sparse):",
            "for named in (*graph.input, *graph.output, *graph.value_info, *sparse):",
            "weights of bodies keep their names, and what reads them does not",
        ),
    ),
    "custom-translations": (
        Fault(
            "torch/custom.py",
            "named: Keywords = {**dict(zip(names, args, strict=False)), **kwargs}",
            "named: Keywords = dict(zip(names, args, strict=False))",
            "arguments by name are dropped",
        ),
        Fault(
            "torch/custom.py",
            "return any(isinstance(each, Value) for each in value)",
            "return True",
            "a list of numbers is taken for an input",
        ),
        Fault(
            "torch/custom.py",
            "placed = dict(zip(names, parameters, strict=False)) if not is_named",
            "placed = dict(zip(names, sorted(parameters), strict=False)) if not is_named",
            "parameters are filled in the order of the alphabet",
        ),
    ),
    "training-gradients": (
        Fault(
            "torch/library/marks.py",
            "op.Where(condition, stopped(x), x)",
            "op.Where(condition, x, stopped(x))",
            "the other elements are constants",
        ),
        Fault(
            "torch/preparing.py",
            "((-2, mean), (-1, variance))",
            "((-1, mean), (-2, variance))",
            "running mean and variance are exchanged",
        ),
        Fault(
            "torch/library/marks.py",
            "return with_formula([new], [old], _unchanged)[0]",
            "return new",
            "what is written while autograd is off goes on with a gradient of its own",
        ),
    ),
    "diff": (
        Fault(
            "diffing/signatures.py",
            'hash(("input", self._depth, name))',
            'hash(("input", name))',
            "inputs of graphs at different depths are taken for each other",
        ),
        Fault(
            "diffing/signatures.py",
            "self._values[value] = hash((self.strong[node], place))",
            "self._values[value] = hash(self.strong[node])",
            "outputs of one node are taken for each other",
        ),
        Fault(
            "diffing/finding.py",
            "for name in dict.fromkeys((*left, *right)):\n            one, other",
            "for name in left:\n            one, other",
            "an attribute that only the second model has is not looked at",
        ),
    ),
    "exact": (
        Fault(
            "graphs/identity.py",
            "or size > most_bytes):",
            "or size > 2 * most_bytes):",
            "weights beyond 4 kB are read",
        ),
        Fault(
            "graphs/identity.py",
            "for each in node.outputs:\n                known[each] = len(known)",
            "for each in node.outputs:\n                known[each] = OUTSIDE",
            "values inside a body are taken for each other",
        ),
        Fault(
            "passes/outlining/labels.py",
            "EXACT.node(node, lambda _: OUTSIDE, EXACT.graph)",
            "EXACT.node(node, lambda _: OUTSIDE)",
            "bodies of repetitions are never the same",
        ),
    ),
    "fingerprint": (
        Fault(
            "graphs/identity.py",
            "return (array.shape, array_key(flat[:: max(1",
            "return (array.size, array_key(flat[:: max(1",
            "shapes are not looked at",
        ),
        Fault(
            "graphs/elements.py",
            'each.decode("utf-8", "surrogateescape") if isinstance(each, bytes) else str(each)',
            "str(each)",
            "text that lies in a file is read as Python writes bytes",
        ),
        Fault(
            "graphs/identity.py",
            "max(1, array.nbytes // _SAMPLED_BYTES)]",
            "max(2, array.nbytes // _SAMPLED_BYTES)]",
            "small weights are sampled, too",
        ),
    ),
    "gradient-structures": (
        Fault(
            "grad/binding.py",
            "return any(is_leaf(each) or _is_container(each, is_leaf) for _, each in inner)",
            "return any(is_leaf(each) for _, each in inner)",
            "a list that holds nothing but containers is not taken apart",
        ),
        Fault(
            "grad/results.py",
            "    if value is None:\n        return None\n    leaves",
            "    leaves",
            "None in a result is taken for a tensor",
        ),
        Fault(
            "grad/binding.py",
            "positions = list(_slots(form))\n",
            "positions = sorted(_slots(form), reverse=True)\n",
            "parts of a container are taken in the reverse order",
        ),
    ),
    "isomorphic": (
        Fault(
            "graphs/identity.py",
            "for name in sorted(held)]) if held else ()",
            "for name in held]) if held else ()",
            "the order of attributes counts",
        ),
        Fault(
            "graphs/identity.py",
            "return (held.doc_string, tuple(sorted(held.metadata_props.items())))",
            "return (held.doc_string,)",
            "metadata does not say a place",
        ),
        Fault(
            "graphs/identity.py",
            "said = tuple([_stored_float(each) for each in value])",
            "said = tuple(value)",
            "0.0 and -0.0 in a list are the same, and NaN is not what it is",
        ),
    ),
    "rebuild": (
        Fault(
            "decompiling/loops.py",
            "for values in (node.inputs[:_FIXED], *read)",
            "for values in read",
            "the head of an inner loop reads a variable that was assigned already",
        ),
        Fault(
            "decompiling/loops.py",
            "    if any(user is not passing for user in uses):\n        return False\n",
            "",
            "a loop whose body reads its condition is written as a statement",
        ),
        Fault(
            "decompiling/loops.py",
            "if result.graph is not body or result in (body.inputs[1], body.outputs[0]):",
            "if result.graph is not body or result is body.inputs[1]:",
            "a loop that carries its condition as a variable, too, is written as a statement",
        ),
    ),
    "reference-kernels": (
        Fault(
            "runtime/reference_trust.py",
            "    if known is None:\n        return False",
            "    if known is None:\n        return True",
            "a version of an operator that is not in the table is trusted",
        ),
        Fault(
            "runtime/reference_trust.py",
            "    is_told = False\n",
            "    is_told = True\n",
            "the warning is taken for one that was given before",
        ),
        Fault(
            "runtime/reference_trust.py",
            "op.inputs[min(position, len(op.inputs) - 1)].type_name",
            "op.inputs[0].type_name",
            "element types of later inputs are looked up as those of the first",
        ),
    ),
    "wrong-kinds": (
        Fault(
            "errors/boundary.py",
            "return found or wrong_kind(_called(function), function, args, kwargs)",
            "return found",
            "arguments of a wrong kind are not looked at after a failure",
        ),
        Fault(
            "errors/wrong_kinds.py",
            "    except Exception:  # an object of any class may raise anything\n        return False\n    return True",
            "    except Exception:  # an object of any class may raise anything\n        return True\n    return True",
            "what is no number counts as one",
        ),
        Fault(
            "errors/wrong_kinds.py",
            'several = cast("tuple[Given, ...]", value)',
            "continue",
            "arguments of a parameter for any number of them are not looked at",
        ),
    ),
    "labels": (
        Fault(
            "sklearn/families/neighbours.py",
            "return _columns(estimator, [argmax(votes, axis=1) for votes in _nearest_votes(estimator, x)])",
            "return _columns(estimator, [argmax(votes[:, 1:], axis=1) for votes in _nearest_votes(estimator, x)])",
            "the first class is left out of the vote",
        ),
        Fault(
            "sklearn/families/ensembles.py",
            'return labels(classes, argmax(call(estimator, "predict_proba", x), axis=1))',
            'return labels(estimator.estimators_[0].classes_, argmax(call(estimator, "predict_proba", x), axis=1))',
            "labels are those of the first member",
        ),
        Fault(
            "sklearn/families/bags.py",
            "return labels(estimator.classes_, argmax(_joint(estimator, x), axis=1))",
            "return labels(estimator.classes_, argmax(exp(_joint(estimator, x)), axis=1))",
            "scores that are too small for a number are compared after they became 0",
        ),
    ),
    "sessions": (
        Fault(
            "runtime/sessions.py",
            "self._bindings = [self._bound(old, 1 - old) for old in range(2)]",
            "self._bindings = [self._bound(old, old) for old in range(2)]",
            "state is written where it is read, and has one set of buffers",
        ),
        Fault(
            "runtime/sessions.py",
            "each.numpy().copy() for name, each in self._arrays_now().items()}",
            "each.numpy() for name, each in self._arrays_now().items()}",
            "the state that is read is memory that later runs write to",
        ),
        Fault(
            "runtime/device_arrays.py",
            "feeds.filled_value(array.numpy() if isinstance(array, OrtArray) else array, dtype)",
            "feeds.value_converter(dtype)(array.numpy() if isinstance(array, OrtArray) else array)",
            "the first state is the memory of the caller's arrays",
        ),
        Fault(
            "runtime/sessions.py",
            "passed = {each.name for each in self._model.inputs} & {each.name for each in self._model.outputs}",
            "passed = set[str]()",
            "outputs that are inputs are read out of buffers that nothing fills",
        ),
    ),
    "letter-case": (
        Fault(
            "runtime/facts/letter_case.py",
            'compared = case or "LOWER"',
            'compared = "LOWER"',
            "stop words are compared in lower case where results are in upper case",
        ),
        Fault(
            "runtime/facts/letter_case.py",
            'is_left = body.op("Greater", half, body.constant(1))',
            'is_left = body.op("Greater", half, body.constant(2))',
            "the loop that joins pieces ends one iteration early",
        ),
        Fault(
            "types/characters.py",
            "return upper if len(upper) == 1 else character",
            "return upper[0]",
            "a letter without an upper case of one character becomes the first of several",
        ),
    ),
    "numpy-arguments": (
        Fault(
            "numpy/reshaping.py",
            "place = start + rank if start < 0 else start",
            "place = start + rank + 1 if start < 0 else start",
            "a negative start of rollaxis counts from behind the last dimension",
        ),
        Fault(
            "numpy/rearranging.py",
            "sum(shifts), 0",
            "shifts[0], 0",
            "several shifts without an axis are not added",
        ),
        Fault(
            "numpy/reshaping.py",
            "for place, axis in sorted(zip(places, taken, strict=True)):",
            "for place, axis in zip(places, taken, strict=True):",
            "moved dimensions are put in the order in which they are named",
        ),
    ),
    "numpy-jitted": (
        Fault(
            "numpy/requirements.py",
            "op.Equal(sized(mine), np.int64(1)) | op.Equal(sized(mine), sized(wanted)),",
            "op.Equal(sized(mine), sized(wanted)),",
            "an open size of 1 is not broadcast",
        ),
        Fault(
            "numpy/requirements.py",
            "require(lambda: sized(value) >= least, error)",
            "require(lambda: sized(value) >= least - 1, error)",
            "one element too few is enough where sizes are open",
        ),
        Fault(
            "numpy/requirements.py",
            "require(lambda: op.Equal(sized(first), sized(second)), error)",
            "require(lambda: op.Equal(sized(first), sized(first)), error)",
            "open sizes that differ are taken for the same",
        ),
    ),
    "numpy-stores": (
        Fault(
            "numpy/conversions.py",
            "    _check_number(value, dtype)\n    return constant_of(value, dtype)",
            "    return constant_of(value, dtype)",
            "a number that does not fit is converted without a check",
        ),
        Fault(
            "numpy/fitting.py",
            "(given < np.float64(limits.max) + 1)",
            "(given <= np.float64(limits.max))",
            "a fraction above the greatest integer is refused, which numpy cuts off",
        ),
        Fault(
            "numpy/fitting.py",
            'if dtype.kind != "i" or',
            'if dtype.kind not in "iu" or',
            "a number that is outside of unsigned integers is refused, which numpy wraps around",
        ),
    ),
    "jit-reads": (
        Fault(
            "scripting/staging/snapshots.py",
            "return _List.__len__(now) != len(self._items) or not _are_same(self._items, _List.__iter__(now))",
            "return _List.__len__(now) != len(self._items)",
            "of a list only the length is compared",
        ),
        Fault(
            "scripting/staging/snapshots.py",
            "return bool(self._absent) and not space.keys().isdisjoint(self._absent)",
            "return False",
            "a name that is defined later is not noticed",
        ),
        Fault(
            "scripting/staging/snapshots.py",
            "            or function.__kwdefaults__ is not named\n",
            "",
            "defaults of parameters that go by name are not compared",
        ),
    ),
    "numbers": (
        Fault(
            "core/semantics/number.py",
            'return shown_text(f"<symbolic {self.kind} {self.name}>")',
            'return f"<symbolic {self.kind} {self.name}>"',
            "the text of a symbolic number flows back into the program",
        ),
        Fault(
            "core/semantics/number_methods.py",
            "op.GreaterOrEqual(size.as_dtype(DType.INT64), _POWERS)",
            "op.Greater(size.as_dtype(DType.INT64), _POWERS)",
            "a power of two has one bit too few",
        ),
        Fault(
            "core/semantics/number.py",
            'by its value, which is not known yet."""\n',
            'by its value, which is not known yet."""\n        return id(self)\n',
            "a symbolic number is a key of its own in sets and dicts",
        ),
    ),
    "optionals": (
        Fault(
            "scripting/staging/truth.py",
            "then_branch=of_element, else_branch",
            "then_branch=lambda: np.array(True), else_branch",
            "whatever is there counts as true",
        ),
        Fault(
            "scripting/staging/branches.py",
            "return value.element if is_there else None",
            "return value.element",
            "the element is taken where the branch says that there is none",
        ),
        Fault(
            "scripting/functions/calls.py",
            "if in_place is not None or is_part or _has_open_optional(script, types):",
            "if in_place is not None or is_part:",
            "a function for any types is given what may be absent",
        ),
    ),
    "numpy-views": (
        Fault(
            "numpy/reshaping.py",
            '    made.lock("it is broadcast, and its elements stand for several")\n',
            "",
            "what is broadcast can be written to",
        ),
        Fault(
            "numpy/reshaping.py",
            "is_plain, is_view = wanted.flags.c_contiguous, np.may_share_memory(wanted, layout)",
            "is_plain, is_view = wanted.flags.c_contiguous, True",
            "a reshaped array is a view, however its elements lie",
        ),
        Fault(
            "numpy/reshaping.py",
            "back = tuple(int(each) for each in np.argsort(order))",
            "back = order",
            "dimensions are put back in the order in which they were taken",
        ),
    ),
    "bombs": (
        Fault(
            "cli/view.py",
            "    refuse_endless_calls(model.proto if model.is_proto_only else model.ir)\n",
            "",
            "a page is made of functions that call each other without end",
        ),
        Fault(
            "graphs/tensor_sizes.py",
            "if min(dims, default=0) < 0:",
            "if min(dims, default=0) < -1:",
            "a size of -1 is taken for one that is left open",
        ),
        Fault(
            "graphs/omitted_outputs.py",
            '_VARIADIC = frozenset({"If", "Loop", "Scan", "SequenceMap", "Split"})',
            '_VARIADIC = frozenset({"If", "Loop", "Scan", "SequenceMap"})',
            "a part that a Split leaves out gets no name, and the kernel of ONNX Runtime ends the process",
        ),
    ),
    "mutated-files": (
        Fault(
            "cli/quick_description.py",
            "except (NotPlain, OnnxsmithError, ValueError, TypeError):",
            "except (NotPlain, OnnxsmithError):",
            "a file that is not plain ends the short description with an error of Python's",
        ),
        Fault(
            "graphs/files.py",
            "            check_tensor(tensor, called)\n",
            "",
            "sizes and contents of weights are not compared when a file is read",
        ),
        Fault(
            "graphs/tensor_sizes.py",
            "if held != wanted:",
            "if held > wanted:",
            "a weight with fewer bytes than its shape takes is accepted",
        ),
    ),
    "torch-sizes": (
        Fault(
            "torch/trying.py",
            "            if not all(each.is_close for each in rows):\n                return Outcome.DIFFERENT",
            "            if not all(each.is_close for each in rows):\n                return Outcome.EQUAL",
            "sizes for which the module decides otherwise are taken",
        ),
        Fault(
            "torch/open_numbers.py",
            'step: _Value = (end - start) / _SYM["sym_max"](count - 1, 1)',
            'step: _Value = (end - start) / _SYM["sym_max"](count, 1)',
            "the steps of linspace are those of one number more",
        ),
        Fault(
            "torch/open_numbers.py",
            "(size + sections - 1 - k) // sections",
            "(size + k) // sections",
            "the larger pieces of a split come last",
        ),
    ),
    "value-number": (
        Fault(
            "graphs/identity.py",
            "or is_random(node) or not node.outputs:",
            "or not node.outputs:",
            "random nodes are shared",
        ),
        Fault(
            "graphs/identity.py",
            "said = _stored_float(value)",
            "said = value",
            "0.0 and -0.0 are the same",
        ),
        Fault(
            "graphs/identity.py",
            "tuple([bool(each.name) for each in node.outputs])",
            "len(node.outputs)",
            "an output that is left out is taken for one that is given",
        ),
    ),
}
