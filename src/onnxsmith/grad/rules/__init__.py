"""The rules: for each operator a function that gives the cotangents of its inputs. A file for each family.

To add one, write a function in the file of its family (or in a new one), and run `dev.py indexes`:

    @rule("Sin")
    def sine(step: Step, g: Tensor) -> Cotangents:
        return (g * op.Cos(step.input()),)

- `g` is the cotangent of the output: the derivative of the loss by it, of the same shape and element type. An operator
  with several outputs gets one for each, None where the loss does not depend on it.
- It returns a cotangent for each input, in order; None is zero, and what is left out at the end is None. One that
  costs nodes may be a function without arguments: `lambda: g * op.Cos(x)` is called only if it is asked for.
- `step` is the call: `step.input(k)`, `step.output(k)`, `step.integer("axis")`, `step.content(k)` for what an input is
  known to hold. Attributes that are left out have their defaults.
- It calls `op`, whatever the opset is from 18 on, and Python's operators. Sizes may be open: `shape_tensor(x)`.
- `rule(..., broadcasts=True)`: cotangents may be as large as the output, and are summed to fit.
- `rule(..., masks=True)`: what comes out has zeros where nothing depends on an element. Behind it, rules whose
  derivatives may be infinite multiply with `scaled`.
- `rule(..., outputs=2)`: the rule needs the second output, a mask or indices, also where the model does not ask for it.
- `rule(..., only=is_plain)`: the rule is for some calls, and others go through the definition that ONNX has.
- An operator whose function ONNX defines needs no rule: it is differentiated through the definition. For others
  `through.defined` takes a function that says what they compute.
- `rule("erf", domain=ALGORITHMS)` is for a function of `onnxsmith.algorithms` by its name, in real numbers, where the
  body iterates, approximates or has branches; others are differentiated through their body.
- Whatever rules call should have a rule itself: `jvp` and second derivatives go through them again.
"""
