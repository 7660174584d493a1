"""Names and texts that a model may have and a Python program may not: what decompiled code must still carry."""

from __future__ import annotations

from hypothesis import strategies as st

#: Names that collide once they are made identifiers.
COLLIDING = (
    "a.b",
    "a_b",
    "a/b",
    "a b",
    "a::b",
    "a_b_1",
    "_a_b",
    "a-b",
    "A_b",
    "1a",
    "_1a",
    "é",
    "e\u0301",
    "ﬁ",
    "fi",
)

#: Names that mean something in Python, in numpy code, or in a module that onnxsmith writes.
TAKEN = (
    *(
        "class",
        "lambda",
        "None",
        "True",
        "for",
        "match",
        "print",
        "len",
        "range",
        "int",
        "self",
        "type",
        "__import__",
    ),
    *(
        "op",
        "np",
        "numpy",
        "onnxsmith",
        "script",
        "graph",
        "model",
        "trace",
        "FLOAT",
        "Opset",
        "tensor",
        "main",
    ),
    *(
        "_",
        "__",
        "__name__",
        "__doc__",
        "__builtins__",
        "exec",
        "eval",
        "open",
        "weights",
        "functions",
        "ir",
        "opset",
    ),
)

#: Names with what no identifier may have.
PUNCTUATED = (
    *(
        "'",
        '"',
        "'''",
        '"""',
        "\\",
        "\\n",
        "\n",
        "\r",
        "\t",
        "\0",
        "x\ny",
        "{x}",
        "{{",
        "%s",
        "#",
        "x # y",
        "$1",
    ),
    *(
        "0",
        "1.5",
        "-1",
        " ",
        " x",
        "x ",
        ".",
        "/",
        "::",
        "x:0",
        "^x",
        "/encoder/layer.0/Add_output_0",
        "ü",
        "名前",
    ),
    *(
        "\u2028",
        "\u2029",
        "\x85",
        "\x0c",
        "\ufeff",
        "\u202e",
        "\u200b",
        "\U0001f600",
        "ª",
        "𝐱",
        "x\u0301",
        "ـ",
    ),
    *(
        '"""\nimport os\n"""',
        "x = 1; y",
        "x\\",
        '\\"',
        "\\'",
        "\\N{DASH}",
        "\\x41",
        "\\u0041",
        "r'",
        'f"{x}"',
    ),
)

ODD = (*COLLIDING, *TAKEN, *PUNCTUATED)
PLAIN = ("x", "y", "z", "w", "bias", "hidden", "x_1", "x1", "x10", "scores", "Add_0", "relu", "value")

#: Text without surrogates, which protobuf refuses.
texts = st.text(st.characters(codec="utf-8"), max_size=8)
names = st.one_of(st.sampled_from(PLAIN), st.sampled_from(ODD), texts.filter(bool))
maybe_texts = st.one_of(st.just(""), st.just(""), st.sampled_from(ODD), texts)
